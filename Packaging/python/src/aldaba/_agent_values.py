"""What an app is told by the agent beside notifications: answers, responses, settings, failures."""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from dataclasses import dataclass, field

from aldaba._agent_content import Action
from aldaba._agent_notification import EPOCH, Notification
from aldaba._agent_options import DISMISS, OPEN, AppState, CategoryOptions, OpeningOutcome


class AgentError(Exception):
    """A failure that the agent reports, or of the connection to it.

    `code` is a stable text, or the number of a code of Apple's `UNError`; `message` is a sentence.
    """

    def __init__(self, code: str | int, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.message} ({self.code})"


@dataclass(frozen=True)
class Category:
    """A kind of notification with its buttons."""

    identifier: str
    actions: tuple[Action, ...] = ()
    options: CategoryOptions = CategoryOptions.NONE
    intent_identifiers: tuple[str, ...] = ()
    hidden_previews_body_placeholder: str | None = None
    category_summary_format: str | None = None


@dataclass(frozen=True)
class Response:
    """A person's answer to a notification: the identifier of the action, and the text where one was typed."""

    id: int = field(metadata={"key": "response"})
    action: str
    notification: Notification
    user_text: str | None = None

    @property
    def is_opening(self) -> bool:
        """Whether the notification itself was opened."""
        return self.action == OPEN

    @property
    def is_dismissal(self) -> bool:
        """Whether the notification was dismissed."""
        return self.action == DISMISS


@dataclass(frozen=True)
class Settings:
    """What an app may do. The numbers are those of `AuthorizationStatus` and `Setting`.

    `alert_style` is 0 for none, 1 for banners, 2 for alerts; `show_previews_setting` is 0 for always, 1 while the
    screen is not locked, 2 for never.
    """

    authorization_status: int
    alert_setting: int
    sound_setting: int
    badge_setting: int
    notification_center_setting: int
    alert_style: int
    critical_alert_setting: int = 0
    time_sensitive_setting: int = 0
    show_previews_setting: int = 0
    lock_screen_setting: int = 0
    provides_app_notification_settings: bool = False


@dataclass(frozen=True)
class Welcome:
    """The agent's answer to an app that connects.

    `authorization` is a number of `AuthorizationStatus`; `launch_notification` is the notification whose opening
    started the app.
    """

    state: AppState
    authorization: int
    launch_notification: Notification | None = None


@dataclass(frozen=True)
class Authorization:
    """The answer to a request for permissions. `reason` says why nobody was asked."""

    granted: bool
    reason: str | None = None


@dataclass(frozen=True)
class Opening:
    """What became of an address, and for a refused one why."""

    outcome: OpeningOutcome
    message: str | None = None


@dataclass(frozen=True)
class UpstreamMessage:
    """A message to the app's provider. `to` is `SENDER@gcm.googleapis.com` or a team; `time_to_live` is in seconds."""

    id: str
    to: str
    data: Mapping[str, str] = field(hash=False)
    time_to_live: int = 86_400


@dataclass(frozen=True)
class UpstreamEnd:
    """What became of a message to the provider. Without a `code` the server has it."""

    id: str
    code: str | None = None


@dataclass(frozen=True)
class DeletedMessages:
    """Notifications that were deleted on the server before they came: how many, and since when in milliseconds since
    1970."""

    count: int
    since: int

    @property
    def date(self) -> datetime.datetime:
        """When the first of them was deleted."""
        return EPOCH + datetime.timedelta(milliseconds=self.since)
