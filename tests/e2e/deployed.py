"""What an end-to-end test is given: the deployed stack, by its API and by the AWS services under it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import pytest
from local import account
from mypy_boto3_dynamodb import DynamoDBClient
from mypy_boto3_lambda import LambdaClient
from mypy_boto3_sqs import SQSClient
from tests.support.lab import forget

from onthedot import wiring
from onthedot.client import Client
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

    @property
    def url(self) -> str:
        """Return where the API is."""
        return self.client.url

    @contextmanager
    def world(self) -> Iterator[World]:
        """Give the steps' world on the deployed tables and queues, as a function would have it but in this process."""
        functions = self.functions.get_function_configuration(FunctionName=self.outputs["WorkerFunctionName"])
        with account.isolated(), pytest.MonkeyPatch.context() as patch:
            for name, value in functions["Environment"]["Variables"].items():
                patch.setenv(name, value)
            patch.setenv("AWS_ENDPOINT_URL", self.endpoint)
            forget()
            yield wiring.world()
        forget()
