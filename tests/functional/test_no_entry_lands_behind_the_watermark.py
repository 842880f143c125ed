"""Every entry is in the index before a watermark passes it: whatever the timer, the writer and the index are up to.

The real drain and the real put, on an agenda in memory whose index lags.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support import schedules
from tests.support.handlers import ran
from tests.support.jobs import create, job, new
from tests.support.lab import Lab
from tests.support.worlds import Interrupted, client_of, skewed, with_client

from onthedot import wiring
from onthedot.messages import ShardMessage
from onthedot.rules.agenda import Entry, resume_after, wake_at
from onthedot.rules.instants import from_text, to_text
from onthedot.rules.timing import INDEX_LAG, WRITE, Timing
from onthedot.steps import drain
from onthedot.steps.dispatch import dispatch
from onthedot.steps.manage import create_all
from onthedot.steps.ports import Index, Refusal, Shard, World

NOON = datetime(2027, 1, 4, 12, tzinfo=UTC)
TIMING = Timing()
SECOND = timedelta(seconds=1)


@dataclass(slots=True)
class Agenda:
    """A shard's agenda in memory; an entry is in the index from `visible_at` on. All ports are it."""

    time: datetime = NOON
    visible_at: dict[str, datetime] = field(default_factory=dict)
    watermark: str = ""
    seen_at: dict[str, datetime] = field(default_factory=dict)

    def now(self) -> datetime:
        """Return the dispatcher's time."""
        return self.time

    def page(self, _index: Index, _shard: str, after: str, until: str, limit: int) -> list[str]:
        """Return what the index has by now."""
        return sorted(text for text, at in self.visible_at.items() if at <= self.time and after < text <= until)[:limit]

    def send(self, entries: Sequence[Entry], _due_at: Callable[[Entry], datetime]) -> list[Refusal]:
        """Note when an entry was first seen."""
        for entry in entries:
            self.seen_at.setdefault(str(entry), self.time)
        return []

    def move(self, _shard: Shard, watermark: str) -> bool:
        """Move the watermark."""
        self.watermark = watermark
        return True

    def shard(self, *_: Any) -> None:
        """Be told of a drain."""

    def drain(self, at: datetime) -> None:
        """Drain, as a dispatcher does at this time by its clock."""
        self.time = at
        world = World(**dict.fromkeys(World.__dataclass_fields__, cast(Any, self)) | {"timing": TIMING})
        drain.drain(world, Shard("0", "mine", self.watermark, None), lambda: True)


def seconds(low: float, high: float) -> st.SearchStrategy[timedelta]:
    return st.floats(low, high).map(lambda span: timedelta(milliseconds=round(span * 1000)))


@st.composite
def timers(draw: st.DrawFn) -> list[datetime]:
    """Return when dispatchers query: a timer anywhere in its minute, hops, one tick lost, some doubled."""
    lost = draw(st.integers(1, 28))
    looks = [NOON - timedelta(minutes=1)]
    for minute in range(30):
        fired = NOON + timedelta(minutes=minute) + draw(seconds(0, 59))
        copies = 0 if minute == lost else draw(st.sampled_from([1, 1, 1, 2]))
        looks += [fired + draw(seconds(0, 20)) for _ in range(copies)]
    return sorted(looks)


writes = st.tuples(
    seconds(0, 900),  # when the writer reads its clock
    seconds(-60, 1_500),  # how far away the job is then
    seconds(-TIMING.max_skew.total_seconds(), TIMING.max_skew.total_seconds()),  # how much its clock is ahead
    seconds(0, WRITE.total_seconds()),  # how long its write takes
    seconds(0, INDEX_LAG.total_seconds()),  # how long the index takes
)


@settings(max_examples=60, deadline=None)
@given(timers(), st.lists(writes, min_size=1, max_size=12))
def test_no_entry_is_seen_later_than_its_wake(looks: list[datetime], written: list[Any]) -> None:
    """A timer fires anywhere in its minute, one tick is lost, some come twice; writers and the index are slow."""
    agenda, entries = Agenda(), []
    for number, (at, away, ahead, slow, lag) in enumerate(written):
        now = NOON + at + ahead
        run_at = now + away
        entry = Entry(wake_at(run_at, now, TIMING), f"job#{number}", "-")
        agenda.visible_at[str(entry)] = NOON + at + slow + lag
        entries.append(entry)
    for look in looks:
        agenda.drain(look)
    for entry in entries:
        if entry.wake <= looks[-1]:
            assert str(entry) in agenda.seen_at, f"{entry} was passed by the watermark"
            assert agenda.seen_at[str(entry)] <= entry.wake


