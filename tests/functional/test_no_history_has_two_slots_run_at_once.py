"""Random histories of slots, workers that go on call by call, deaths and minutes that pass: one handler at a time."""

from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.batons import Worker, batons, pass_on
from tests.support.handlers import SCRIPT
from tests.support.jobs import message
from tests.support.lab import Lab
from tests.support.schedules import put, row, slots_of
from tests.support.worlds import Holds, Runner

from onthedot import wiring
from onthedot.rules.jobs import Job
from onthedot.steps.work import work

NAMES = map("s{}".format, count())
STEPS = st.lists(st.tuples(st.sampled_from(["begin", "step", "step", "step", "die"]), st.integers(0, 3)), max_size=40)
IN_MIDST = [("begin", 0), ("step", 0), ("step", 0), ("begin", 1), ("step", 1), ("step", 1)]


@dataclass(slots=True)
class Story:
    """A schedule whose slots are due, and the workers that have got their messages."""

    lab: Lab
    name: str
    workers: list[Worker] = field(default_factory=list)
    inside: int = 0

    def handle(self) -> None:
        """Be the handler: at most one is inside."""
        self.inside += 1
        assert self.inside == 1, "two slots run at once"
        try:
            pass_on()
        finally:
            self.inside -= 1

    def tell(self, what: str, which: int) -> None:
        """Let one thing happen."""
        alive = [worker for worker in self.workers if not worker.done]
        if what == "begin":
            pending = [job for job in self.jobs() if job.pending]
            if pending:
                self.workers.append(_worker(pending[which % len(pending)]))
        elif alive and what == "die":
            alive[which % len(alive)].dies_at = alive[which % len(alive)].calls
            _finish(alive[which % len(alive)])
        elif alive:
            alive[which % len(alive)].step()

    def end(self) -> None:
        """Let all workers come to their end, in turn."""
        while alive := [worker for worker in self.workers if not worker.done]:
            for worker in alive:
                worker.step()

    def jobs(self) -> list[Job]:
        """Return the jobs of the three slots that are due."""
        return list(slots_of(self.name).values())[:3]


def _worker(job: Job) -> Worker:
    return Worker(lambda: work(wiring.world(), message(job), Runner(5), Holds()))


def _finish(worker: Worker) -> None:
    while not worker.done:
        worker.step()


@pytest.mark.parametrize("overlap", ["skip", "wait"])
def test_one_at_a_time_and_all_come_to_an_end(lab: Lab, overlap: str) -> None:
    @settings(max_examples=4, deadline=None, suppress_health_check=list(HealthCheck))
    @given(before=STEPS, after=STEPS)
    def plays(before: list[tuple[str, int]], after: list[tuple[str, int]]) -> None:
        story = Story(lab, next(NAMES))
        SCRIPT.meanwhile = story.handle
        three_due(lab, story.name, overlap)
        for happenings in ((*IN_MIDST, *before), after):
            with batons():
                for happens in happenings:
                    story.tell(*happens)
                story.end()
            lab.time.shift(80)
        assert not [worker.error for worker in story.workers if worker.error]
        lab.advance(minutes=12)
        assert not [job.id for job in story.jobs() if job.pending]
        assert not [job.error for job in story.jobs() if job.error], "no handler has met another"
        assert (row(story.name).busy, row(story.name).waiting) == (None, None)

    plays()


def three_due(lab: Lab, name: str, overlap: str) -> None:
    lab.purge()
    lab.time.move_to(lab.now().replace(minute=lab.now().minute // 5 * 5, second=1) + timedelta(minutes=5))
    put(name, overlap=overlap, handler="test.meanwhile", cron="*/5 * * * *", ends_at=_end(lab))
    lab.time.shift(600)
    lab.tick()
    lab.purge()
    lab.time.shift(300)


def _end(lab: Lab) -> str:
    return (lab.now() + timedelta(minutes=16)).strftime("%Y-%m-%dT%H:%M:%SZ")
