"""The way from a client straight to moto: the answers are those that came over HTTP, at a third of the time.

Only for the clients that labs make, and for what can be said without HTTP. What moto refuses, which changes nothing,
is asked for again over HTTP: how a refusal reads is botocore's to say.
"""

import json
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn, cast

from botocore.client import BaseClient
from botocore.exceptions import ParamValidationError
from botocore.model import OperationModel, Shape
from botocore.validate import ParamValidator
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
PLAIN = {"S": str, "N": str, "BOOL": bool, "NULL": bool}
MADE: set[BaseClient] = set()
"""The clients that labs make."""


class BytesGiven(Exception):
    """There are bytes in what a call is made with: how they are written down is botocore's to say, too."""


class Validator(ParamValidator):
    """Botocore's, which looks at every attribute's value for each of the types that it may have."""

    def _validate(self, params: Any, shape: Any, errors: Any, name: Any) -> None:
        if shape.name == "AttributeValue" and type(params) is dict and len(params) == 1:
            [(kind, value)] = params.items()
            if type(value) is PLAIN.get(kind):
                return
        super()._validate(params, shape, errors, name)  # type: ignore[misc] # not in botocore's stubs


Call = Callable[[BaseClient, str, dict[str, Any]], Any]


def straight(over_http: Call) -> Call:
    """Return how clients make their calls, where `over_http` is how they did."""

    def call(client: BaseClient, operation: str, arguments: dict[str, Any]) -> Any:
        if client not in MADE or operation not in OPERATIONS:
            return over_http(client, operation, arguments)
        model: OperationModel = client.meta.service_model.operation_model(operation)
        found = Validator().validate(arguments, cast(Shape, model.input_shape))
        if found.has_errors():
            raise ParamValidationError(report=found.generate_report())
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
