"""Of slots that passed, those run that the schedule's owner wants to run, at a pace; the others are skipped and why."""

import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.proving import OFTEN
from tests.support.timetables import MINUTE, cron, instant

from onthedot.rules.missed import Judged, Missed, MissedRule, Planned, judge, pace_end, planned
from onthedot.rules.slots import Timetable, slots
from onthedot.rules.spread import run_at

CASES = yaml.safe_load((Path(__file__).parents[2] / "cases" / "missed.yaml").read_text("utf-8"))
SECOND = timedelta(seconds=1)
START = instant("2027-03-27")
OFTEN_TRIED = settings(max_examples=100 * OFTEN, deadline=None)


def _passed(timetable: Timetable, after: datetime, now: datetime) -> list[Planned]:
    return [each for each in planned(timetable, after, now) if each.run_at <= now]


def _rule(missed: str = "catch_up", grace: int = 60, window: int = 604_800, **facts: Any) -> MissedRule:
    return MissedRule(missed=Missed(missed), grace=grace * SECOND, window=window * SECOND, **facts)


def _skipped(judged: Judged) -> list[tuple[datetime, datetime, int, str]]:
    return [(each.first, each.last, each.count, each.reason) for each in judged.skipped]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_case(case: dict[str, Any]) -> None:
    after, now = instant(case["planned"]), instant(case["now"])
    judged = judge(_rule(**case["rule"]), iter(_passed(cron(case["cron"]), after, now)), now)
    ran = [run.slot.instant for run in judged.runs]
    if "runs" in case:
        first, last, count = case["runs"]
        assert (ran[0], ran[-1], len(ran)) == (instant(first), instant(last), count)
    else:
        assert ran == []
    assert _skipped(judged) == [(instant(first), instant(last), *rest) for first, last, *rest in case["skipped"]]


def test_x05_what_is_late_by_125_seconds_runs_now() -> None:
    now = instant("2027-01-04T04:02:05")
    [run] = judge(_rule("latest"), _passed(cron("0 4 * * *"), instant("2027-01-04T03:59:10"), now), now).runs
    assert (run.run_at, run.run_at - run.slot.instant) == (now, 125 * SECOND)


@pytest.mark.parametrize(("rate", "step"), [(60, 1000), (1, 60_000), (7, 8571), (6000, 10)])
def test_catching_up_keeps_its_pace(rate: int, step: int) -> None:
    """A step is cut to whole milliseconds."""
    rule, now = _rule(rate=rate), START + timedelta(minutes=5)
    judged = judge(rule, _passed(cron("* * * * *"), START, now), now)
    assert [run.run_at for run in judged.runs] == [now + timedelta(milliseconds=step * number) for number in range(5)]
    assert pace_end(rule, judged.runs[:2]) == now + timedelta(milliseconds=2 * step)


def test_catching_up_waits_for_what_is_being_caught_up() -> None:
    now = START + 2 * MINUTE
    passed = _passed(cron("* * * * *"), START, now)
    busy = judge(_rule(), passed, now, paced_until=now + MINUTE)
    assert [run.run_at for run in busy.runs] == [now + MINUTE, now + MINUTE + SECOND]
    free = judge(_rule(), passed, now, paced_until=now - MINUTE)
    assert free.runs[0].run_at == now


@pytest.mark.parametrize("missed", ["latest", "skip"])
def test_only_catching_up_has_a_pace(missed: str) -> None:
    rule, now = _rule(missed, grace=120), START + 9 * MINUTE
    judged = judge(rule, _passed(cron("* * * * *"), START, now), now, paced_until=now + MINUTE)
    assert {run.run_at for run in judged.runs} == {now}
    assert pace_end(rule, judged.runs) is None


def test_without_runs_there_is_no_pace() -> None:
    assert pace_end(_rule(), []) is None


@pytest.mark.parametrize("spread", [0, 600, 3 * 86_400])
@pytest.mark.parametrize("text", ["0 */6 * * *", "0,1 2 * * SUN", "30 2 28 3 *"])
def test_a_slot_is_planned_for_when_its_spread_says(text: str, spread: int) -> None:
    """Also the last of a window, whose spread depends on a slot beyond."""
    timetable = cron(text, "Europe/Berlin", spread=spread * SECOND, name="report", ends_at=START + 90 * 1440 * MINUTE)
    found = list(planned(timetable, START, START + 30 * 1440 * MINUTE))
    assert [each.slot for each in found] == list(slots(timetable, START, START + 30 * 1440 * MINUTE))
    assert [each.run_at for each in found] == [run_at(timetable, each.slot.instant) for each in found]


def test_slots_are_planned_one_at_a_time() -> None:
    endless = planned(cron("* * * * *", spread=SECOND, name="a"), START, instant("2290-01-01"))
    assert next(endless).slot.instant == START + MINUTE


