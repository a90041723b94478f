"""Waiting for a container."""


class LogMessageWaitStrategy:
    """Waits for a message in the container's log."""

    def __init__(self, message, times=1):
        self.message = message
