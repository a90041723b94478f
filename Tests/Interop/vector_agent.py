"""A double of the agent at a Unix socket, and the drivers by which the protocol vectors use both clients in Python."""

import asyncio
import datetime
import json
import queue
import socket
import struct
import sys
import threading
from concurrent.futures import Future

from aldaba_process import REPOSITORY
from waiting import wait_until

PACKAGE = REPOSITORY / "Packaging/python/src"
sys.path.insert(0, str(PACKAGE))
from aldaba import agent as api  # noqa: E402
from aldaba._agent_codec import read, written  # noqa: E402

VECTORS = REPOSITORY / "Packaging/vectors"
SECONDS = 20


class AgentDouble:
    """Listens as the agent does, and takes one connection at a time."""

    def __init__(self, path):
        self.path = str(path)
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen(8)
        self._listener.settimeout(SECONDS)
        self._connection = None
        self.piece = None  # The number of bytes that are written at once.

    def accept(self):
        self._connection, _ = self._listener.accept()
        self._connection.settimeout(SECONDS)

    def read(self):
        """The next message; `None` at the end of the connection."""
        if self._connection is None:
            self.accept()
        head = self._exactly(4)
        return json.loads(self._exactly(struct.unpack(">I", head)[0])) if head else None

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            try:
                piece = self._connection.recv(count - len(data))
            except ConnectionResetError:
                piece = b""
            if not piece:
                assert not data, f"the connection ended inside a frame: {data!r}"
                return b""
            data += piece
        return data

    def send(self, message):
        body = json.dumps(message).encode()
        self.send_bytes(struct.pack(">I", len(body)) + body)

    def send_bytes(self, data):
        size = self.piece or len(data)
        for at in range(0, len(data), size):
            self._connection.sendall(data[at:at + size])

    def welcome(self):
        """Takes the first messages of an app; returns its `hello`."""
        hello = self.read()
        self.send({"type": "welcome", "version": 1, "state": "active", "authorization": 2})
        assert self.read() == {"type": "stateChanged", "state": "active"}
        assert self.read() == {"type": "ready"}
        return hello

    def rest(self):
        """Ends the connection; the messages that the client had sent and nobody has read."""
        self._connection.shutdown(socket.SHUT_WR)
        left = list(iter(self.read, None))
        self._connection.close()
        self._connection = None
        return left

    def close(self):
        if self._connection is not None:
            self._connection.close()
        self._listener.close()


class Told:
    """What the client has told the app, and the answers that the app gives."""

    def __init__(self):
        self.events, self.answers = queue.Queue(), queue.Queue()

    def wait_for(self, name):
        """The value of the next event of this name."""
        while True:
            found, value = self.events.get(timeout=SECONDS)
            if found == name:
                return value

    def note(self, name, value):
        self.events.put((name, written(value)))

    def ask(self, name, value):
        self.note(name, value)
        return self.answers.get(timeout=SECONDS)

    # Handlers

    def notification(self, notification, kind):
        answer = self.ask("notification", {"notification": notification, "kind": kind})
        match answer["outcome"]:
            case "presented":
                return api.PresentationOptions(answer["options"])
            case "background":
                return api.BackgroundResult(answer["result"])
        return None

    def response(self, response):
        self.ask("response", response)

    def message(self, notification):
        self.ask("message", {"notification": notification})

    def messages_deleted(self, messages):
        self.ask("messagesDeleted", messages)

    def upstream_ended(self, end):
        self.ask("upstreamEnded", end)

    def token(self, token):
        self.note("token", {"token": token})

    def state(self, state):
        self.note("state", {"state": state})

    def open_settings(self, notification):
        self.note("openSettings", {"notification": notification} if notification else {})

    def channel_state(self, is_connected):
        self.note("channelState", {"isConnected": is_connected})

    def closed(self, error):
        self.note("closed", {"code": error.code, "message": error.message})

    def activity(self, activity):
        self.note("activity", {"activity": activity})

    def start_token(self, token):
        self.note("startToken", {"startToken": token})

    def change(self, notification):
        answer = self.ask("extend", {"notification": notification})
        if "error" in answer:
            raise ValueError(answer["error"])
        return read(api.Content, answer["content"]) if "content" in answer else None

    def expire(self, notification):
        self.note("expire", {"notification": notification.id})


HANDLERS = ("notification", "response", "message", "messages_deleted", "upstream_ended", "token", "state", "open_settings",
            "channel_state", "closed")


def start_activity(client, activity, pushes):
    made, channel = read(api.Activity, activity), pushes.removeprefix("channel:")
    return client.activities.request(
        made.attributes, attributes_type=made.attributes_type, identifier=made.id, **content_arguments(made.content),
        pushes=api.PushType(pushes) if channel == pushes else api.ChannelPushes(channel))


def update_activity(client, id, content, alert=None):
    return client.activities.update(
        id, **content_arguments(read(api.ActivityContent, content)), alert=read(api.ActivityAlert | None, alert))


def end_activity(client, id, dismissal, content=None):
    last = content_arguments(read(api.ActivityContent, content)) if content else {}
    moment = datetime.datetime.fromtimestamp(dismissal / 1_000) if isinstance(dismissal, int) else api.Dismissal(dismissal)
    return client.activities.end(id, **last, dismissal=moment)


def content_arguments(content):
    return {"state": content.state, "stale_date": content.stale_date, "relevance_score": content.relevance_score}


