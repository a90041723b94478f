"""The requests of an app: the message of each, and the value of its answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from aldaba._agent_codec import Message, read, read_fields, written
from aldaba._agent_notification import Notification, Request
from aldaba._agent_options import AuthorizationOptions
from aldaba._agent_values import AgentError, Authorization, Category, Opening, Settings, UpstreamMessage

Value = TypeVar("Value")


@dataclass(frozen=True)
class Call(Generic[Value]):
    """A request: its message without a number, the type of its answer, and how the answer is read.

    `read` raises `AgentError` for an answer that refuses.
    """

    message: Message
    answer: str
    read: Callable[[Message], Value]
    # Whether it is sent again on the next connection.
    is_repeated: bool = True
    # The code of a refusal that says, of a request that was sent again, that it was done the first time.
    done_code: str | None = None


def _nothing(_: Message) -> None:
    return None


def request_authorization(options: AuthorizationOptions) -> Call[Authorization]:
    return Call(
        {"type": "requestAuthorization", "options": int(options)}, "authorizationAnswered",
        lambda answer: read(Authorization, answer))


def settings() -> Call[Settings]:
    return Call({"type": "getSettings"}, "settings", lambda answer: read(Settings, answer))


def open_url(url: str, is_trial: bool) -> Call[Opening]:
    message = {"type": "open", "url": url} | ({"isTrial": True} if is_trial else {})
    return Call(message, "opened", lambda answer: read(Opening, answer), is_repeated=False)


# The notification centre


def _center(command: str, read_answer: Callable[[Message], Value], **members: object) -> Call[Value]:
    def value(answer: Message) -> Value:
        if answer.get("answer") == "failed":
            raise AgentError(read(int, answer.get("code"), "code"), read(str, answer.get("message"), "message"))
        return read_answer(answer)

    return Call({"type": "center", "command": command} | written(members), "centerAnswered", value)


def _identified(identifiers: Iterable[str] | None) -> dict[str, object]:
    if isinstance(identifiers, str):
        raise TypeError(f"identifiers are a list of texts, such as [{identifiers!r}]")
    return {} if identifiers is None else {"identifiers": list(identifiers)}


def add(request: Request) -> Call[None]:
    return _center("add", _nothing, notification=request)


def pending() -> Call[list[Request]]:
    return _center("pending", lambda answer: list(read_fields(_Requests, answer, "").requests))


def remove_pending(identifiers: Iterable[str] | None) -> Call[None]:
    return _center("removePending", _nothing, **_identified(identifiers))


def delivered() -> Call[list[Notification]]:
    return _center("delivered", lambda answer: list(read_fields(_Notifications, answer, "").notifications))


def remove_delivered(identifiers: Iterable[str] | None) -> Call[None]:
    return _center("removeDelivered", _nothing, **_identified(identifiers))


def set_categories(categories: Iterable[Category]) -> Call[None]:
    return _center("setCategories", _nothing, categories=list(categories))


def categories() -> Call[list[Category]]:
    return _center("categories", lambda answer: list(read_fields(_Categories, answer, "").categories))


def set_badge(number: int) -> Call[None]:
    return _center("setBadge", _nothing, badge=number)


def badge() -> Call[int]:
    return _center("badge", lambda answer: read(int, answer.get("badge"), "badge"))


@dataclass(frozen=True)
class _Requests:
    requests: tuple[Request, ...]


@dataclass(frozen=True)
class _Notifications:
    notifications: tuple[Notification, ...]


@dataclass(frozen=True)
class _Categories:
    categories: tuple[Category, ...]


# The direct channel, whose requests are answered `accepted` or `refused`


def _accepted(answer: Message) -> None:
    if answer.get("event") == "refused":
        raise AgentError(read(str, answer.get("code"), "code"), read(str, answer.get("message"), "message"))


def unregister() -> Call[None]:
    return Call({"type": "unregisterForRemoteNotifications"}, "channel", _accepted)


def send(message: UpstreamMessage) -> Call[None]:
    return Call({"type": "channel", "command": "send", "draft": written(message)}, "channel", _accepted)


def topic(name: str, joins: bool) -> Call[None]:
    return Call({"type": "channel", "command": "topic", "topic": name, "joins": joins}, "channel", _accepted)


# Service extensions


def fetch(url: str, type_hint: str | None, spread: float) -> Call[str]:
    message: Message = {"type": "fetch", "url": url}
    if type_hint is not None:
        message["typeHint"] = type_hint
    if spread:
        message["spread"] = spread
    return Call(message, "fetched", _fetched)


def _fetched(answer: Message) -> str:
    if answer.get("path") is None:
        raise AgentError(read(str, answer.get("reason"), "reason"), read(str, answer.get("message", ""), "message"))
    return read(str, answer["path"], "path")
