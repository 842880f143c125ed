"""A worker of one's own in the place of the template's: with handlers that no user should have."""

import io
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from local.sam import BUILD
from local.setup import ROOT
from tests.e2e.deployed import Deployed


@contextmanager
def own_worker(
    stack: Deployed, name: str, code: bytes, concurrency: int, variables: Mapping[str, str]
) -> Iterator[str]:
    """Let a function with this code work on the job queue, one message at a time; give its event source."""
    worker = stack.functions.get_function_configuration(FunctionName=stack.outputs["WorkerFunctionName"])
    as_it_is: Any = {key: worker[key] for key in ("Runtime", "Role", "Timeout", "MemorySize")}
    stack.functions.create_function(
        FunctionName=name,
        Code={"ZipFile": code},
        Handler="started.handler",
        Environment={"Variables": worker["Environment"]["Variables"] | dict(variables)},
        **as_it_is,
    )
    with stack.without("Worker"):
        source = stack.functions.create_event_source_mapping(
            FunctionName=name,
            EventSourceArn=arn(stack),
            BatchSize=1,
            FunctionResponseTypes=["ReportBatchItemFailures"],
            ScalingConfig={"MaximumConcurrency": concurrency},
        )["UUID"]
        try:
            yield source
        finally:
            stack.functions.delete_event_source_mapping(UUID=source)
    stack.functions.delete_function(FunctionName=name)


def packed(more: Mapping[str, Path], handler: str) -> bytes:
    """Return the functions as they are and some more files, with a module whose `handler` to start.

    The layer is where it was built: the emulator would unpack it for each process, which on AWS takes no time.
    """
    whole, functions = io.BytesIO(), ROOT / "functions"
    with zipfile.ZipFile(whole, "w") as archive:
        for path in functions.rglob("*.py"):
            archive.write(path, path.relative_to(functions))
        for name, path in more.items():
            archive.write(path, name)
        layer = str(BUILD / "artefacts/Layer/python")
        archive.writestr("started.py", f"import sys\nsys.path.insert(0, {layer!r})\nfrom {handler} import handler\n")
    return whole.getvalue()


def arn(stack: Deployed) -> str:
    """Return the name that AWS has for the job queue."""
    asked = stack.sqs.get_queue_attributes(QueueUrl=stack.outputs["JobQueueUrl"], AttributeNames=["QueueArn"])
    return asked["Attributes"]["QueueArn"]
