"""What a service made of a push, and how long to wait before the next attempt."""

import time
from dataclasses import dataclass

ATTEMPTS = 4
LONGEST_PAUSE = 60  # seconds


@dataclass(frozen=True)
class Outcome:
    """`reason` is the service's own word for a refusal, None for a push that was accepted."""

    status: int
    reason: str | None = None
    retry_after: int | None = None

    @property
    def is_accepted(self):
        return self.status == 200

    @property
    def is_temporary(self):
        return self.status in (0, 429, 500, 503)

    @property
    def is_gone(self):
        """Whether the token is to be forgotten."""
        return self.reason in ("Unregistered", "BadDeviceToken", "UNREGISTERED")


def with_retries(attempt, pause=time.sleep):
    """Calls `attempt` until its outcome is final, and returns that; between two calls it waits as the service asked."""
    for number in range(1, ATTEMPTS + 1):
        outcome = attempt()
        if not outcome.is_temporary or number == ATTEMPTS:
            return outcome
        pause(min(outcome.retry_after or 2 ** number, LONGEST_PAUSE))


def seconds(headers):
    """The number in `Retry-After`, or None."""
    text = headers.get("retry-after", "")
    return int(text) if text.isdigit() else None
