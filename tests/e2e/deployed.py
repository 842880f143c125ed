"""What an end-to-end test is given: the deployed stack, by its API and by the AWS services under it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import boto3
from local import sam
from local.stack import Stack
from mypy_boto3_dynamodb import DynamoDBClient
from mypy_boto3_lambda import LambdaClient
from mypy_boto3_sqs import SQSClient
from tests.support.aside import wired

from onthedot.client import Client, path_to
from onthedot.steps.ports import World


@dataclass(frozen=True, slots=True)
class Deployed:
    """A stack of its own for the tests; `outputs` are the template's: table names, queue URLs, function names."""

    client: Client
    outputs: Mapping[str, str]
    dynamodb: DynamoDBClient
    sqs: SQSClient
    functions: LambdaClient
    endpoint: str

    @classmethod
    def on(cls, running: Stack) -> Self:
        """Return what runs, with clients of its AWS."""
        endpoint = running.emulator.url
        return cls(
            client=running.client,
            outputs=sam.outputs(running.emulator),
            dynamodb=boto3.client("dynamodb", endpoint_url=endpoint),
            sqs=boto3.client("sqs", endpoint_url=endpoint),
            functions=boto3.client("lambda", endpoint_url=endpoint),
            endpoint=endpoint,
        )

    @property
    def url(self) -> str:
        """Return where the API is."""
        return self.client.url

    def ask(
        self, method: str, *path: str, body: object = None, query: Mapping[str, str] | None = None, status: int = 200
    ) -> Any:
        """Call the API, and return what it answers with the status that is expected."""
        answer = self.client.call(method, path_to(*path), body, query)
        assert answer.status == status, answer.text
        return answer.body

    def tick(self) -> None:
        """Let the timer's minute be now."""
        done = self.functions.invoke(FunctionName=self.outputs["TickFunctionName"], Payload=b"{}")
        assert "FunctionError" not in done, done["Payload"].read()

    @contextmanager
    def without(self, function: str) -> Iterator[None]:
        """Bring no messages to a function, named as in the outputs, for a while."""
        name = self.outputs[f"{function}FunctionName"]
        [source] = self.functions.list_event_source_mappings(FunctionName=name)["EventSourceMappings"]
        self.functions.update_event_source_mapping(UUID=source["UUID"], Enabled=False)
        try:
            yield
        finally:
            self.functions.update_event_source_mapping(UUID=source["UUID"], Enabled=True)

    @contextmanager
    def world(self) -> Iterator[World]:
        """Give the steps' world on the deployed tables and queues, as a function would have it but in this process."""
        worker = self.functions.get_function_configuration(FunctionName=self.outputs["WorkerFunctionName"])
        environment = worker["Environment"]["Variables"] | {"AWS_ENDPOINT_URL": self.endpoint}
        with wired(environment) as world:
            yield world
