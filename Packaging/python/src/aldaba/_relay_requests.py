"""What an app asks its agent about other devices: the requests, examined as the agent examines them."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from aldaba._agent_codec import read
from aldaba._relay_types import Access, Device, Life, RelayError, ServiceFailure, Status
from aldaba._relay_values import DEFAULT_LIMIT, LARGEST_LIMIT, Message, MessageFault, check_unicode, encode

Value = TypeVar("Value")
Notice = dict[str, Any]

SERVICES_LIMIT, SCHEMES_LIMIT, ATTRIBUTES_LIMIT = 32, 64, 4096
LONGEST_DETAIL = 4096
# They name what is on a machine, or carry a program; the agent knows them, too.
NEVER_OPENED = {"file", "data", "javascript", "vbscript", "blob", "about", "view-source", "jar"}
# Seconds beyond which a deadline is no date of this epoch.
LONGEST_WAIT = 10**10
# How long the agent's answer is waited for after the deadline of a command, and for what is no command.
PATIENCE = 5.0
AGENT_SECONDS = 10.0
KEEPING_SECONDS = 35.0


@dataclass(frozen=True)
class Order(Generic[Value]):
    """A request without its number, how its answer is read, and how long it is waited for.

    `command` is the id of what is taken back when nobody waits for the answer any more.
    """

    request: Message
    read: Callable[[Notice], Value]
    seconds: float
    command: uuid.UUID | None = None


def outcome(notice: Notice) -> Message:
    """The message of a success. Raises `RelayError` for any other end."""
    told = read(dict[str, Any], notice.get("outcome"), "outcome")
    status = Status(told.get("status"))
    message = read(dict[str, Any], told.get("message", {}), "message")
    if status is not Status.SUCCESS:
        raise RelayError(status, told.get("detail"), revision=message.get("revision"))
    return message


def no_answer(order: Order[Any]) -> RelayError:
    """The failure of a request that the agent has not answered in time."""
    return RelayError(
        Status.OUTCOME_UNKNOWN, f"the agent of this device has not answered within {order.seconds:g} s")


def _answer(notice: Notice) -> dict[str, Any]:
    return dict(outcome(notice))


def _nothing(notice: Notice) -> None:
    outcome(notice)


def text(name: str, value: str, most: int) -> str:
    """A text of so many bytes at most."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be a text, not {type(value).__name__}")
    check_unicode(value, name)
    size = len(value.encode())
    if size > most:
        raise MessageFault(f"{name} has {size} bytes; at most {most} are allowed")
    return value


def command_id(command: uuid.UUID | str | None) -> uuid.UUID:
    """A command's id: the given one, or one that is drawn."""
    try:
        return command if isinstance(command, uuid.UUID) else uuid.uuid4() if command is None else uuid.UUID(command)
    except (ValueError, AttributeError, TypeError):
        raise ValueError(f"a command's id is a UUID, not {command!r}") from None


def device_id(device: Device | str) -> str:
    """The id of a device that is named by itself, or by its id."""
    return text("the device's id", device.id if isinstance(device, Device) else device, 64)


# Commands to other devices


def _command(
    order: Message, device: str, seconds: float, command: uuid.UUID | str | None,
    read_answer: Callable[[Notice], Value], *, waits: bool = False, patience: float | None = None
) -> Order[Value]:
    if not 0 < seconds <= LONGEST_WAIT:
        raise ValueError(f"the seconds must be a number above 0 and up to {LONGEST_WAIT}, not {seconds}")
    id = command_id(command)
    request = {
        "type": "command", "device": device, "order": order, "id": id, "deadline": int((time.time() + seconds) * 1000)}
    if waits:
        request["waits"] = True
    return Order(request, read_answer, patience or seconds + PATIENCE, id)


def _asking(type: str, app: str, service: str, message: Message, limit: int) -> Message:
    encode(message, min(limit, LARGEST_LIMIT))
    return {
        "type": type, "app": text("the app", app, 1024), "service": text("the service", service, 1024),
        "message": message}


def call(
    device: Device | str, app: str, service: str, message: Message, seconds: float, command: uuid.UUID | str | None,
    limit: int, waits: bool
) -> Order[dict[str, Any]]:
    order = _asking("call", app, service, message, limit)
    return _command(order, device_id(device), seconds, command, _answer, waits=waits)


def tell(
    device: Device | str, app: str, service: str, message: Message, ttl: float, command: uuid.UUID | str | None,
    limit: int
) -> Order[uuid.UUID]:
    id = command_id(command)

    def kept(notice: Notice) -> uuid.UUID:
        outcome(notice)
        return id

    order = _asking("tell", app, service, message, limit)
    return _command(order, device_id(device), ttl, id, kept, patience=KEEPING_SECONDS)


