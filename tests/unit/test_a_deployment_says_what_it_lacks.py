"""What a deployment sets, and the clock that everything else is handed."""

import time
from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from tests.template.expansion import expand

from onthedot.clock import SystemClock
from onthedot.rules.agenda import MOST_SHARDS
from onthedot.settings import QUEUES, from_environment

ENVIRONMENT = {
    "ONTHEDOT_JOBS_TABLE": "jobs",
    "ONTHEDOT_SCHEDULES_TABLE": "schedules",
    "ONTHEDOT_SHARDS_TABLE": "shards",
    "ONTHEDOT_JOB_QUEUE_URL": "url-job",
    "ONTHEDOT_JOB_DEAD_LETTER_QUEUE_URL": "url-job_dead_letter",
    "ONTHEDOT_SHARD_QUEUE_URL": "url-shard",
    "ONTHEDOT_SHARD_DEAD_LETTER_QUEUE_URL": "url-shard_dead_letter",
    "ONTHEDOT_STRAY_QUEUE_URL": "url-stray",
    "ONTHEDOT_TIMER_DEAD_LETTER_QUEUE_URL": "url-timer_dead_letter",
    "ONTHEDOT_SHARDS": "4",
    "ONTHEDOT_DISPATCHERS": "2",
    "ONTHEDOT_LOOKAHEAD_SECONDS": "210",
    "ONTHEDOT_RETENTION_DAYS": "7",
    "ONTHEDOT_WORKER_TIMEOUT_SECONDS": "300",
    "ONTHEDOT_WORKER_WAIT_MILLISECONDS": "1000",
    "ONTHEDOT_ALLOWED_TARGET_ARNS": "arn:a,arn:b",
}


def test_the_environment_is_read() -> None:
    settings = from_environment(ENVIRONMENT)
    assert (settings.jobs_table, settings.schedules_table, settings.shards_table) == ("jobs", "schedules", "shards")
    assert settings.shards == 4
    assert settings.queue_urls == {name: f"url-{name}" for name in QUEUES}
    assert settings.timing.look_ahead == timedelta(seconds=210)
    assert settings.timing.retention == timedelta(days=7)
    assert settings.timing.worker_timeout == timedelta(minutes=5)
    assert settings.timing.worker_wait == timedelta(seconds=1)
    assert settings.allowed_targets == ("arn:a", "arn:b")
    assert from_environment(ENVIRONMENT | {"ONTHEDOT_ALLOWED_TARGET_ARNS": ""}).allowed_targets == ()


@pytest.mark.parametrize("name", sorted(ENVIRONMENT))
def test_what_is_missing_is_named(name: str) -> None:
    with pytest.raises(KeyError, match=name):
        from_environment({key: value for key, value in ENVIRONMENT.items() if key != name})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ONTHEDOT_SHARDS", ""),
        ("ONTHEDOT_SHARDS", "four"),
        ("ONTHEDOT_SHARDS", "0"),
        ("ONTHEDOT_SHARDS", "-1"),
        ("ONTHEDOT_SHARDS", "257"),
        ("ONTHEDOT_DISPATCHERS", "0"),
        ("ONTHEDOT_LOOKAHEAD_SECONDS", "199"),
        ("ONTHEDOT_LOOKAHEAD_SECONDS", "217"),
        ("ONTHEDOT_LOOKAHEAD_SECONDS", "200.5"),
        ("ONTHEDOT_WORKER_TIMEOUT_SECONDS", "30"),
        ("ONTHEDOT_WORKER_WAIT_MILLISECONDS", "-1"),
        ("ONTHEDOT_WORKER_WAIT_MILLISECONDS", "2001"),
        ("ONTHEDOT_WORKER_WAIT_MILLISECONDS", "0.5"),
        ("ONTHEDOT_RETENTION_DAYS", "0"),
        ("ONTHEDOT_RETENTION_DAYS", "x"),
    ],
)
def test_what_breaks_the_protocol_is_refused(name: str, value: str) -> None:
    """With no shard no job has a place on the agenda; with no retention an outcome is gone before it is looked at."""
    with pytest.raises(ValueError, match=r".+"):
        from_environment(ENVIRONMENT | {name: value})


def test_the_template_sets_all_of_it_and_allows_nothing_that_is_refused() -> None:
    template = expand()
    assert ENVIRONMENT.keys() <= template.properties("Worker")["Environment"]["Variables"].keys()
    ranges = {name: (it.get("MinValue"), it.get("MaxValue")) for name, it in template.parameters.items()}
    assert ranges["Shards"] == (1, MOST_SHARDS)
    for end in ranges["LookAheadSeconds"]:
        assert from_environment(ENVIRONMENT | {"ONTHEDOT_LOOKAHEAD_SECONDS": str(end)})
    for end in ranges["WorkerWaitMilliseconds"]:
        assert from_environment(ENVIRONMENT | {"ONTHEDOT_WORKER_WAIT_MILLISECONDS": str(end)})
    for timeout in template.parameters["WorkerTimeoutSeconds"]["AllowedValues"]:
        assert from_environment(ENVIRONMENT | {"ONTHEDOT_WORKER_TIMEOUT_SECONDS": str(timeout)})


def test_the_time_is_aware_and_cut_to_milliseconds() -> None:
    with time_machine.travel(datetime(2027, 1, 4, 8, 0, 0, 123999, tzinfo=UTC), tick=False):
        now = SystemClock().now()
    assert now == datetime(2027, 1, 4, 8, 0, 0, 123000, tzinfo=UTC)
    assert now.tzinfo is UTC


def test_a_token_is_96_bits_drawn_anew() -> None:
    """Two environments that were resumed from one snapshot must not own one job (aws-traps 52)."""
    tokens = {SystemClock().token() for _ in range(1000)}
    assert len(tokens) == 1000
    assert all(len(bytes.fromhex(token)) == 12 for token in tokens)


def test_a_pause_is_short_and_not_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those who met would meet again."""
    pauses: list[float] = []
    monkeypatch.setattr("onthedot.clock.time.sleep", pauses.append)
    for _ in range(100):
        SystemClock().pause()
    assert 0.01 <= min(pauses) < max(pauses) <= 0.05


def test_a_wait_is_as_long_as_it_is_said_to_be() -> None:
    begun = time.monotonic()
    SystemClock().wait(timedelta(milliseconds=30))
    assert 0.03 <= time.monotonic() - begun < 2
