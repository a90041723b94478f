"""`Agent`: an app of the agent's, for scripts and for programs with threads."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Iterator
from typing import cast

from aldaba import _agent_calls as calls
from aldaba._agent_activity_clients import Activities
from aldaba._agent_blocking import BlockingClient
from aldaba._agent_events import ClientClosed, Event, MessageCame, NotificationCame, ResponseCame
from aldaba._agent_handlers import (
    Handlers, Outcome, app_id, arguments, checked_outcome, default_outcome, default_path, failed_outcome, logger,
    run_name)
from aldaba._agent_notification import Notification, Request
from aldaba._agent_options import AppState, AuthorizationOptions, BackgroundResult, PresentationOptions
from aldaba._agent_protocol import AgentProtocol
from aldaba._agent_values import Authorization, Category, Opening, Response, Settings, UpstreamMessage

ALERTS = AuthorizationOptions.ALERT | AuthorizationOptions.SOUND | AuthorizationOptions.BADGE
SHOWN = PresentationOptions.SOUND | PresentationOptions.LIST | PresentationOptions.BANNER


class Agent(BlockingClient, Handlers[Outcome, None]):
    """A client of the agent for an app whose manifest is installed. Its methods wait for the agent's answer.

    Handlers are called in a thread of the client's own, one at a time, in the order in which events came; they may call
    the methods. Set them before `connect`, or before `with`.
    """

    def __init__(
        self, app: str | None = None, *, secret: str | None = None, path: str | None = None, run: str | None = None,
        presents: PresentationOptions = SHOWN, timeout: float | None = 30.0
    ) -> None:
        """Makes a client that is not connected.

        `app` is the bundle id, else that of `ALDABA_APP_ID`. `secret` is the text of the app's secret, which an
        interpreter needs. `path` is the agent's socket. `presents` says how notifications are shown where there is no
        handler. `timeout` is the number of seconds that a method waits for its answer. `run` names this run of the app;
        by default it has a name of its own.
        """
        Handlers.__init__(self)
        protocol = AgentProtocol(app_id(app), secret=secret and secret.strip(), run=run_name(run))
        BlockingClient.__init__(self, protocol, path or default_path())
        self._timeout = timeout
        self._presents = presents
        self.activities = Activities(self)

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
        with self._changed:
            return self._protocol.unconfirmed

    def enter(self, state: AppState) -> None:
        """Tells the agent that the app has entered a state by itself."""
        self._did(lambda: self._protocol.enter(state))

    # Permissions and the device token

    def request_authorization(
        self, options: AuthorizationOptions = ALERTS, *, timeout: float | None = None
    ) -> Authorization:
        """Asks the person, once, whether the app may notify.

        Waits for the answer as long as `timeout` says, else without limit.
        """
        return self._ask(calls.request_authorization(options), timeout)

    def settings(self) -> Settings:
        """What the app may do."""
        return self._ask(calls.settings(), self._timeout)

    def register(self) -> str:
        """The device token, 64 hexadecimal digits, for providers. On each later connection it is asked for again."""
        return self._answer(self._protocol.register, self._timeout)

    def unregister(self) -> None:
        """Ends the device token."""
        self._ask(calls.unregister(), self._timeout)

    # The notification centre

    def add(self, request: Request) -> None:
        """Shows a notification, at once or when its trigger fires."""
        self._ask(calls.add(request), self._timeout)

    def pending(self) -> list[Request]:
        """The requests whose trigger has not fired."""
        return self._ask(calls.pending(), self._timeout)

    def remove_pending(self, identifiers: Iterable[str] | None = None) -> None:
        """Removes requests whose trigger has not fired; without identifiers all of them."""
        self._ask(calls.remove_pending(identifiers), self._timeout)

    def delivered(self) -> list[Notification]:
        """The app's notifications in the list."""
        return self._ask(calls.delivered(), self._timeout)

    def remove_delivered(self, identifiers: Iterable[str] | None = None) -> None:
        """Removes notifications from the list; without identifiers all of the app's."""
        self._ask(calls.remove_delivered(identifiers), self._timeout)

    def set_categories(self, categories: Iterable[Category]) -> None:
        """Adds categories; one replaces an earlier one with its identifier. An empty list removes all."""
        self._ask(calls.set_categories(categories), self._timeout)

    def categories(self) -> list[Category]:
        """The categories of the app."""
        return self._ask(calls.categories(), self._timeout)

    def set_badge(self, number: int) -> None:
        """Sets the number on the app's icon; 0 removes it."""
        self._ask(calls.set_badge(number), self._timeout)

    def badge(self) -> int:
        """The number on the app's icon."""
        return self._ask(calls.badge(), self._timeout)

    # Addresses

    def open_url(self, url: str, *, is_trial: bool = False) -> Opening:
        """Has the desktop open an address; a trial only says what would become of it.

        It is not repeated on another connection.
        """
        return self._ask(calls.open_url(url, is_trial), self._timeout)

    # The direct channel of FCM

    def open_channel(self) -> None:
        """Has data messages come from now on, for the handler `on_message` or for `messages`. Does not wait."""
        self._did(lambda: self._protocol.want_channel(True))

    def close_channel(self) -> None:
        """Ends the delivery of data messages. Does not wait."""
        self._did(lambda: self._protocol.want_channel(False))

    def send(self, message: UpstreamMessage) -> None:
        """Sends a message to the app's provider.

        Returns when the agent has stored it; `on_upstream_ended` tells its end.
        """
        self._ask(calls.send(message), self._timeout)

    def subscribe(self, topic: str) -> None:
        """Subscribes to a topic."""
        self._ask(calls.topic(topic, True), self._timeout)

    def unsubscribe(self, topic: str) -> None:
        """Ends the subscription to a topic."""
        self._ask(calls.topic(topic, False), self._timeout)

    # Iterators

    def responses(self, timeout: float | None = None) -> Iterator[Response]:
        """A person's answers, in place of a handler.

        Ends when the client is closed, or none came for `timeout` seconds.
        """
        self._check_no_handler(ResponseCame, "on_response")
        return self._stream(ResponseCame, lambda event: cast(Response, event.response), timeout)

    def messages(self, timeout: float | None = None) -> Iterator[Notification]:
        """Data messages of the open direct channel, in place of a handler. Ends as `responses` does."""
        self._check_no_handler(MessageCame, "on_message")
        return self._stream(MessageCame, lambda event: cast(Notification, event.notification), timeout)

    # Handlers

    def _handlers_changed(self) -> None:
        with self._changed:
            self._changed.notify_all()

    def _dispatched(self) -> set[type]:
        return self._wanted()

    def _handle(self, event: Event) -> None:
        if isinstance(event, NotificationCame):
            outcome = self._outcome(event)
            return self._did(lambda: self._protocol.notification_handled(event, outcome))
        handler = self._handlers.get(type(event))
        if handler is None:
            if isinstance(event, ClientClosed):
                logger.warning("the agent has ended this client: %s", event.error)
            return
        try:
            if inspect.isawaitable(handler(*arguments(event))):
                raise TypeError("the handler is asynchronous: AsyncAgent takes such handlers")
        except BaseException:
            logger.exception("the handler of %s failed", type(event).__name__)
        self._finish(event)

    def _outcome(self, event: NotificationCame) -> PresentationOptions | BackgroundResult:
        handler = self._handlers.get(NotificationCame)
        if handler is None:
            return default_outcome(event.kind, self._presents)
        try:
            return checked_outcome(event.kind, handler(event.notification, event.kind))
        except BaseException:
            logger.exception("the handler of the notification %d failed", event.notification.id)
            return failed_outcome(event.kind)
