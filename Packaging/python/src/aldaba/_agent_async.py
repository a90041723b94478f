"""`AsyncAgent`: an app of the agent's, for programs with asyncio."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Iterable
from typing import Union, cast

from aldaba import _agent_calls as calls
from aldaba._agent_activity_clients import AsyncActivities
from aldaba._agent_asyncio import AsyncClient
from aldaba._agent_events import ClientClosed, Event, MessageCame, NotificationCame, ResponseCame
from aldaba._agent_handlers import (
    Handlers, Outcome, app_id, arguments, checked_outcome, default_outcome, default_path, failed_outcome, logger,
    run_name)
from aldaba._agent_notification import Notification, Request
from aldaba._agent_options import AppState, AuthorizationOptions, BackgroundResult, PresentationOptions
from aldaba._agent_protocol import AgentProtocol
from aldaba._agent_sync import ALERTS, SHOWN
from aldaba._agent_values import Authorization, Category, Opening, Response, Settings, UpstreamMessage


class AsyncAgent(AsyncClient, Handlers[Union[Outcome, Awaitable[Outcome]], Union[None, Awaitable[None]]]):
    """A client of the agent for an app whose manifest is installed.

    Its methods are those of `Agent`, and are awaited.

    Handlers may be asynchronous. They are called one at a time, in the order in which events came, and may use the
    methods. Set them before `connect`, or before `async with`. A limit of time is that of `asyncio.wait_for`.
    """

    _takes_coroutines = True

    def __init__(
        self, app: str | None = None, *, secret: str | None = None, path: str | None = None, run: str | None = None,
        presents: PresentationOptions = SHOWN
    ) -> None:
        """Makes a client that is not connected. The arguments are those of `Agent`."""
        Handlers.__init__(self)
        protocol = AgentProtocol(app_id(app), secret=secret and secret.strip(), run=run_name(run))
        AsyncClient.__init__(self, protocol, path or default_path())
        self._presents = presents
        self.activities = AsyncActivities(self)

    # State

    @property
    def is_connected(self) -> bool:
        """Whether the agent has welcomed the app on a connection that is open."""
        return self._protocol.is_connected

    @property
    def token(self) -> str | None:
        """The device token, where there is one."""
        return self._protocol.token

    @property
    def state(self) -> AppState:
        """The state of the app in its life cycle."""
        return self._protocol.state

    @property
    def unconfirmed(self) -> list[int]:
        """The ids of what the app has handled and the agent has not confirmed."""
        return self._protocol.unconfirmed

    def enter(self, state: AppState) -> None:
        """Tells the agent that the app has entered a state by itself."""
        self._did(lambda: self._protocol.enter(state))

    # Permissions and the device token

    async def request_authorization(self, options: AuthorizationOptions = ALERTS) -> Authorization:
        """Asks the person, once, whether the app may notify."""
        return await self._ask(calls.request_authorization(options))

    async def settings(self) -> Settings:
        """What the app may do."""
        return await self._ask(calls.settings())

    async def register(self) -> str:
        """The device token, 64 hexadecimal digits, for providers. On each later connection it is asked for again."""
        return await self._answer(self._protocol.register)

    async def unregister(self) -> None:
        """Ends the device token."""
        await self._ask(calls.unregister())

    # The notification centre

    async def add(self, request: Request) -> None:
        """Shows a notification, at once or when its trigger fires."""
        await self._ask(calls.add(request))

    async def pending(self) -> list[Request]:
        """The requests whose trigger has not fired."""
        return await self._ask(calls.pending())

    async def remove_pending(self, identifiers: Iterable[str] | None = None) -> None:
        """Removes requests whose trigger has not fired; without identifiers all of them."""
        await self._ask(calls.remove_pending(identifiers))

    async def delivered(self) -> list[Notification]:
        """The app's notifications in the list."""
        return await self._ask(calls.delivered())

    async def remove_delivered(self, identifiers: Iterable[str] | None = None) -> None:
        """Removes notifications from the list; without identifiers all of the app's."""
        await self._ask(calls.remove_delivered(identifiers))

    async def set_categories(self, categories: Iterable[Category]) -> None:
        """Adds categories; one replaces an earlier one with its identifier. An empty list removes all."""
        await self._ask(calls.set_categories(categories))

    async def categories(self) -> list[Category]:
        """The categories of the app."""
        return await self._ask(calls.categories())

    async def set_badge(self, number: int) -> None:
        """Sets the number on the app's icon; 0 removes it."""
        await self._ask(calls.set_badge(number))

    async def badge(self) -> int:
        """The number on the app's icon."""
        return await self._ask(calls.badge())

    # Addresses

    async def open_url(self, url: str, *, is_trial: bool = False) -> Opening:
        """Has the desktop open an address; a trial only says what would become of it.

        It is not repeated on another connection.
        """
        return await self._ask(calls.open_url(url, is_trial))

    # The direct channel of FCM

    def open_channel(self) -> None:
        """Has data messages come from now on, for the handler `on_message` or for `messages`. Does not wait."""
        self._did(lambda: self._protocol.want_channel(True))

    def close_channel(self) -> None:
        """Ends the delivery of data messages. Does not wait."""
        self._did(lambda: self._protocol.want_channel(False))

    async def send(self, message: UpstreamMessage) -> None:
        """Sends a message to the app's provider.

        Returns when the agent has stored it; `on_upstream_ended` tells its end.
        """
        await self._ask(calls.send(message))

    async def subscribe(self, topic: str) -> None:
        """Subscribes to a topic."""
        await self._ask(calls.topic(topic, True))

    async def unsubscribe(self, topic: str) -> None:
        """Ends the subscription to a topic."""
        await self._ask(calls.topic(topic, False))

    # Iterators

    def responses(self, timeout: float | None = None) -> AsyncIterator[Response]:
        """A person's answers, in place of a handler.

        Ends when the client is closed, or none came for `timeout` seconds.
        """
        self._check_no_handler(ResponseCame, "on_response")
        return self._stream(ResponseCame, lambda event: cast(Response, event.response), timeout)

    def messages(self, timeout: float | None = None) -> AsyncIterator[Notification]:
        """Data messages of the open direct channel, in place of a handler. Ends as `responses` does."""
        self._check_no_handler(MessageCame, "on_message")
        return self._stream(MessageCame, lambda event: cast(Notification, event.notification), timeout)

    # Handlers

    def _handlers_changed(self) -> None:
        self._tell()

    def _dispatched(self) -> set[type]:
        return self._wanted()

    async def _handle(self, event: Event) -> None:
        if isinstance(event, NotificationCame):
            outcome = await self._outcome(event)
            return self._did(lambda: self._protocol.notification_handled(event, outcome))
        handler = self._handlers.get(type(event))
        if handler is None:
            if isinstance(event, ClientClosed):
                logger.warning("the agent has ended this client: %s", event.error)
            return
        try:
            await self._called(handler, *arguments(event))
        except Exception:
            logger.exception("the handler of %s failed", type(event).__name__)
        self._finish(event)

    async def _outcome(self, event: NotificationCame) -> PresentationOptions | BackgroundResult:
        handler = self._handlers.get(NotificationCame)
        if handler is None:
            return default_outcome(event.kind, self._presents)
        try:
            return checked_outcome(event.kind, await self._called(handler, event.notification, event.kind))
        except Exception:
            logger.exception("the handler of the notification %d failed", event.notification.id)
            return failed_outcome(event.kind)
