"""Names of the numbers and texts that the agent and its apps exchange. The numbers are Apple's."""

from __future__ import annotations

import enum

# The identifiers of the two actions that every notification has.
OPEN = "com.apple.UNNotificationDefaultActionIdentifier"
DISMISS = "com.apple.UNNotificationDismissActionIdentifier"


class AuthorizationOptions(enum.IntFlag):
    """The permissions that an app asks for."""

    BADGE = 1
    SOUND = 2
    ALERT = 4
    CAR_PLAY = 8
    CRITICAL_ALERT = 16
    PROVIDES_APP_NOTIFICATION_SETTINGS = 32
    PROVISIONAL = 64


class PresentationOptions(enum.IntFlag):
    """How a notification is shown while its app is in front. Without any option it is not shown."""

    BADGE = 1
    SOUND = 2
    LIST = 8
    BANNER = 16


class ActionOptions(enum.IntFlag):
    """The options of a notification's button."""

    NONE = 0
    AUTHENTICATION_REQUIRED = 1
    DESTRUCTIVE = 2
    FOREGROUND = 4


class CategoryOptions(enum.IntFlag):
    """The options of a category."""

    NONE = 0
    CUSTOM_DISMISS_ACTION = 1
    HIDDEN_PREVIEWS_SHOW_TITLE = 4
    HIDDEN_PREVIEWS_SHOW_SUBTITLE = 8


class AuthorizationStatus(enum.IntEnum):
    """Whether an app may notify."""

    NOT_DETERMINED = 0
    DENIED = 1
    AUTHORIZED = 2
    PROVISIONAL = 3
    EPHEMERAL = 4


class Setting(enum.IntEnum):
    """The state of a setting of an app."""

    NOT_SUPPORTED = 0
    DISABLED = 1
    ENABLED = 2


class InterruptionLevel(str, enum.Enum):
    """How much a notification may interrupt a person."""

    PASSIVE = "passive"
    ACTIVE = "active"
    TIME_SENSITIVE = "time-sensitive"
    CRITICAL = "critical"


class Kind(str, enum.Enum):
    """What an app is asked about a notification that it receives.

    `FOREGROUND`: how to show it. `BACKGROUND`: to fetch what it announces. `FOREGROUND_AND_BACKGROUND`: both, with one
    answer, which says how to show it. `CALL`: to report an incoming call of PushKit.
    """

    FOREGROUND = "foreground"
    BACKGROUND = "background"
    FOREGROUND_AND_BACKGROUND = "foregroundAndBackground"
    CALL = "call"

    @property
    def is_shown(self) -> bool:
        """Whether the answer says how the notification is shown."""
        return self in (Kind.FOREGROUND, Kind.FOREGROUND_AND_BACKGROUND)


class BackgroundResult(str, enum.Enum):
    """The result of handling a background notification or a call."""

    NEW_DATA = "newData"
    NO_DATA = "noData"
    FAILED = "failed"


class AppState(str, enum.Enum):
    """The state of an app in its life cycle."""

    ACTIVE = "active"
    INACTIVE = "inactive"
    BACKGROUND = "background"


class OpeningOutcome(str, enum.Enum):
    """What became of an address: the desktop took it, its scheme is the app's own, or it was refused."""

    OPENED = "opened"
    OWN = "own"
    REFUSED = "refused"
