"""Calls that a word in the query turns into another."""

from typing import Annotated

from pydantic import PlainValidator, WithJsonSchema

from onthedot.http.models import Shape, absent


def _read_flag(value: object) -> bool:
    if value in ("true", "false"):
        return value == "true"
    raise ValueError("must be true or false")


Flag = Annotated[bool, PlainValidator(_read_flag), WithJsonSchema({"type": "boolean", "default": False})]


class DryRunQuery(Shape):
    """Whether it is done, or only told what would be."""

    dry_run: Flag = absent()


class StopQuery(Shape):
    """Whether a job that runs is asked to stop."""

    stop: Flag = absent()
