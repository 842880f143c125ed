"""One Config for every client, whose tries fit into the margin of a lease (aws-traps 13)."""

from typing import Any, cast

import boto3
import pytest
from botocore.exceptions import ParamValidationError
from tests.support.lab import Lab
from tests.support.worlds import client_of

from onthedot import wiring
from onthedot.adapters.aws import CHECKED, CONFIG, CONNECT_SECONDS, CONNECTIONS, READ_SECONDS, TRIES
from onthedot.rules.timing import MOST_WORKER_WAIT, Timing


def clients() -> dict[str, Any]:
    world = wiring.world()
    parts = ("jobs", "schedules", "payloads", "indexes", "shards", "queue", "strays", "depths")
    return {part: client_of(world, part) for part in parts} | {
        "shard queue": wiring.shard_queue().client,
        "held": wiring.held("job").client,
    }


def numbers(config: Any) -> tuple[Any, ...]:
    retries = config.retries
    return (
        config.connect_timeout,
        config.read_timeout,
        config.max_pool_connections,
        retries["mode"],
        retries["total_max_attempts"],
    )


@pytest.mark.usefixtures("lab")
def test_every_client_has_the_one_config() -> None:
    for name, client in clients().items():
        assert numbers(client.meta.config) == numbers(CONFIG), name
        assert client.meta.config.tcp_keepalive, name


def test_no_client_is_made_elsewhere(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    real = boto3.client

    def client(name: Any, **arguments: Any) -> Any:
        made.append(arguments)
        return real(name, **arguments)

    monkeypatch.setattr(boto3, "client", client)
    lab.tick()
    lab.settle()
    assert made
    assert all(arguments == {"config": CONFIG} for arguments in made)


@pytest.mark.usefixtures("lab")
def test_types_are_looked_at_in_tests_and_where_users_say_them() -> None:
    """AWS refuses wrong types too; only it takes a call to learn that."""
    ours, checked = cast(Any, CONFIG), cast(Any, CHECKED)
    assert not ours.parameter_validation
    with pytest.raises(ParamValidationError):
        client_of(wiring.world(), "jobs").get_item(TableName="t", Key=5)
    with pytest.raises(ParamValidationError):
        client_of(wiring.world(), "queue").send_message(QueueUrl="http://127.0.0.1:1/q", MessageBody=5)
    assert checked.parameter_validation
    assert numbers(checked) == numbers(ours)


def test_all_tries_of_a_call_fit_into_the_margin() -> None:
    assert Timing().margin.total_seconds() > TRIES * (CONNECT_SECONDS + READ_SECONDS)


def test_so_they_do_after_the_longest_wait_of_a_worker() -> None:
    """A start whose write needed all its tries would else be given back each time, and its job never run."""
    timing = Timing(worker_wait=MOST_WORKER_WAIT)
    assert timing.time_to_start.total_seconds() > TRIES * (CONNECT_SECONDS + READ_SECONDS)
    assert timing.time_to_start + timing.longest_wait == timing.margin


def test_there_is_a_connection_for_every_thread() -> None:
    assert CONNECTIONS >= wiring.THREADS