TIMETABLES = st.builds(
    lambda text, spread: cron(text, "Europe/Berlin", spread=spread * SECOND, name="report"),
    st.sampled_from(["* * * * *", "*/7 * * * *", "5 * * * *", "0,1,2 2,3 * * *"]),
    st.sampled_from([0, 30, 4000]),
)
MINUTES = st.integers(0, 3000)
SECONDS = st.integers(0, 20_000)
RULE = st.builds(
    _rule,
    missed=st.sampled_from(list(Missed)),
    grace=SECONDS,
    window=SECONDS,
    limit=st.integers(1, 80),
    rate=st.integers(1, 6000),
)


@OFTEN_TRIED
@given(TIMETABLES, RULE, MINUTES)
def test_every_slot_that_passed_has_one_verdict(timetable: Timetable, rule: MissedRule, minutes: int) -> None:
    now = START + minutes * MINUTE
    passed = _passed(timetable, START, now)
    judged = judge(rule, iter(passed), now)
    instants = [each.slot.instant for each in passed]
    covered: list[datetime] = []
    for each in judged.skipped:
        covered += (inside := [at for at in instants if each.first <= at <= each.last])
        assert (inside[0], inside[-1], len(inside)) == (each.first, each.last, each.count)
    assert covered + [run.slot.instant for run in judged.runs] == instants
    assert all(left.reason != right.reason for left, right in pairwise(judged.skipped))


@OFTEN_TRIED
@given(TIMETABLES, RULE, MINUTES, st.integers(-600, 600))
def test_runs_keep_their_order_and_their_pace(timetable: Timetable, rule: MissedRule, minutes: int, ahead: int) -> None:
    now = START + minutes * MINUTE
    passed = {each.slot: each.run_at for each in _passed(timetable, START, now)}
    judged = judge(rule, _passed(timetable, START, now), now, paced_until=now + ahead * SECOND)
    assert all(run.run_at >= max(now, passed[run.slot]) for run in judged.runs)
    step = rule.step if rule.missed is Missed.CATCH_UP else timedelta(0)
    assert all(right.run_at - left.run_at == step for left, right in pairwise(judged.runs))


@OFTEN_TRIED
@given(TIMETABLES, RULE, MINUTES, st.lists(MINUTES, max_size=4))
def test_where_a_walk_is_cut_changes_nothing(
    timetable: Timetable, rule: MissedRule, minutes: int, cuts: list[int]
) -> None:
    now = START + minutes * MINUTE
    ends = [START, *(START + cut * MINUTE for cut in sorted(cuts) if cut <= minutes), now]
    pieces = chain.from_iterable(planned(timetable, *piece) for piece in pairwise(ends))
    whole = _passed(timetable, START, now)
    assert judge(rule, (each for each in pieces if each.run_at <= now), now) == judge(rule, whole, now)


@OFTEN_TRIED
@given(TIMETABLES, RULE, MINUTES, st.lists(st.tuples(st.integers(1, 60), st.integers(0, 30)), max_size=6))
def test_who_is_interrupted_goes_on_where_it_was(
    timetable: Timetable, rule: MissedRule, minutes: int, stops: list[tuple[int, int]]
) -> None:
    """A planner that dies has stored some runs, and with them how far it came and its pace."""
    now = START + minutes * MINUTE
    after, paced_until, ran = START, None, list[Planned]()
    most = max(rule.limit, sum(rule.is_late(each, now) for each in _passed(timetable, START, now)))
    for stored, pause in [*stops, (10_000, 0)]:
        judged = judge(rule, _passed(timetable, after, now), now, paced_until)
        runs = judged.runs[:stored]
        after = max([after, *(each.last for each in judged.skipped), *(run.slot.instant for run in runs)])
        paced_until, ran = pace_end(rule, runs) or paced_until, ran + runs
        most -= len(_passed(timetable, START, now))
        now += pause * MINUTE
        most += len(_passed(timetable, START, now))
    assert all(left.slot.instant < right.slot.instant for left, right in pairwise(ran))
    assert len(ran) <= most
    if rule.missed is Missed.CATCH_UP:
        assert all(right.run_at - left.run_at >= rule.step for left, right in pairwise(ran))


def test_a_year_of_minutes_is_judged_in_seconds_and_little_memory() -> None:
    """A count of what was missed must never be what keeps a schedule from going on (X03)."""
    held, most = 0, 0

    def watched() -> Iterator[Planned]:
        nonlocal held, most
        for each in planned(cron("* * * * *"), START, now):
            held += 1
            most = max(most, held)
            yield _Watched(each.slot, each.run_at)

    class _Watched(Planned):
        __slots__ = ()

        def __del__(self) -> None:
            nonlocal held
            held -= 1

    now = START + 600_000 * MINUTE
    started = time.process_time()
    judged = judge(_rule(limit=50), watched(), now)
    assert time.process_time() - started < 30
    assert ([each.count for each in judged.skipped], len(judged.runs)) == ([589_919, 10_031], 50)
    assert most < 60