@settings(max_examples=20, deadline=None)
@given(timers())
def test_every_look_reads_on_where_the_last_one_stopped(looks: list[datetime]) -> None:
    """A tick more or less changes nothing of what is handed over, only when."""
    agenda = Agenda()
    entries = [Entry(NOON + timedelta(seconds=7 * n), f"job#{n}", "-") for n in range(200)]
    agenda.visible_at = {str(entry): NOON - timedelta(hours=1) for entry in entries}
    for look in looks:
        agenda.drain(look)
    due = [str(entry) for entry in entries if entry.wake < looks[-1] + TIMING.look_ahead]
    assert sorted(agenda.seen_at) == due


def test_a_herd_of_one_instant_is_read_to_its_end() -> None:
    """More jobs at one wake than a page holds, as on Monday at nine: a cursor by time alone would split the tie."""
    agenda = Agenda()
    herd = [str(Entry(NOON + SECOND, f"job#{n}", "-")) for n in range(2 * drain.PAGE + 3)]
    agenda.visible_at = dict.fromkeys(herd, NOON - timedelta(hours=1))
    agenda.drain(NOON)
    assert sorted(agenda.seen_at) == sorted(herd)


def test_settings_that_would_let_an_entry_land_behind_the_watermark_are_refused() -> None:
    """The two inequalities on which all of this rests."""
    with pytest.raises(ValueError, match="recheck"):
        Timing(recheck=timedelta(seconds=283))
    with pytest.raises(ValueError, match="look_ahead"):
        Timing(look_ahead=timedelta(seconds=199))


def test_a_watermark_from_the_future_hides_nothing(lab: Lab) -> None:
    """T20: a clock was set forward by eight hours and back, and nothing was handed over until that future came."""
    world, fast = wiring.world(), skewed(8 * 3_600)
    create("j1", 1_000)
    for shard in ("0", "1"):
        dispatch(fast, ShardMessage(shard, fast.clock.now()), lambda: True)
    lab.purge()
    assert min(row.watermark or "" for row in world.shards.all()) > to_text(lab.now() + timedelta(hours=8))
    assert resume_after(to_text(lab.now() + timedelta(hours=8)), lab.now(), TIMING) < to_text(lab.now())
    lab.advance(seconds=1_003)
    assert ran() == ["j1"]


def test_the_clock_is_read_again_for_every_write(lab: Lab) -> None:
    """B6: read once for a request that worked for minutes, the clock put half of its entries behind the watermark."""
    world = wiring.world()
    slow = Interrupted(client_of(world, "jobs"), "put_item", [lambda: lab.time.shift(9)] * 3)
    one_by_one = replace(
        with_client(world, "jobs", slow), side_by_side=lambda function, items: [function(item) for item in items]
    )
    begun = lab.now()
    jobs = [new("a"), new("b"), new("c"), new("d")]
    results = create_all(one_by_one, jobs)
    assert [job(name).wake for name in "abc"] == [begun + after * SECOND + TIMING.recheck for after in (0, 9, 18)]
    assert "no time left" in str(results[3]), "and a request gives up before its entries land too late"


def test_a_started_job_that_the_index_still_shows_is_not_run_again(lab: Lab) -> None:
    """R09: the index lags, and shows what is running or over. It names candidates; the job decides."""
    made = create("j1", 60)
    lab.advance(seconds=61)
    world = wiring.world()
    world.queue.send([Entry.parse(str(made.entry))], lambda _: lab.now())
    lab.advance(seconds=5)
    assert ran() == ["j1"]
    assert lab.messages() == []
    world.queue.send([Entry(lab.now(), "job#gone", "-")], lambda _: lab.now())
    lab.advance(seconds=5)
    assert lab.messages() == []


def test_a_new_job_that_the_index_does_not_show_yet_is_found_by_the_next_look() -> None:
    """R09: created with its message lost, and missing in the index for a minute: no watermark passes it meanwhile."""
    agenda = Agenda()
    entry = Entry(wake_at(NOON, NOON, TIMING), "job#new", "-")
    agenda.visible_at[str(entry)] = NOON + INDEX_LAG
    for minute in range(5):
        agenda.drain(NOON + timedelta(minutes=minute, seconds=1))
    assert agenda.seen_at[str(entry)] == NOON + timedelta(minutes=2, seconds=1)


def test_a_slot_that_is_planned_near_is_watched_over_behind_its_time(lab: Lab) -> None:
    """Its writer hands it over; an entry at its own time would lie where a watermark has been already."""
    schedules.put("s", cron="* * * * *")
    entries = [Entry.parse(item["agenda"]["S"]) for item in lab.items() if "agenda" in item]
    assert len(entries) == 10
    recheck = wiring.world().timing.recheck
    assert {entry.wake - from_text(entry.slot) for entry in entries} == {recheck}
