"""The application: Powertools finds the route, the table says what it does, and whatever happens becomes an answer."""

from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.event_handler import APIGatewayRestResolver, Response

from onthedot.http import problems
from onthedot.http.problems import Answer, Problem, Refuse
from onthedot.http.requests import request_of, whole
from onthedot.http.route import Route
from onthedot.http.routes import ROUTES, allowed
from onthedot.rules.errors import Invalid, Unavailable
from onthedot.steps.ports import World

Handler = Callable[[Mapping[str, Any], Any], dict[str, Any]]


def application(world: Callable[[], World], crashed: Callable[[Exception], None]) -> Handler:
    """Return the handler of API Gateway events; `crashed` is told of every error that is not ours."""
    resolver = APIGatewayRestResolver(enable_validation=False)
    for route in ROUTES:
        rule = route.path.replace("{", "<").replace("}", ">")
        resolver.route(rule, route.method)(_calling(resolver, route, world))
    resolver.not_found(lambda _: _unserved(resolver))
    resolver.exception_handler(Invalid)(lambda error: _sent(problems.answer(problems.of_faults(error.faults))))
    resolver.exception_handler(Refuse)(lambda error: _sent(problems.answer(error.problem)))
    resolver.exception_handler(Unavailable)(lambda error: _sent(problems.answer(problems.of_outage(error))))
    resolver.exception_handler(Exception)(lambda error: _crash(error, crashed))

    def handle(event: Mapping[str, Any], context: Any) -> dict[str, Any]:
        return resolver.resolve(whole(event), context)

    return handle


def _calling(
    resolver: APIGatewayRestResolver, route: Route, world: Callable[[], World]
) -> Callable[..., Response[str]]:
    def call(**path: str) -> Response[str]:
        event = resolver.current_event.raw_event
        request = request_of(event, path, route.known_query, takes_body=route.body is not None)
        if request.faults and not route.judges:
            raise Invalid(request.faults)
        return _sent(route.call(world(), request))

    return call


def _unserved(resolver: APIGatewayRestResolver) -> Response[str]:
    path, method = resolver.current_event.path, resolver.current_event.http_method
    methods = allowed(path)
    if not methods or method in methods:  # the second: the router takes no such letters in an id
        return _sent(problems.answer(Problem(404, "there is nothing at this path; see GET /openapi.json")))
    listed = ", ".join(methods)
    refusal = Problem(405, f"{method} is not served here; what is: {listed}", headers={"Allow": listed})
    return _sent(problems.answer(refusal))


def _crash(error: Exception, crashed: Callable[[Exception], None]) -> Response[str]:
    """Answer a crash; what happened is told to the log only."""
    crashed(error)
    return _sent(problems.answer(Problem(500, "something went wrong here; the log of this call says what")))


def _sent(answer: Answer) -> Response[str]:
    return Response(answer.status, answer.media_type, answer.text, dict(answer.headers))
