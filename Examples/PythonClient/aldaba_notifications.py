"""A client of Aldaba's agent for scripts: show notifications, hear what became of them, receive pushes.

The agent's socket speaks frames: four bytes of length (most significant first), then one JSON object with a member
`type`. `Sources/Agent/AgentProtocol/README.md` describes the messages, `Tests/Fixtures/agentwire` shows each.

    from aldaba_notifications import Agent

    with Agent("com.example.script", secret=open("com.example.script.secret").read()) as agent:
        agent.add("tea", title="Tea", body="It is ready.", actions=[{"identifier": "more", "title": "Five more minutes"}])
        print(agent.wait_for_response()["action"])
"""

import json
import os
import socket
import struct

VERSION = 1
LONGEST_FRAME = 1 << 20
OPEN = "com.apple.UNNotificationDefaultActionIdentifier"
DISMISS = "com.apple.UNNotificationDismissActionIdentifier"


class AgentError(Exception):
    """The agent refused; the text says why and what would be right."""


class Agent:
    """One connection of an app. The app's manifest must be installed: `aldaba agent app install MANIFEST`."""

    def __init__(self, app, secret=None, path=None, presents=26, run=None, ready=True):
        """`presents` is the answer to "how shall this be shown": 2 sound, 8 list, 16 banner, added together.

        `run` names this run of the app: an `add` that is sent again on a later connection with the same name and
        number is done once. Without `ready` nothing is handed over until `{"type": "ready"}` is sent.
        """
        self.app = app
        self.presents = presents
        self._requests = 0
        self._waiting = []
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._socket.connect(path or self.default_path())
        hello = {"type": "hello", "version": VERSION, "app": app}
        if secret is not None:
            hello["secret"] = secret.strip()
        if run is not None:
            hello["run"] = run
        self.send(hello)
        self.welcome = self.receive()
        if self.welcome["type"] == "refused":
            raise AgentError(self.welcome["message"])
        if ready:
            self.send({"type": "ready"})

    @staticmethod
    def default_path():
        named = os.environ.get("ALDABA_AGENT_SOCKET")
        return named or os.path.join(os.environ["XDG_RUNTIME_DIR"], "aldaba", "agent.sock")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    # Frames

    def send(self, message):
        body = json.dumps(message).encode()
        self._socket.sendall(struct.pack(">I", len(body)) + body)

    def receive(self, seconds=None):
        """The next message; raises `TimeoutError` when none comes in time."""
        self._socket.settimeout(seconds)
        (length,) = struct.unpack(">I", self._exactly(4))
        if length > LONGEST_FRAME:
            raise AgentError(f"a frame of {length} bytes; at most {LONGEST_FRAME} are allowed")
        return json.loads(self._exactly(length))

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            piece = self._socket.recv(count - len(data))
            if not piece:
                raise ConnectionError("the agent has ended the connection")
            data += piece
        return data

    # The notification centre

    def add(self, identifier, trigger=None, **content):
        """Shows a notification, at once or when its trigger says; `content` has the members of AgentWire's
        NotificationContent. Triggers: `{"type": "timeInterval", "seconds": 600, "repeats": False}`,
        `{"type": "calendar", "components": {"hour": 9}, "repeats": True}` or `{"type": "region", "region": {"identifier":
        "home", "latitude": 52.5, "longitude": 13.4, "radius": 100, "onEntry": True, "onExit": False}, "repeats": False}`.
        """
        request = {"identifier": identifier, "content": content} | ({"trigger": trigger} if trigger else {})
        return self.center("add", notification=request)

    def pending(self):
        """What waits for its time or place."""
        return self.center("pending")["requests"]

    def remove_pending(self, identifiers=None):
        return self.center("removePending", **({} if identifiers is None else {"identifiers": identifiers}))

    def delivered(self):
        """What is in the list."""
        return self.center("delivered")["notifications"]

    def remove_delivered(self, identifiers=None):
        return self.center("removeDelivered", **({} if identifiers is None else {"identifiers": identifiers}))

    def set_categories(self, categories):
        return self.center("setCategories", categories=categories)

    def set_badge(self, number):
        return self.center("setBadge", badge=number)

    def center(self, command, **members):
        """Asks something of the notification centre; raises `AgentError` when it is refused."""
        answer = self.ask({"type": "center", "command": command, **members}, "centerAnswered")
        if answer["answer"] == "failed":
            raise AgentError(answer["message"])
        return answer

    def request_authorization(self, options=7):
        """Asks the person, once; returns whether notifications may be sent."""
        return self.ask({"type": "requestAuthorization", "options": options}, "authorizationAnswered")["granted"]

    def register(self):
        """Returns the device token, 64 hexadecimal digits."""
        self._requests += 1
        number = self._requests
        self.send({"type": "registerForRemoteNotifications", "request": number})
        answer = self.wait(lambda message: message["type"] in ("registered", "registrationFailed"))
        if answer["type"] == "registrationFailed":
            raise AgentError(answer["message"])
        return answer["token"]

    def ask(self, message, answer):
        self._requests += 1
        number = self._requests
        self.send({**message, "request": number})
        return self.wait(lambda got: got["type"] == answer and got["request"] == number)

    # What comes by itself

    def wait_for_response(self, seconds=None):
        """The next answer of a person: `action`, `notification`, and `userText` where they typed some."""
        response = self.wait(lambda message: message["type"] == "respond", seconds)
        self.send({"type": "responseHandled", "response": response["response"]})
        return response

    def wait_for_notification(self, seconds=None):
        """The next notification that the app is handed."""
        return self.wait(lambda message: message["type"] == "deliver", seconds)["notification"]

    def wait(self, is_wanted, seconds=None):
        """The next message of a kind; others are kept for later. Every notification is answered when it is read."""
        for place, message in enumerate(self._waiting):
            if is_wanted(message):
                return self._waiting.pop(place)
        while True:
            message = self.receive(seconds)
            if message["type"] == "deliver":
                self._answer(message)
            if is_wanted(message):
                return message
            # Nobody waits for the confirmation of an answer: kept, they would grow with every notification.
            if not message["type"].endswith("Confirmed"):
                self._waiting.append(message)

    def _answer(self, message):
        answer = {"type": "handled", "notification": message["notification"]["id"]}
        if message["kind"] in ("background", "call"):
            self.send({**answer, "outcome": "background", "result": "newData"})
        else:
            self.send({**answer, "outcome": "presented", "options": self.presents})
