"""The way from a client straight to moto: the answers are those that came over HTTP, at a third of the time.

Only for the clients that labs make, and for what can be said without HTTP. What moto refuses, which changes nothing,
is asked for again over HTTP: how a refusal reads is botocore's to say.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn

from botocore.client import BaseClient
from botocore.model import OperationModel
from botocore.validate import validate_parameters
from moto.core.exceptions import JsonRESTError, ServiceException
from moto.core.responses import BaseResponse
from moto.core.utils import camelcase_to_underscores
from moto.dynamodb.responses import DynamoHandler
from moto.sqs.responses import SQSResponse

from onthedot.testing.calls import ALONE, NOTED, strictly
from onthedot.testing.template import ACCOUNT

HANDLERS: dict[str, Callable[[], BaseResponse]] = {"dynamodb": DynamoHandler, "sqs": SQSResponse}
READS = {"GetItem", "BatchGetItem", "Query", "Scan"}
WRITES = {"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems"}
OF_MESSAGES = {"SendMessage", "SendMessageBatch", "ReceiveMessage", "DeleteMessage", "ChangeMessageVisibility"}
OPERATIONS = READS | WRITES | OF_MESSAGES | {"GetQueueAttributes"}
"""What our functions call; all else is rare."""
MADE: set[BaseClient] = set()
"""The clients that labs make."""


class BytesGiven(Exception):
    """There are bytes in what a call is made with: how they are written down is botocore's to say, too."""


Call = Callable[[BaseClient, str, dict[str, Any]], Any]


def straight(over_http: Call) -> Call:
    """Return how clients make their calls, where `over_http` is how they did."""

    def call(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        if client not in MADE or operation not in OPERATIONS:
            return over_http(client, operation, arguments)
        model: OperationModel = client.meta.service_model.operation_model(operation)
        if model.input_shape is not None:
            validate_parameters(arguments, model.input_shape)
        try:
            return _answer(model, ask(client, operation, arguments))
        except (BytesGiven, JsonRESTError, ServiceException):
            return over_http(client, operation, arguments)

    return call


def ask(client: BaseClient, operation: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """Return what moto answers before it is written down; it is handed a copy, since it keeps and changes that."""
    text = json.dumps(arguments, default=_refused)
    handler = HANDLERS[client.meta.service_model.service_name]()
    handler.current_account, handler.region, handler.uri = ACCOUNT, client.meta.region_name, client.meta.endpoint_url
    handler.body = handler.params = json.loads(text)
    handler.uri_match = {}
    with ALONE:
        call = strictly(operation, json.loads(text))
        result = getattr(handler, _method(operation))().result
        NOTED[-1].append(call)
    return dict(result or {})


def _answer(model: OperationModel, result: dict[str, Any]) -> dict[str, Any]:
    """Return of what moto answers what a client is told."""
    said = model.output_shape.members if model.output_shape else {}
    answer = {name: it for name, it in result.items() if it is not None and name in said}
    return answer | {"ResponseMetadata": {"HTTPStatusCode": 200, "HTTPHeaders": {}, "RetryAttempts": 0}}


def _refused(_: object) -> NoReturn:
    raise BytesGiven


@cache
def _method(operation: str) -> str:
    return camelcase_to_underscores(operation)
