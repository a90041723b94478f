"""Requests for notifications, and notifications that came."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, field
from typing import Any

from aldaba._agent_codec import MalformedMessage, Wired, read, written
from aldaba._agent_content import Content, json_object
from aldaba._agent_payload import content_of_payload
from aldaba._agent_triggers import Trigger, read_trigger

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


@dataclass(frozen=True)
class Request(Wired):
    """A notification that an app asks for: at once, or when its trigger fires.

    A later request with the same identifier replaces this one.
    """

    identifier: str
    content: Content
    trigger: Trigger | None = None

    @classmethod
    def _read(cls, value: object, path: str) -> Request:
        if not isinstance(value, dict):
            raise MalformedMessage(f"{path}: an object is expected")
        content = read(Content, value.get("content"), f"{path}.content")
        return cls(read(str, value.get("identifier"), f"{path}.identifier"), content, read_trigger(
            value.get("trigger"), f"{path}.trigger"))

    def _written(self) -> Any:
        made = {"identifier": self.identifier, "content": written(self.content)}
        return made if self.trigger is None else made | {"trigger": written(self.trigger)}


@dataclass(frozen=True)
class Notification(Wired):
    """A notification that came. `id` is positive for one of a provider's, and negative for a local one.

    `identifier` is that of the request, the collapse id, or the `apns-id`. `milliseconds` is when it was accepted,
    since 1970 UTC. `payload_text` is the payload's JSON text; `{}` for a local notification.
    """

    id: int
    identifier: str
    topic: str
    milliseconds: int
    payload_text: str = "{}"
    apns_id: str | None = None
    own_content: Content | None = None
    trigger: Trigger | None = None

    @property
    def is_remote(self) -> bool:
        """Whether a provider sent it."""
        return self.id > 0

    @property
    def date(self) -> datetime.datetime:
        """When it was accepted. Raises `OverflowError` for a year that `datetime` does not have."""
        return EPOCH + datetime.timedelta(milliseconds=self.milliseconds)

    @property
    def payload(self) -> dict[str, Any]:
        """The payload; empty where its text is no JSON object."""
        try:
            return json_object(self.payload_text, "payload")
        except MalformedMessage:
            return {}

    @property
    def content(self) -> Content:
        """The content, which is that of the payload where the agent gave no other."""
        return self.own_content or content_of_payload(self.payload)

    @classmethod
    def _read(cls, value: object, path: str) -> Notification:
        members = read(_WrittenNotification, value, path)
        trigger = read_trigger(value.get("trigger"), f"{path}.trigger") if isinstance(value, dict) else None
        return cls(
            members.id, members.identifier, members.topic, members.date, members.payload, members.apns_id,
            members.content, trigger)

    def _written(self) -> Any:
        made = written(_WrittenNotification(
            self.id, self.identifier, self.topic, self.milliseconds, self.payload_text, self.apns_id, self.own_content))
        return made if self.trigger is None else made | {"trigger": written(self.trigger)}


@dataclass(frozen=True)
class _WrittenNotification:
    """The members of a notification as they are in JSON, but its trigger."""

    id: int
    identifier: str
    topic: str
    date: int
    payload: str
    apns_id: str | None = field(default=None, metadata={"key": "apnsID"})
    content: Content | None = None