def open_connection(device: Device | str, app: str, service: str, seconds: float, id: uuid.UUID) -> Order[None]:
    order = {"type": "open", "app": text("the app", app, 1024), "service": text("the service", service, 1024)}
    return _command(order, device_id(device), seconds, id, _nothing)


def send(
    connection: uuid.UUID, message: Message, seconds: float, command: uuid.UUID | str | None, limit: int
) -> Order[dict[str, Any]]:
    encode(message, min(limit, LARGEST_LIMIT))
    return _command({"type": "send", "connection": connection, "message": message}, "", seconds, command, _answer)


def launch(
    device: Device | str, uri: str, app: str | None, fallback: str | None, input: Message | None, seconds: float,
    command: uuid.UUID | str | None
) -> Order[None]:
    order: dict[str, Any] = {"type": "launch", "uri": text("the address", uri, 8192)}
    if app is not None:
        order["app"] = text("the app", app, 1024)
    if fallback is not None:
        order["fallback"] = text("the fallback", fallback, 8192)
    if input:
        encode(input, DEFAULT_LIMIT)
        order["input"] = input
    return _command(order, device_id(device), seconds, command, _nothing)


# What is asked of the agent itself


def find(device: str) -> Order[Device]:
    def found(notice: Notice) -> Device:
        if notice["type"] == "answered":
            outcome(notice)
        return read(Device, notice.get("device"), "device")

    return Order({"type": "find", "device": text("the device's id", device, 64)}, found, AGENT_SECONDS)


def life(command: uuid.UUID | str) -> Order[Life]:
    def told(notice: Notice) -> Life:
        return read(Life, {("state" if key == "life" else key): value for key, value in notice.items()}, "life")

    return Order({"type": "life", "id": command_id(command)}, told, AGENT_SECONDS)


def cancel(command: uuid.UUID | str) -> Order[bool]:
    def was_under_way(notice: Notice) -> bool:
        return bool(read(dict[str, Any], notice.get("outcome"), "outcome").get("status") == "success")

    return Order({"type": "cancel", "id": command_id(command)}, was_under_way, AGENT_SECONDS)


def publish(
    services: Mapping[str, Access], schemes: Collection[str], attributes: Mapping[str, str]
) -> Order[None]:
    """Offers services, and schemes of addresses."""
    for name, values, most in (("services", services, SERVICES_LIMIT), ("schemes", schemes, SCHEMES_LIMIT)):
        if len(values) > most:
            raise MessageFault(f"{len(values)} {name}; at most {most} are allowed")
    text("attributes, taken together,", "".join(k + v for k, v in attributes.items()), ATTRIBUTES_LIMIT)
    request: dict[str, Any] = {
        "type": "publish",
        "services": [{"name": name, "access": Access(access).value} for name, access in services.items()]}
    if schemes:
        request["schemes"] = sorted(schemes)
    if attributes:
        request["attributes"] = dict(attributes)
    return Order(request, _nothing, AGENT_SECONDS)


def checked_service(name: str) -> str:
    """The name of a service that can be called."""
    if not text("the name of a service", name, 255):
        raise MessageFault("a service has no name")
    return name


def checked_scheme(scheme: str) -> str:
    """A scheme that can be opened, or `*` for all."""
    if scheme != "*" and not re.fullmatch(r"[A-Za-z][A-Za-z0-9+.-]{0,1023}", scheme):
        raise MessageFault(f"{scheme!r} is no scheme: a letter, then letters, digits, +, - and ., without the colon")
    if scheme.lower() in NEVER_OPENED:
        raise MessageFault(f"addresses of the scheme {scheme} are never opened")
    return scheme


# What is answered to other devices


def success(call: int, message: Message | None) -> Message:
    """The answer to a question, or to a launch; a failure where the answer cannot be sent."""
    if message is None:
        return {"type": "answer", "call": call, "outcome": {"status": "success"}}
    try:
        encode(message, LARGEST_LIMIT, whole="the answer")
    except MessageFault as fault:
        return failure(call, Status.TOO_LARGE if fault.is_too_large else Status.FAILED, str(fault))
    return {"type": "answer", "call": call, "outcome": {"status": "success", "message": message}}


def failure(call: int, status: Status, detail: str | None = None) -> Message:
    """The answer that something was not done; of the detail the first 4,096 bytes are told."""
    told = {"status": status.value}
    if detail:
        data = detail.encode(errors="replace")
        is_short = len(data) <= LONGEST_DETAIL
        told["detail"] = data.decode() if is_short else data[:LONGEST_DETAIL - 3].decode(errors="ignore") + "…"
    return {"type": "answer", "call": call, "outcome": told}


def failure_of(call: int, fault: Exception) -> Message:
    """What is told of an exception of a handler: the text of one that is meant for the caller, else its class alone."""
    if isinstance(fault, ServiceFailure):
        return failure(call, Status.FAILED, str(fault))
    return failure(call, Status.FAILED, f"the service could not answer: {type(fault).__name__}")
