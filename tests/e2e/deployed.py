"""What an end-to-end test is given: the deployed stack, by its API and by the AWS services under it."""

from collections.abc import Mapping
from dataclasses import dataclass

from mypy_boto3_dynamodb import DynamoDBClient
from mypy_boto3_lambda import LambdaClient
from mypy_boto3_sqs import SQSClient

from onthedot.client import Client


@dataclass(frozen=True, slots=True)
class Deployed:
    """A stack of its own for the tests; `outputs` are the template's: table names, queue URLs, function names."""

    client: Client
    outputs: Mapping[str, str]
    dynamodb: DynamoDBClient
    sqs: SQSClient
    functions: LambdaClient

    @property
    def url(self) -> str:
        """Return where the API is."""
        return self.client.url
