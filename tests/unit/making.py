"""Makes jobs and schedules, by hand and by chance."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

from onthedot.rules.agenda import Entry
from onthedot.rules.instants import MILLISECOND, to_text
from onthedot.rules.jobs import ONE_SLOT, Job, Payload, Retry, State
from onthedot.rules.past import Past
from onthedot.rules.schedules import OnResume, Pause, Schedule, ScheduleState

FIRST = datetime(1, 1, 1, tzinfo=UTC)
NOW = datetime(2027, 3, 28, 1, 0, tzinfo=UTC)
SECOND = timedelta(seconds=1)


def a_job(**facts: Any) -> Job:
    """Return a job that waits for its time, but for what is said."""
    plain = Job(
        schedule="job#a",
        slot=ONE_SLOT,
        state=State.SCHEDULED,
        handler="example.echo",
        run_at=NOW,
        wake=NOW,
        payload=Payload(4, text="null"),
        request="0" * 32,
        created_at=NOW - timedelta(minutes=1),
    )
    return replace(plain, **facts)


def running(**facts: Any) -> Job:
    """Return a job that an attempt owns."""
    return (
        a_job(state=State.RUNNING, attempt=1, owner="other", started_at=NOW, lease_until=NOW + timedelta(minutes=1))
        if not facts
        else replace(running(), **facts)
    )


def instants() -> st.SearchStrategy[datetime]:
    """Return instants as the package has them."""
    return st.integers(0, 9989 * 365 * 86_400_000).map(lambda count: FIRST + count * MILLISECOND)


def spans() -> st.SearchStrategy[timedelta]:
    """Return spans in whole milliseconds."""
    return st.integers(1, 10**10).map(lambda count: count * MILLISECOND)


def names() -> st.SearchStrategy[str]:
    """Return names that people may give."""
    return st.text("aZ09._-", max_size=20).map("n{}".format)


def keys() -> st.SearchStrategy[tuple[str, str]]:
    """Return the keys of one-off jobs, of slots, and of jobs that were started by hand."""
    schedules = names().map("schedule#{}".format)
    return st.one_of(
        st.tuples(names().map("job#{}".format), st.just(ONE_SLOT)),
        st.tuples(schedules, instants().map(to_text)),
        st.tuples(schedules, names().map("manual#{}".format)),
    )


def entries() -> st.SearchStrategy[Entry]:
    """Return places on the agenda."""
    return st.builds(lambda wake, key: Entry(wake, *key), instants(), keys())


def texts(longest: int = 60) -> st.SearchStrategy[str]:
    """Return texts that UTF-8 can write."""
    return st.text('a"\\#é€😀\x00', min_size=1, max_size=longest)


def retries() -> st.SearchStrategy[Retry]:
    """Return what jobs say of their retries."""
    seconds = st.none() | st.floats(0.001, 1e6)
    return st.builds(Retry, st.none() | st.integers(1, 50), seconds, seconds, seconds)


def pasts() -> st.SearchStrategy[Past]:
    """Return attempts that failed."""
    return st.builds(Past, st.integers(1, 50), instants(), st.none() | instants(), texts())


def payloads() -> st.SearchStrategy[Payload]:
    """Return payloads, inside and in items of their own."""
    inside = texts().map(lambda text: Payload(len(text.encode()), text=text))
    apart = st.builds(lambda size, at: Payload(size, stored_as="payload#x", kept_until=at), st.integers(1), instants())
    return inside | apart


@st.composite
def jobs(draw: st.DrawFn) -> Job:
    """Return jobs in every state, with everything that they may have."""
    schedule, slot = draw(keys())
    maybe_instants, maybe_texts = st.none() | instants(), st.none() | texts()
    return Job(
        schedule=schedule,
        slot=slot,
        state=draw(st.sampled_from(State)),
        handler=draw(names()),
        run_at=draw(instants()),
        wake=draw(maybe_instants),
        payload=draw(payloads()),
        request=draw(st.none() | names()),
        created_at=draw(instants()),
        generation=draw(st.none() | names()),
        version=draw(st.none() | st.integers(1)),
        local_slot=draw(st.none() | names()),
        fold=draw(st.sampled_from([None, 0, 1])),
        meant=draw(st.none() | names()),
        overlap=draw(st.sampled_from([None, "skip", "wait"])),
        pinned=draw(st.sampled_from([None, True])),
        group=draw(st.none() | names()),
        timeout=draw(st.none() | spans()),
        retry=draw(st.none() | retries()),
        start_within=draw(st.none() | spans()),
        start_before=draw(maybe_instants),
        revived_at=draw(maybe_instants),
        attempt=draw(st.integers(0, 50)),
        past=tuple(draw(st.lists(pasts(), max_size=3))),
        stop=draw(st.sampled_from([None, True])),
        owner=draw(st.none() | names()),
        lease_until=draw(maybe_instants),
        started_at=draw(maybe_instants),
        finished_at=draw(maybe_instants),
        result=draw(maybe_texts),
        error=draw(maybe_texts),
        reason=draw(maybe_texts),
        expires_at=draw(maybe_instants),
    )


def a_schedule(**facts: Any) -> Schedule:
    """Return a schedule that is new, but for what is said."""
    plain = Schedule(
        name="nightly",
        generation="9f" * 12,
        version=1,
        state=ScheduleState.ACTIVE,
        fields={"handler": "example.echo", "cron": "0 9 * * *"},
        payload=Payload(4, text="null"),
        payload_hash="74234e98afe7498fb5daf1f36ac2d78a",
        since=NOW,
        planned_until=NOW,
        created_at=NOW,
        changed_at=NOW,
        changed_by="arn:aws:iam::123456789012:user/alice",
        stamp="ab" * 12,
        next_at=NOW + timedelta(hours=8),
        next_local="2027-03-28T09:00:00",
        tzdata="2026c",
    )
    return replace(plain, **facts)


def written_fields() -> st.SearchStrategy[dict[str, Any]]:
    """Return what people write of a schedule, as JSON has it."""
    plain = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts()
    values = st.recursive(
        plain, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(texts(), inner, max_size=2)
    )
    return st.dictionaries(names(), values, max_size=4)


def pauses() -> st.SearchStrategy[Pause]:
    """Return pauses, with an end and without."""
    return st.builds(Pause, instants(), st.none() | instants(), st.none() | texts(), texts(), st.sampled_from(OnResume))


@st.composite
def schedules(draw: st.DrawFn) -> Schedule:
    """Return schedules in every state, with everything that they may have."""
    apart = st.builds(lambda size: Payload(size, stored_as="payload#x"), st.integers(1))
    inside = texts().map(lambda text: Payload(len(text.encode()), text=text))
    maybe_instants, maybe_texts = st.none() | instants(), st.none() | texts()
    return Schedule(
        name=draw(names()),
        generation=draw(names()),
        version=draw(st.integers(1)),
        state=draw(st.sampled_from(ScheduleState)),
        fields=draw(written_fields()),
        payload=draw(inside | apart),
        payload_hash=draw(names()),
        since=draw(instants()),
        planned_until=draw(instants()),
        created_at=draw(instants()),
        changed_at=draw(instants()),
        changed_by=draw(texts()),
        stamp=draw(names()),
        next_at=draw(maybe_instants),
        paced_until=draw(maybe_instants),
        paused=draw(st.none() | pauses()),
        broken=draw(maybe_texts),
        tzdata=draw(maybe_texts),
        next_local=draw(maybe_texts),
        resumed_at=draw(maybe_instants),
        busy=draw(maybe_texts),
        waiting=draw(maybe_texts),
    )
