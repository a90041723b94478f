"""What a relaying app offers: the handlers by which it answers other devices."""

from __future__ import annotations

import inspect
import os
import threading
import uuid
from collections.abc import Callable, Mapping
from typing import Any, Generic, TypeVar, Union

from aldaba import _relay_requests as requests
from aldaba._agent_handlers import logger
from aldaba._agent_values import AgentError
from aldaba._relay_requests import Order
from aldaba._relay_streams import Taking
from aldaba._relay_types import Access, Launch, Question, RelayEnd, ServiceFailure, Status
from aldaba._relay_values import Message

AnswerType = TypeVar("AnswerType")
LaunchType = TypeVar("LaunchType")
NothingType = TypeVar("NothingType")
ConnectionType = TypeVar("ConnectionType", bound=RelayEnd)
StreamType = TypeVar("StreamType", bound=Taking)
NO_QUESTIONS = "the app does not take questions here"


# The clients that are connected, by the process, the socket and the app: the agent keeps one connection of each process
# to relay for an app, and two clients would end each other's.
_connected: dict[tuple[int, str, str], object] = {}
_connecting = threading.Lock()

CommandId = Union[uuid.UUID, str, None]


class Offers(Generic[ConnectionType, StreamType, AnswerType, LaunchType, NothingType]):
    """The methods by which an app names its handlers.

    Each is used as a decorator. `connect` publishes the services and schemes that are named by then.
    """

    _takes_coroutines = False

    def __init__(self, attributes: Mapping[str, str] | None) -> None:
        # What the app tells of itself, published with its services: at most 4 KiB.
        self.attributes = dict(attributes or {})
        self._services: dict[str, tuple[Access, Callable[..., Any]]] = {}
        self._stream_services: dict[str, tuple[Access, Callable[..., Any]]] = {}
        self._schemes: dict[str, Callable[..., Any]] = {}
        self._connection_handler: Callable[..., Any] | None = None
        self._end_handler: Callable[..., Any] | None = None

    def _checked(self, handler: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.iscoroutinefunction(handler) and not self._takes_coroutines:
            raise TypeError(f"{handler.__name__} is asynchronous: AsyncRelay takes such handlers")
        return handler

    def service(
        self, name: str, access: Access = Access.SAME_USER
    ) -> Callable[[Callable[[Question], AnswerType]], Callable[[Question], AnswerType]]:
        """Answers the questions of other devices to a service.

        The handler returns the answer; `None` is an empty one. An exception is answered as a failure, with its class
        alone; `ServiceFailure` with its text.
        """
        requests.checked_service(name)

        def set_handler(handler: Callable[[Question], AnswerType]) -> Callable[[Question], AnswerType]:
            self._services[name] = (Access(access), self._checked(handler))
            return handler

        return set_handler

    def receives(
        self, name: str, access: Access = Access.SAME_USER
    ) -> Callable[[Callable[[StreamType], NothingType]], Callable[[StreamType], NothingType]]:
        """Takes the streams that other devices send to a service; one that the handler does not read is refused.

        A service may answer questions as well, with the same access.
        """
        requests.checked_service(name)

        def set_handler(handler: Callable[[StreamType], NothingType]) -> Callable[[StreamType], NothingType]:
            self._stream_services[name] = (Access(access), self._checked(handler))
            return handler

        return set_handler

    def _stream_handler(self, service: str) -> Callable[..., Any] | None:
        found = self._stream_services.get(service)
        return found[1] if found else None

    def opens(
        self, *schemes: str
    ) -> Callable[[Callable[[Launch], LaunchType]], Callable[[Launch], LaunchType]]:
        """Opens the addresses of some schemes that other devices send; `*` stands for all schemes.

        The handler returns `False` where it did not open the address.
        """
        if not schemes:
            raise ValueError("no scheme is named; `*` stands for all")

        def set_handler(handler: Callable[[Launch], LaunchType]) -> Callable[[Launch], LaunchType]:
            for scheme in schemes:
                self._schemes[requests.checked_scheme(scheme).lower()] = self._checked(handler)
            return handler

        return set_handler

    def on_connection(
        self, handler: Callable[[ConnectionType], NothingType]
    ) -> Callable[[ConnectionType], NothingType]:
        """Is called when another device opens a connection to a service, before its first question."""
        self._connection_handler = self._checked(handler)
        return handler

    def on_closed(self, handler: Callable[[AgentError], NothingType]) -> Callable[[AgentError], NothingType]:
        """Handles the end of the client by the agent, such as `superseded`. The client does not connect again."""
        self._end_handler = self._checked(handler)
        return handler

    def _offer(self) -> Order[None] | None:
        """What is to be published; `None` for an app that offers nothing."""
        services: dict[str, Access] = {}
        for name, (access, _) in [*self._services.items(), *self._stream_services.items()]:
            if services.setdefault(name, access) is not access:
                raise ValueError(f"the service {name} has two kinds of access")
        if not services and not self._schemes and not self.attributes:
            return None
        return requests.publish(services, self._schemes, self.attributes)

    def _answering(self, question: Question, connection: RelayEnd | None) -> Callable[..., Any] | Message:
        """The handler of a question, or what is answered without one."""
        if question.connection is not None and (connection is None or connection.caller is None):
            # Over a connection that was opened here, the other end asks whoever opened it.
            handler = None if connection is None else connection._on_question
            return handler or requests.failure(question.call, Status.FAILED, NO_QUESTIONS)
        if connection is not None and connection._on_question is not None:
            return connection._on_question
        found = self._services.get(question.service)
        return found[1] if found else requests.failure(question.call, Status.SERVICE_UNAVAILABLE)

    def _opening(self, launch: Launch) -> Callable[..., Any] | Message:
        scheme = launch.uri.partition(":")[0].lower()
        return (
            self._schemes.get(scheme) or self._schemes.get("*")
            or requests.failure(launch.call, Status.PROTOCOL_UNAVAILABLE))


def answer_to(asked: Question | Launch, value: object) -> Message:
    """What is answered where a handler has returned a value."""
    if isinstance(asked, Launch):
        if value is None or value is True:
            return requests.success(asked.call, None)
        if value is False:
            return requests.failure(asked.call, Status.FAILED)
        raise TypeError(f"the handler of an address returned {value!r}, and not True, False or None")
    if asked.one_way or value is None:
        return requests.success(asked.call, {})
    if not isinstance(value, Mapping):
        raise TypeError(f"the handler of a question returned {value!r}, and not a dictionary or None")
    return requests.success(asked.call, value)


def log_fault(asked: Question | Launch, fault: Exception) -> None:
    """Notes that a handler failed, unless it meant to."""
    if not isinstance(fault, ServiceFailure):
        logger.error("the handler of a question of the device %s failed", asked.device, exc_info=fault)


def claim(client: object, path: str, app: str) -> None:
    """Notes that a client connects. Raises `RuntimeError` where this process has one for the app already."""
    with _connecting:
        if _connected.setdefault((os.getpid(), path, app), client) is not client:
            raise RuntimeError(f"this process relays for {app} already; the agent takes one client of a process")


def release(client: object) -> None:
    """A client has ended."""
    with _connecting:
        for key in [key for key, each in _connected.items() if each is client]:
            del _connected[key]
