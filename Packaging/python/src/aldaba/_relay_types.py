"""What an app learns of a person's other devices, and how what it asks of them ends."""

from __future__ import annotations

import enum
import threading
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


# The systems that a filter names; any other one is the empty text there.
PLATFORMS = ("windows", "android", "ios", "linux")


class Status(str, enum.Enum):
    """How a command ended. A word of a later version is read as `FAILED`."""

    SUCCESS = "success"
    FAILED = "failed"
    APP_NOT_INSTALLED = "appNotInstalled"
    APP_UNAVAILABLE = "appUnavailable"
    SERVICE_UNAVAILABLE = "serviceUnavailable"
    NOT_AUTHORIZED = "notAuthorized"
    PROTOCOL_UNAVAILABLE = "protocolUnavailable"
    DENIED = "denied"
    REFUSED_HERE = "refusedHere"
    TOO_LARGE = "tooLarge"
    RESOURCE_LIMITS = "resourceLimits"
    NETWORK_UNAVAILABLE = "networkUnavailable"
    UNKNOWN_DEVICE = "unknownDevice"
    NOT_DELIVERED = "notDelivered"
    EXPIRED = "expired"
    OUTCOME_UNKNOWN = "outcomeUnknown"
    CANCELLED = "cancelled"
    CONNECTION_CLOSED = "connectionClosed"
    CONFLICT = "conflict"
    NOT_FOUND = "notFound"

    @classmethod
    def _missing_(cls, value: object) -> Status:
        return cls.FAILED


class RelayError(Exception):
    """A command that did not succeed. `status` is how it ended; `detail`, where there is one, is for people."""

    def __init__(self, status: Status, detail: str | None = None, *, revision: int | None = None) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail
        # Of `CONFLICT`: the document's present revision, 0 where there is none.
        self.revision = revision

    def __str__(self) -> str:
        return f"{self.detail} ({self.status.value})" if self.detail else self.status.value


class ServiceFailure(Exception):
    """Raised by a handler of a service: the caller is told that it failed, with this text."""


class Access(str, enum.Enum):
    """Who may call a service: nobody, the person's own devices, those that the person has named, or anyone."""

    OFF = "off"
    SAME_USER = "sameUser"
    GRANTED = "granted"
    ANYONE = "anyone"


class Presence(str, enum.Enum):
    """Whether a device or an app is there, can be started or woken, or is away."""

    ONLINE = "online"
    WAKEABLE = "wakeable"
    OFFLINE = "offline"

    @classmethod
    def _missing_(cls, value: object) -> Presence:
        return cls.OFFLINE


class CommandState(str, enum.Enum):
    """Where a command stands."""

    REQUESTING = "requesting"
    SENT = "sent"
    EXECUTING = "executing"
    COMPLETED = "completed"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"


class CloseReason(str, enum.Enum):
    """Why a connection between two apps ended."""

    COMPLETED = "completed"
    CANCELLED = "cancelled"
    RESOURCE_LIMITS = "resourceLimits"
    IDLE = "idle"
    UNKNOWN = "unknown"

    @classmethod
    def _missing_(cls, value: object) -> CloseReason:
        return cls.UNKNOWN


class ChangeKind(str, enum.Enum):
    """What a watcher tells: a device, or that all that existed were told, or that devices cannot be found now."""

    ADDED = "added"
    UPDATED = "updated"
    REMOVED = "removed"
    COMPLETED = "enumerationCompleted"
    FAILED = "watchFailed"


@dataclass(frozen=True)
class App:
    """An app on another device, and what it offers to this one."""

    id: str
    name: str
    presence: Presence
    services: tuple[str, ...] = ()
    schemes: tuple[str, ...] = ()
    attributes: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Device:
    """Another device. `reach` is `direct`, `relay`, `wake` (by a push) or `None`: not at present."""

    id: str
    name: str
    kind: str
    platform: str
    presence: Presence
    apps: tuple[App, ...] = ()
    reach: str | None = None
    manufacturer: str = ""
    model: str = ""

    def app(self, id: str) -> App | None:
        """The app of this bundle id, where the device has told of it."""
        return next((each for each in self.apps if each.id == id), None)


