"""On the dot: while workers are free a job starts within two seconds of its time, however far away that is."""

import time
from datetime import UTC, datetime, timedelta
from random import Random

import pytest
from tests.support.handlers import RAN, ran
from tests.support.jobs import create, job, new, wake_at
from tests.support.lab import Lab
from tests.support.worlds import Skewed, with_clock

from onthedot.rules.agenda import delay_seconds
from onthedot.rules.jobs import State
from onthedot.steps.manage import create_all

NEW_YEAR = datetime(2027, 1, 1, tzinfo=UTC)
DUE = {
    0: "2027-01-01T00:00:00.000",
    899.6: "2027-01-01T00:14:59.600",
    900: "2027-01-01T00:15:00.000",
    901: "2027-01-01T00:15:01.000",
    3600: "2027-01-01T01:00:00.000",
    2_147_483.648: "2027-01-25T20:31:23.648",
    2_592_000: "2027-01-31T00:00:00.000",
}
SECOND = timedelta(seconds=1)


def on_time(start: datetime, run_at: datetime) -> bool:
    return run_at <= start <= run_at + 2 * SECOND


def test_every_delay_runs_at_its_time_and_not_where_sqs_gives_up_counting(lab: Lab) -> None:
    """A delay of 901 s was refused by SQS or cut to 900 and ran early; one of 2^31 ms fired at once."""
    lab.time.move_to(NEW_YEAR)
    lab.next_tick = NEW_YEAR + timedelta(minutes=1)
    jobs = {delay: create(f"in-{delay}", delay) for delay in DUE}
    assert {delay: made.run_at for delay, made in jobs.items()} == {
        delay: datetime.fromisoformat(f"{at}+00:00") for delay, at in DUE.items()
    }
    lab.advance(days=30, seconds=3)
    assert ran() == [made.id for made in jobs.values()]
    assert all(on_time(call.at, made.run_at) for call, made in zip(RAN, jobs.values(), strict=True)), RAN


def test_every_message_says_a_whole_delay_that_sqs_takes(lab: Lab) -> None:
    """A backoff of 54,524 s was put into DelaySeconds; SQS refused it, the mock did not, and the tests were green."""
    for delay in DUE:
        create(f"in-{delay}", delay)
    lab.advance(hours=2)
    delays = [
        entry["DelaySeconds"]
        for call in lab.called("SendMessageBatch")
        if call["QueueUrl"] == lab.urls["JobQueue"]
        for entry in call["Entries"]
    ]
    assert len(delays) == 5
    assert all(type(delay) is int and 0 <= delay <= 900 for delay in delays), delays


@pytest.mark.parametrize(
    ("milliseconds", "seconds"),
    [(-5_000, 0), (0, 0), (1, 1), (999, 1), (1_000, 1), (1_001, 2), (899_600, 900), (900_001, 900), (10**9, 900)],
)
def test_a_delay_is_rounded_up_and_never_beyond_what_sqs_takes(milliseconds: int, seconds: int) -> None:
    """Rounded down, a job due in 899.6 s was started at 899 s."""
    assert delay_seconds(NEW_YEAR + timedelta(milliseconds=milliseconds), NEW_YEAR) == seconds


def test_a_job_due_in_thirty_days_takes_no_time_to_test(lab: Lab) -> None:
    """A wait that only real time can show is a wait that nobody tests."""
    far = create("far", 2_592_000)
    begun = time.process_time()
    lab.advance(days=30, seconds=2)
    assert time.process_time() - begun < 5
    assert on_time(RAN[0].at, far.run_at)
    assert job("far").state is State.SUCCEEDED


def test_jobs_of_any_delay_start_within_two_seconds(lab: Lab) -> None:
    """The minute tick must never show: what it hands over arrives at its second, whichever path it came by."""
    random = Random(1)
    jobs = {made.id: made for made in (create(f"j{n}", random.uniform(0, 1_500)) for n in range(30))}
    lab.advance(seconds=1_502)
    assert sorted(ran()) == sorted(jobs)
    late = [(call.at - jobs[call.id].run_at).total_seconds() for call in RAN]
    assert 0 <= min(late) <= max(late) <= 2


class Backwards(Skewed):
    """A clock that is set back a little whenever it is read."""

    def now(self) -> datetime:
        """Return the time, a hundredth of a second before the last one."""
        self.ahead -= timedelta(milliseconds=10)
        return super().now()


def test_a_job_at_the_edge_of_what_sqs_holds_is_sent_by_the_one_who_wrote_it(lab: Lab) -> None:
    """Judged again with a clock that was set back, it was far: written as handed over, not sent, and minutes late."""
    create_all(with_clock(Backwards()), [new("j1", 899.965)])
    assert wake_at(job("j1")) > job("j1").run_at, "it was written as one that is handed over at once"
    assert len(lab.messages()) == 1
    lab.advance(seconds=903)
    assert ran() == ["j1"]
    assert on_time(RAN[0].at, job("j1").run_at)