# For each call of the vectors: the method, and its arguments.
CALLS = {
    "connect": lambda client: client.connect(),
    "requestAuthorization": lambda client, options: client.request_authorization(api.AuthorizationOptions(options)),
    "settings": lambda client: client.settings(),
    "register": lambda client: client.register(),
    "unregister": lambda client: client.unregister(),
    "add": lambda client, notification: client.add(read(api.Request, notification)),
    "pending": lambda client: client.pending(),
    "delivered": lambda client: client.delivered(),
    "removePending": lambda client, identifiers=None: client.remove_pending(identifiers),
    "removeDelivered": lambda client, identifiers=None: client.remove_delivered(identifiers),
    "setCategories": lambda client, categories: client.set_categories([read(api.Category, each) for each in categories]),
    "categories": lambda client: client.categories(),
    "setBadge": lambda client, badge: client.set_badge(badge),
    "badge": lambda client: client.badge(),
    "openURL": lambda client, url, isTrial=False: client.open_url(url, is_trial=isTrial),
    "openChannel": lambda client: client.open_channel(),
    "closeChannel": lambda client: client.close_channel(),
    "send": lambda client, draft: client.send(read(api.UpstreamMessage, draft)),
    "topic": lambda client, topic, joins: client.subscribe(topic) if joins else client.unsubscribe(topic),
    "startActivity": start_activity,
    "updateActivity": update_activity,
    "endActivity": end_activity,
    "fetch": lambda client, url, typeHint=None, spread=0.0: client.fetch(url, type_hint=typeHint, spread=spread),
}
RESULTS = {"register": "token", "fetch": "path"}


def result(name, value):
    found = None if name == "startActivity" else written(value)
    return {RESULTS[name]: found} if name in RESULTS else found


def observe_activities(client, told, handler):
    """Has the agent tell of Live Activities: their handlers are there."""
    client.activities.on_update(handler(told.activity))
    client.activities.on_push_to_start_token(handler(told.start_token))


def asynchronous(function):
    async def handler(*arguments):
        return await asyncio.to_thread(function, *arguments)
    return handler


class BlockingDriver:
    """`Agent` or `ServiceExtension`, whose calls are made in threads."""

    def __init__(self, path, app, secret=None, run=None, role=None):
        self.told = Told()
        if role is None:
            self.client = api.Agent(app, path=path, secret=secret, run=run or "")
            for name in HANDLERS:
                getattr(self.client, f"on_{name}")(getattr(self.told, name))
        else:
            told = self.told

            class Extension(api.ServiceExtension):
                def change(self, notification, fetch):
                    return told.change(notification)

                def expire(self, notification):
                    return told.expire(notification)

            self.client = Extension(app, path=path)

    def call(self, name, arguments):
        future = Future()

        def work():
            try:
                if name == "observeActivities":
                    return observe_activities(self.client, self.told, lambda function: function)
                future.set_result(result(name, CALLS[name](self.client, **arguments)))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=work, daemon=True).start()
        return future

    def state(self):
        protocol = self.client._protocol
        return {"connected": protocol.is_connected, "token": protocol.token, "unconfirmed": protocol.unconfirmed}

    def close(self):
        self.client.close()


class AsyncDriver:
    """`AsyncAgent` or `AsyncServiceExtension` in a loop of its own."""

    def __init__(self, path, app, secret=None, run=None, role=None):
        self.told = Told()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._make(path, app, secret, run, role), self._loop).result(SECONDS)

    async def _make(self, path, app, secret, run, role):
        if role is None:
            self.client = api.AsyncAgent(app, path=path, secret=secret, run=run or "")
            for name in HANDLERS:
                getattr(self.client, f"on_{name}")(asynchronous(getattr(self.told, name)))
        else:
            told = self.told

            class Extension(api.AsyncServiceExtension):
                async def change(self, notification, fetch):
                    return await asyncio.to_thread(told.change, notification)

                async def expire(self, notification):
                    return await asyncio.to_thread(told.expire, notification)

            self.client = Extension(app, path=path)

    def call(self, name, arguments):
        async def work():
            if name == "observeActivities":
                return observe_activities(self.client, self.told, asynchronous)
            made = CALLS[name](self.client, **arguments)
            return result(name, await made if asyncio.iscoroutine(made) else made)

        return asyncio.run_coroutine_threadsafe(work(), self._loop)

    state = BlockingDriver.state

    def close(self):
        asyncio.run_coroutine_threadsafe(self.client.close(), self._loop).result(SECONDS)

    def end(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS)
        self._loop.close()


DRIVERS = {"threads": BlockingDriver, "asyncio": AsyncDriver}


def play(double, driver, steps):
    """Goes through the steps of a vector."""
    call = None
    for step in steps:
        match step:
            case {"call": name, "arguments": arguments}:
                call = driver.call(name, arguments)
            case {"out": message}:
                assert double.read() == message
            case {"in": message}:
                double.send(message)
            case {"result": value}:
                assert call.result(SECONDS) == value
            case {"error": error}:
                failure = call.exception(SECONDS)
                assert isinstance(failure, api.AgentError), failure
                assert {"code": failure.code, "message": failure.message} == error
            case {"event": name, "value": value}:
                assert driver.told.wait_for(name) == value
                if "answer" in step:
                    driver.told.answers.put(step["answer"])
            case {"state": values}:
                wait_until(lambda: driver.state().items() >= values.items(), f"the state has {values}")
            case {"disconnect": True}:
                assert double.rest() == []
            case _:
                raise AssertionError(f"an unknown step: {step}")
