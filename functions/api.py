"""HTTP in, one step called, HTTP out."""

from typing import Any

from onthedot import telemetry, wiring
from onthedot.http.app import application


def _crashed(error: Exception) -> None:
    telemetry.logger.error("api_crashed", exc_info=error)


answer = application(wiring.world, _crashed)


@telemetry.invocation
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    """Answer one API Gateway event."""
    return answer(event, context)
