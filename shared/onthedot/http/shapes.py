"""The shape of a request: each field is checked by itself, so that one wrong field hides no other.

pydantic skips what lies between fields as soon as one of them is wrong. Here the model only declares: every field has a
checker of its own, and what passed goes on to the rules.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from types import MappingProxyType, NoneType
from typing import Annotated, Any, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from onthedot.rules.errors import Fault, Kind
from onthedot.rules.said import at

MOST_UNKNOWN = 20
LONGEST_NAME = 64

WORDS: Mapping[str, str] = MappingProxyType(
    {
        "string_pattern_mismatch": "must be 1 to 64 letters, digits, dots, underscores or hyphens, the first of them a "
        "letter or digit",
        "string_type": "must be a text",
        "int_type": "must be a whole number",
        "float_type": "must be a number",
        "list_type": "must be a list",
        "model_type": "must be an object",
    }
)
"""What pydantic's faults are called here."""


def check(model: type[BaseModel], value: Any, path: str, faults: list[Fault]) -> dict[str, Any]:
    """Return the fields of `value` that have the right shape, and add a fault for everything else."""
    if not isinstance(value, dict):
        faults.append(Fault(path, "must be an object", Kind.MALFORMED))
        return {}
    known = fields_of(model)
    faults.extend(_unknown(list(known), value, path))
    for name, field in known.items():
        if model.model_fields[field].is_required() and name not in value:
            faults.append(Fault(at(path, name), "is missing", Kind.MALFORMED))
    return {
        name: checked
        for name, field in known.items()
        if name in value
        for checked in _field(model, field, value[name], at(path, name), faults)
    }


def fields_of(model: type[BaseModel]) -> dict[str, str]:
    """Return what each field is called in Python, by its name in JSON; `from` is no name there."""
    return {field.alias or name: name for name, field in model.model_fields.items()}


def _unknown(known: Sequence[str], value: dict[str, Any], path: str) -> list[Fault]:
    """Return a fault for each field that is not known; names and number are bounded, since the answer's size is."""
    names = [name for name in value if name not in known]
    message = "is not known here; " + (f"the fields are {', '.join(known)}" if known else "this call takes no fields")
    if len(names) > MOST_UNKNOWN:
        message += f" (and {len(names) - MOST_UNKNOWN} more fields are not known)"
    return [Fault(at(path, name[:LONGEST_NAME]), message, Kind.MALFORMED) for name in names[:MOST_UNKNOWN]]


def _field(model: type[BaseModel], name: str, value: Any, path: str, faults: list[Fault]) -> list[Any]:
    inner = _inner_model(model, name)
    if inner is not None and not (value is None and _is_nullable(model, name)):
        return [check(inner, value, path, faults)]
    try:
        return [_checker(model, name).validate_python(value, strict=True)]
    except ValidationError as error:
        faults.append(Fault(path, _message(error), Kind.MALFORMED))
        return []


@cache
def _checker(model: type[BaseModel], name: str) -> TypeAdapter[Any]:
    field = model.model_fields[name]
    kind: Any = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    return TypeAdapter(kind)


def _inner_model(model: type[BaseModel], name: str) -> type[BaseModel] | None:
    kinds = [model.model_fields[name].annotation, *get_args(model.model_fields[name].annotation)]
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def _is_nullable(model: type[BaseModel], name: str) -> bool:
    return NoneType in get_args(model.model_fields[name].annotation)


def _message(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    if "error" in first.get("ctx", {}):
        return str(first["ctx"]["error"])
    return WORDS.get(first["type"], first["msg"].replace("Input should be", "must be"))
