"""The values of the agent's messages as JSON: dataclasses to and from objects, by their fields."""

from __future__ import annotations

import enum
import types
import typing
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any, TypeVar, cast

Value = TypeVar("Value")
Message = dict[str, Any]


class MalformedMessage(ValueError):
    """A message of the agent that cannot be read. The text names the member and what it should be."""


class Wired:
    """A base of dataclasses whose JSON is not that of their fields one by one."""

    @classmethod
    def _read(cls, value: object, path: str) -> Any:
        raise NotImplementedError

    def _written(self) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class _Member:
    """A field of a dataclass: its name in Python, its name in JSON, its type, and whether it must be given."""

    name: str
    key: str
    type: Any
    is_required: bool


def key(name: str) -> str:
    """The name in JSON of a member with this name in Python."""
    first, *others = name.split("_")
    return first + "".join(each.capitalize() for each in others)


def _members(cls: Any) -> tuple[_Member, ...]:
    return _found_members(cls)


@lru_cache(maxsize=None)
def _found_members(cls: Any) -> tuple[_Member, ...]:
    hints = typing.get_type_hints(cls)
    return tuple(
        _Member(
            field.name, field.metadata.get("key", key(field.name)), hints[field.name],
            field.default is MISSING and field.default_factory is MISSING)
        for field in fields(cls))


def written(value: object) -> Any:
    """The JSON value of a value. Members without a value are left out."""
    if isinstance(value, Wired):
        return value._written()
    if is_dataclass(value):
        return {
            member.key: written(found) for member in _members(type(value))
            if (found := getattr(value, member.name)) is not None}
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(name): written(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [written(each) for each in value]
    return value


def read(cls: type[Value], value: object, path: str = "") -> Value:
    """The value of a type that a JSON value describes. Unknown members are ignored.

    Raises `MalformedMessage`, which names the path of the fault.
    """
    return cast(Value, _read(cls, value, path))


def read_fields(cls: type[Value], value: object, path: str) -> Value:
    """A dataclass of the members of a JSON object."""
    if not isinstance(value, dict):
        raise MalformedMessage(f"{path or cls.__name__}: an object is expected")
    arguments = {}
    for member in _members(cls):
        found = value.get(member.key)
        place = f"{path}.{member.key}" if path else member.key
        if found is not None:
            arguments[member.name] = _read(member.type, found, place)
        elif member.is_required:
            raise MalformedMessage(f"{place}: missing")
    return cls(**arguments)


def _read(wanted: Any, value: object, path: str) -> Any:
    if wanted is Any:
        return value
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (typing.Union, types.UnionType):
        return _read_optional(arguments, value, path)
    if origin is tuple:
        if not isinstance(value, list):
            raise MalformedMessage(f"{path}: a list is expected")
        return tuple(_read(arguments[0], each, f"{path}[{place}]") for place, each in enumerate(value))
    if origin is not None:
        if not isinstance(value, dict):
            raise MalformedMessage(f"{path}: an object is expected")
        return {name: _read(arguments[1], each, f"{path}.{name}") for name, each in value.items()}
    if isinstance(wanted, type) and issubclass(wanted, Wired):
        return wanted._read(value, path)
    if is_dataclass(wanted) and isinstance(wanted, type):
        return read_fields(wanted, value, path)
    return _read_plain(wanted, value, path)


def _read_optional(arguments: Iterable[Any], value: object, path: str) -> Any:
    choices = [each for each in arguments if each is not type(None)]
    return None if value is None else _read(choices[0], value, path)


def _read_plain(wanted: Any, value: object, path: str) -> Any:
    if isinstance(wanted, type) and issubclass(wanted, enum.Enum):
        try:
            return wanted(value)
        except ValueError:
            names = ", ".join(str(each.value) for each in wanted)
            raise MalformedMessage(f"{path}: one of {names} is expected") from None
    if wanted is float and type(value) in (int, float):
        try:
            return float(cast(float, value))
        except OverflowError:
            raise MalformedMessage(f"{path}: a number that fits into 64 bits is expected") from None
    if type(value) is not wanted:
        kinds = {int: "a whole number", str: "a text", bool: "true or false", float: "a number"}
        expected = kinds.get(wanted, "another value")
        raise MalformedMessage(f"{path}: {expected} is expected")
    return value