@dataclass(frozen=True)
class DeviceFilter:
    """Which devices are wanted: those that have all that is named.

    `available`: it is there or can be woken. `direct`: it is reached without the server, or is not.
    """

    kinds: tuple[str, ...] | None = None
    platforms: tuple[str, ...] | None = None
    available: bool = False
    direct: bool | None = None

    def passes(self, device: Device) -> bool:
        """Whether a device is wanted."""
        return (
            (self.kinds is None or device.kind.lower() in [each.lower() for each in self.kinds])
            and (self.platforms is None or self._platform(device) in self.platforms)
            and (not self.available or device.presence is not Presence.OFFLINE)
            and (self.direct is None or self.direct is (device.reach == "direct")))

    @staticmethod
    def _platform(device: Device) -> str:
        return device.platform if device.platform in PLATFORMS else ""

    def request(self) -> dict[str, Any]:
        """The filter as the agent reads it."""
        members: dict[str, Any] = {"available": True} if self.available else {}
        for name, texts in (("kinds", self.kinds), ("platforms", self.platforms)):
            if texts is not None:
                members[name] = list(texts)
        return members if self.direct is None else members | {"direct": self.direct}


@dataclass(frozen=True)
class Change:
    """What a watcher tells: `device` of a device, `reason` of a failure. After a failure the watching goes on."""

    kind: ChangeKind
    device: Device | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Life:
    """Where a command stands, and how it ended; a `state` of `None` is that of a command that is not known."""

    state: CommandState | None = None
    status: Status | None = None
    detail: str | None = None


@dataclass(frozen=True)
class Question:
    """What an app on another device asks of a service here.

    `id` is the command's; a one-way message may come a second time under it. `connection` is the id of the connection
    over which it came, if any. `cancelled` is set when nobody waits for the answer any more.
    """

    call: int = field(repr=False)
    id: uuid.UUID
    device: str
    app: str
    service: str
    caller: str
    message: dict[str, Any]
    deadline: int | None = None
    connection: uuid.UUID | None = None
    one_way: bool = False
    cancelled: threading.Event = field(default_factory=threading.Event, repr=False, compare=False, metadata={"key": ""})

    @property
    def deadline_date(self) -> datetime | None:
        """Until when the answer is wanted."""
        return None if self.deadline is None else datetime.fromtimestamp(self.deadline / 1000).astimezone()


@dataclass(frozen=True)
class Launch:
    """An address that another device has this app open.

    `cancelled` is set when nobody waits for the result any more.
    """

    call: int = field(repr=False)
    device: str
    uri: str
    caller: str
    app: str | None = None
    fallback: str | None = None
    preferred_apps: tuple[str, ...] = ()
    input: dict[str, Any] = field(default_factory=dict)
    cancelled: threading.Event = field(default_factory=threading.Event, repr=False, compare=False, metadata={"key": ""})


class RelayEnd:
    """One end of a connection between two apps; the shells' own classes add to it."""

    def __init__(self, id: uuid.UUID, device: str, app: str, service: str, caller: str | None) -> None:
        self.id = id
        self.device = device
        self.app = app
        self.service = service
        # The app that has opened it, where another device has; None for one that was opened here.
        self.caller = caller
        # Why it ended; None while it is open.
        self.closed: CloseReason | None = None
        self._on_question: Callable[..., Any] | None = None
        self._on_closed: Callable[..., Any] | None = None


@dataclass(frozen=True)
class ConnectionOpened:
    connection: RelayEnd


@dataclass(frozen=True)
class ConnectionEnded:
    connection: RelayEnd
    reason: CloseReason
