"""The protocol between an app and the agent, without input and output: bytes in, bytes and events out.

A shell tells it of connections and of the bytes that come, writes the bytes that `output` returns, and passes the
events of `events` to the app. Nothing here blocks or reads a clock; a shell with threads calls it under a lock.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from aldaba._agent_activities import Activity
from aldaba._agent_activity_store import OBSERVE
from aldaba._agent_codec import MalformedMessage, Message, read, read_fields
from aldaba._agent_events import (
    Event, ExtensionBegan, ExtensionExpires, Ledger, MessageCame, MessagesWereDeleted, NotificationCame,
    ResponseCame, SettingsWanted, StateChanged, TokenChanged, UpstreamHasEnded)
from aldaba._agent_notification import Notification
from aldaba._agent_options import AppState, Kind
from aldaba._agent_session import REQUEST_LIMIT, VERSION, AgentSession, TokenWish, Waiter, fail
from aldaba._agent_values import AgentError, DeletedMessages, Response, UpstreamEnd, Welcome


class AgentProtocol(AgentSession):
    """A client of the agent: the session, and what the agent says to it."""

    _list_number = 0

    def _all_receivers(self) -> dict[str, Callable[[Message], None]]:
        answers = ("authorizationAnswered", "settings", "centerAnswered", "opened", "fetched")
        return {name: self._answered for name in answers} | {
            "registered": self._registered, "registrationFailed": self._registration_failed, "deliver": self._delivered,
            "respond": self._responded, "handledConfirmed": self._confirmed, "responsesConfirmed": self._confirmed,
            "enter": self._entered, "openSettings": self._settings_wanted, "messagesDeleted": self._deleted,
            "channel": self._channel_told, "extend": self._extend, "expire": self._expire,
            "activity": self._activity_told}

    def _receive(self, message: Message) -> None:
        kind = message["type"]
        if kind == "refused":
            self.close(AgentError(read(str, message.get("code"), "code"), read(str, message.get("message"), "message")))
        elif self.is_connected:
            receiver = self._all_receivers().get(kind)
            if receiver is not None:
                receiver(message)
        elif kind == "welcome":
            self._welcomed(message)
        else:
            raise MalformedMessage(f"`{kind}` before `welcome`")

    def _welcomed(self, message: Message) -> None:
        if message.get("version") != VERSION:
            text = f"The agent speaks version {message.get('version')} of the protocol, and this client {VERSION}."
            return self.close(AgentError("version", text))
        welcome = read(Welcome, message)
        is_first = self.welcome is None
        self.welcome, self.is_connected = welcome, True
        self._send_everything_again()
        if is_first:
            self.state = welcome.state
        if not self.is_extension:
            self._tell_state()
            self._send({"type": "ready"})
        if self._channel_is_wanted:
            self._send({"type": "channel", "command": "open"})
        if self.connecting is not None and not self.connecting.done():
            self.connecting.set_result(welcome)

    def _answered(self, message: Message) -> None:
        number = read(int, message.get("request"), "request")
        waiting = self._requests.get(number)
        if waiting is None or waiting.call.answer != message["type"]:
            return self._end_was_delayed(number, message)
        try:
            value = waiting.call.read(message)
        except AgentError as error:
            if waiting.times_sent > 1 and error.code == waiting.call.done_code:
                del self._requests[number]
                if not waiting.waiter.done():
                    waiting.waiter.set_result(None)
                return
            if waiting.ends_token and error.code == "ServiceNotAvailable" and self._wish is None:
                self._wish = TokenWish(number, False)
            return self._fail(number, error)
        del self._requests[number]
        if not waiting.waiter.done():
            waiting.waiter.set_result(value)

    def _end_was_delayed(self, number: int, message: Message) -> None:
        """The end of a token that the server could not be asked for at first."""
        if self._wish == TokenWish(number, False) and message.get("event") == "accepted":
            self._wish = None

    def _registered(self, message: Message) -> None:
        number, token = message.get("request"), read(str, message.get("token"), "token")
        wish = self._wish
        if wish is None or not wish.is_wanted or number not in (None, wish.request, *self._registrations):
            return
        asked = [each for each in self._registrations if each <= (number or 0)]
        is_another, self.token = token != self.token, token
        for each in asked:
            waiter = self._registrations.pop(each)
            if not waiter.done():
                waiter.set_result(token)
        if is_another and not asked:
            self.events.add(TokenChanged(token))

    def _registration_failed(self, message: Message) -> None:
        number = read(int, message.get("request"), "request")
        error = AgentError(read(str, message.get("code"), "code"), read(str, message.get("message"), "message"))
        for each in [each for each in self._registrations if each <= number]:
            fail(self._registrations.pop(each), error)

    def _arrived(self, ledger: Ledger, id: int, event: Event) -> None:
        """An event that the app answers: a known one is not given to it again."""
        if id in ledger.answers:
            self._send(ledger.answers[id])
        elif not ledger.is_open(id) and self.events.add(event):
            ledger.begin(id)

    def _delivered(self, message: Message) -> None:
        notification = read(Notification, message.get("notification"), "notification")
        event = NotificationCame(notification, read(Kind, message.get("kind"), "kind"))
        self._arrived(self._notifications, notification.id, event)

    def _responded(self, message: Message) -> None:
        response = read(Response, message)
        self._arrived(self._responses, response.id, ResponseCame(response))

    def _confirmed(self, message: Message) -> None:
        if message["type"] == "handledConfirmed":
            self._notifications.confirm(_ids(message, "notifications"))
        else:
            self._responses.confirm(_ids(message, "responses"))

    def _entered(self, message: Message) -> None:
        state = read(AppState, message.get("state"), "state")
        is_another, self.state = state is not self.state, state
        self._tell_state()
        if is_another:
            self.events.add(StateChanged(state))

    def _settings_wanted(self, message: Message) -> None:
        found = message.get("notification")
        self.events.add(SettingsWanted(None if found is None else read(Notification, found, "notification")))

    def _deleted(self, message: Message) -> None:
        id = read(int, message.get("deletion"), "deletion")
        self._arrived(self._deletions, id, MessagesWereDeleted(id, read(DeletedMessages, message)))

    def _channel_told(self, message: Message) -> None:
        event = message.get("event")
        if event == "state":
            self._channel_is(read(bool, message.get("isConnected"), "isConnected"))
        elif event == "message":
            notification = read(Notification, message.get("notification"), "notification")
            self._arrived(self._messages, notification.id, MessageCame(notification))
        elif event == "takenConfirmed":
            self._messages.confirm(_ids(message, "messages"))
        elif event == "ended":
            number = read(int, message.get("upstream"), "upstream")
            self._arrived(self._ends, number, UpstreamHasEnded(number, read(UpstreamEnd, message)))
        elif event in ("accepted", "refused"):
            self._answered(message)

    # Live Activities

    def observe_activities(self) -> None:
        """Has the agent tell of the app's activities, on each connection."""
        self._check_open()
        if not self.activities.is_observed:
            self.activities.is_observed = True
            self._send(OBSERVE)

    def list_activities(self, waiter: Waiter[list[Activity]]) -> int:
        """Asks for the activities that there are. Returns a number for `forget`, which no request has."""
        self._check_open()
        if self.activities.waiting >= REQUEST_LIMIT:
            raise AgentError("tooManyRequests", "too many requests for the activities wait for an answer already")
        self.activities.is_observed = True
        self._send(OBSERVE)
        self._list_number -= 1
        self.activities.wait(self._list_number, waiter)
        return self._list_number

    def _activity_told(self, message: Message) -> None:
        if message.get("event") in ("accepted", "refused"):
            self._answered(message)
        else:
            self.activities.received(message)

    # Service extensions

    def _extend(self, message: Message) -> None:
        notification = read(Notification, message.get("notification"), "notification")
        if notification.id not in self._extensions and self.events.add(ExtensionBegan(notification)):
            self._extensions[notification.id] = notification

    def _expire(self, message: Message) -> None:
        self.events.add(ExtensionExpires(read(int, message.get("notification"), "notification")))


def _ids(message: Message, key: str) -> tuple[int, ...]:
    return read_fields(_Ids, {"ids": message.get(key)}, "").ids


@dataclass(frozen=True)
class _Ids:
    ids: tuple[int, ...]
