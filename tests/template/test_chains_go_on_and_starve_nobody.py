"""Functions that wake each other through queues are not cut off, and leave concurrency for the rest."""

import pytest
from tests.template.expansion import Template, expand, referenced

CHAINED = {"Dispatch": "ShardQueue", "Worker": "JobQueue", "DeadLetters": "JobDeadLetterQueue"}
NEW_ACCOUNT = 10


@pytest.mark.parametrize("name", CHAINED)
def test_lambda_does_not_end_our_chains_as_loops(template: Template, name: str) -> None:
    """Trap 7: after about 16 hops the message would be dropped."""
    assert template.properties(name)["RecursiveLoop"] == "Allow"


def test_each_queue_is_worked_off_by_its_function(template: Template) -> None:
    sources = template.of_type("AWS::Lambda::EventSourceMapping").values()
    assert {referenced(it["FunctionName"]): referenced(it["EventSourceArn"]) for it in sources} == CHAINED


def test_every_source_takes_partial_answers(template: Template) -> None:
    """Trap 36: else one message put back puts back its batch."""
    sources = template.of_type("AWS::Lambda::EventSourceMapping").values()
    assert all(it["FunctionResponseTypes"] == ["ReportBatchItemFailures"] for it in sources)


def test_together_they_leave_room_in_a_new_account(template: Template) -> None:
    """Trap 6: it has 10 concurrent executions in all, and refuses to reserve any."""
    sources = template.of_type("AWS::Lambda::EventSourceMapping").values()
    assert sum(it["ScalingConfig"]["MaximumConcurrency"] for it in sources) < NEW_ACCOUNT
    functions = template.of_type("AWS::Lambda::Function").values()
    assert not any("ReservedConcurrentExecutions" in it for it in functions)


def test_worker_concurrency_and_batch_are_parameters_within_lambdas_limits(template: Template) -> None:
    """Trap 35: MaximumConcurrency is 2 to 1,000; above 10 messages a batch needs a window, and waits for it."""
    concurrency, batch = template.parameters["WorkerConcurrency"], template.parameters["WorkerBatchSize"]
    assert (concurrency["MinValue"], concurrency["MaxValue"]) == (2, 1000)
    assert (batch["Default"], batch["MinValue"], batch["MaxValue"]) == (1, 1, 10)
    sources = expand(WorkerConcurrency=7, WorkerBatchSize=3).of_type("AWS::Lambda::EventSourceMapping")
    assert (sources["WorkerJobMessage"]["ScalingConfig"], sources["WorkerJobMessage"]["BatchSize"]) == (
        {"MaximumConcurrency": 7},
        3,
    )


def test_there_may_be_as_many_dispatchers_as_shards_need() -> None:
    """Two of them hand over some 5,000 jobs a second, however many shards there are."""
    most = expand().parameters["DispatchConcurrency"]
    assert (most["Default"], most["MinValue"], most["MaxValue"]) == (2, 2, 1000)
    sources = expand(DispatchConcurrency=9).of_type("AWS::Lambda::EventSourceMapping")
    assert sources["DispatchShardMessage"]["ScalingConfig"] == {"MaximumConcurrency": 9}


def test_pollers_that_are_kept_ready_replace_the_workers_concurrency() -> None:
    """AWS refuses a source that has both; without them polling begins with 5, and adds 300 a minute."""
    ready = expand(WorkerPollers=20, WorkerPollersMost=50).of_type("AWS::Lambda::EventSourceMapping")
    assert ready["WorkerJobMessage"]["ProvisionedPollerConfig"] == {"MinimumPollers": 20, "MaximumPollers": 50}
    assert "ScalingConfig" not in ready["WorkerJobMessage"]
    assert "ProvisionedPollerConfig" not in expand().of_type("AWS::Lambda::EventSourceMapping")["WorkerJobMessage"]


def test_a_single_poller_is_refused_before_anything_is_made() -> None:
    """AWS takes two at least, and would say so in the midst of a deployment."""
    assert [len(expand(WorkerPollers=pollers).refusals) for pollers in (0, 1, 2, 200)] == [0, 1, 0, 0]


def test_no_version_or_alias_splits_metrics_and_permissions(template: Template) -> None:
    """Traps 29 and 52: an alias would take Errors, sources and permissions with it, and SnapStart needs one."""
    kinds = {it["Type"] for it in template.resources.values()}
    assert not kinds & {"AWS::Lambda::Version", "AWS::Lambda::Alias"}
    assert not any("SnapStart" in it for it in template.of_type("AWS::Lambda::Function").values())
