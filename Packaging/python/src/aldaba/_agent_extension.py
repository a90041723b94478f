"""Service extensions: programs that change a notification before it is shown. The agent starts them."""

from __future__ import annotations

import asyncio
import threading
from typing import Protocol

from aldaba import _agent_calls as calls
from aldaba._agent_asyncio import AsyncClient
from aldaba._agent_blocking import BlockingClient
from aldaba._agent_content import Content
from aldaba._agent_events import ClientClosed, Event, ExtensionBegan, ExtensionExpires
from aldaba._agent_handlers import app_id, default_path, logger
from aldaba._agent_notification import Notification
from aldaba._agent_protocol import AgentProtocol
from aldaba._agent_session import EXTENSION

HANDLED: set[type] = {ExtensionBegan, ExtensionExpires, ClientClosed}


class Fetch(Protocol):
    """Has the agent fetch a file, and returns its path. Raises `AgentError`, whose code is the reason.

    `type_hint` is a name's ending, a MIME type or a uniform type identifier. `spread` is the number of seconds over
    which the sender wants devices to spread themselves.
    """

    def __call__(self, url: str, *, type_hint: str | None = None, spread: float = 0.0) -> str: ...


class AsyncFetch(Protocol):
    """Has the agent fetch a file, as `Fetch` does."""

    async def __call__(self, url: str, *, type_hint: str | None = None, spread: float = 0.0) -> str: ...


def _protocol(app: str | None) -> AgentProtocol:
    return AgentProtocol(app_id(app), role=EXTENSION)


class ServiceExtension(BlockingClient):
    """The base of a service extension. A subclass has `change`, and the program calls `run`."""

    def __init__(self, app: str | None = None, *, path: str | None = None) -> None:
        BlockingClient.__init__(self, _protocol(app), path or default_path())
        self._ended = threading.Event()

    def change(self, notification: Notification, fetch: Fetch) -> Content | None:
        """The content with which a notification is shown; `None` leaves it as it came."""
        raise NotImplementedError

    def expire(self, notification: Notification) -> Content | None:
        """The content to show when the time of `change` is almost over; `None` waits for `change` until the end.

        It is called in another thread than `change`, which has not returned.
        """
        return None

    def run(self) -> None:
        """Changes notifications until the agent ends the connection."""
        with self:
            self._ended.wait()

    def fetch(self, url: str, *, type_hint: str | None = None, spread: float = 0.0) -> str:
        """Has the agent fetch a file, and returns its path."""
        return self._ask(calls.fetch(url, type_hint, spread), None)

    def _dispatched(self) -> set[type]:
        return HANDLED

    def _handle(self, event: Event) -> None:
        if isinstance(event, ExtensionBegan):
            threading.Thread(target=self._change, args=(event.notification,), daemon=True).start()
        elif isinstance(event, ExtensionExpires):
            with self._changed:
                open_ = self._protocol.extending(event.notification)
            if open_ is not None:
                threading.Thread(target=self._expire, args=(open_,), daemon=True).start()
        else:
            self._ended.set()

    def _change(self, notification: Notification) -> None:
        try:
            content = self.change(notification, self.fetch)
            self._did(lambda: self._protocol.extended(notification.id, content))
        except BaseException as fault:
            logger.exception("the notification %d was not changed", notification.id)
            text = str(fault) or type(fault).__name__
            self._did(lambda: self._protocol.extension_failed(notification.id, text))

    def _expire(self, notification: Notification) -> None:
        try:
            content = self.expire(notification)
            if content is not None:
                self._did(lambda: self._protocol.extended(notification.id, content))
        except BaseException:
            logger.exception("the extension could not end the notification %d in time", notification.id)


class AsyncServiceExtension(AsyncClient):
    """The base of a service extension whose methods are asynchronous.

    A subclass has `change`, and the program awaits `run`.
    """

    def __init__(self, app: str | None = None, *, path: str | None = None) -> None:
        AsyncClient.__init__(self, _protocol(app), path or default_path())
        self._ended = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    async def change(self, notification: Notification, fetch: AsyncFetch) -> Content | None:
        """The content with which a notification is shown; `None` leaves it as it came."""
        raise NotImplementedError

    async def expire(self, notification: Notification) -> Content | None:
        """The content to show when the time of `change` is almost over; `None` waits for `change` until the end."""
        return None

    async def run(self) -> None:
        """Changes notifications until the agent ends the connection."""
        async with self:
            await self._ended.wait()

    async def close(self) -> None:
        """Ends the connection, and what is being changed. A second call does nothing."""
        await super().close()
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(set(self._tasks))

    async def fetch(self, url: str, *, type_hint: str | None = None, spread: float = 0.0) -> str:
        """Has the agent fetch a file, and returns its path."""
        return await self._ask(calls.fetch(url, type_hint, spread))

    def _dispatched(self) -> set[type]:
        return HANDLED

    async def _handle(self, event: Event) -> None:
        if isinstance(event, ExtensionBegan):
            self._begin(event.notification, is_expiring=False)
        elif isinstance(event, ExtensionExpires):
            notification = self._protocol.extending(event.notification)
            if notification is not None:
                self._begin(notification, is_expiring=True)
        else:
            self._ended.set()

    def _begin(self, notification: Notification, *, is_expiring: bool) -> None:
        task = asyncio.create_task(self._expire(notification) if is_expiring else self._change(notification))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _change(self, notification: Notification) -> None:
        try:
            content = await self.change(notification, self.fetch)
            self._did(lambda: self._protocol.extended(notification.id, content))
        except Exception as fault:
            logger.exception("the notification %d was not changed", notification.id)
            text = str(fault) or type(fault).__name__
            self._did(lambda: self._protocol.extension_failed(notification.id, text))

    async def _expire(self, notification: Notification) -> None:
        try:
            content = await self.expire(notification)
            if content is not None:
                self._did(lambda: self._protocol.extended(notification.id, content))
        except Exception:
            logger.exception("the extension could not end the notification %d in time", notification.id)
