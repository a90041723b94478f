"""A server for tests: its process, what it received, its faults and its clock. It needs the standard library alone."""

import datetime
import json
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

from aldaba._process import ServerProcess
from aldaba._received import Received


class AldabaError(Exception):
    """The server refused a request, or did not answer. The text is the server's own sentence; `status` is None without an answer."""

    __module__ = "aldaba"

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status


class Server:
    """A running server. `Server.start()` starts one; `Server(http)` is one that runs, such as that of `aldaba run`.

    `host`, `apns_port`, `control_port`, `fcm_url` and `ca` are what clients of APNs and FCM need. They are read from the data
    folder, so a server whose folder is not known has none of them.
    """

    def __init__(self, http, data=None, process=None):
        self.http = http.rstrip("/")
        self.data = Path(data) if data else None
        self._process = process
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self.clock = Clock(self)

    @classmethod
    def start(cls, *settings, program=None):
        """Starts a server on free ports, with a folder that ends with it. `settings` are further flags of `aldaba serve`."""
        process = ServerProcess(settings, program)
        return cls(f"http://127.0.0.1:{process.addresses['httpPort']}", process.data, process)

    def stop(self):
        """Ends a server that was started here, and removes its folder."""
        if self._process is not None:
            self._process.stop()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    @property
    def _addresses(self):
        if self.data is None:
            raise AldabaError("the data folder of this server is not known (ALDABA_DATA), and so its addresses are not")
        return json.loads((self.data / "serve.json").read_text())

    @property
    def host(self):
        return self._addresses["host"]

    @property
    def apns_port(self):
        return self._addresses["apnsPort"]

    @property
    def control_port(self):
        return self._addresses["controlPort"]

    @property
    def fcm_url(self):
        """The address in place of https://fcm.googleapis.com."""
        return f"https://{self.host}:{self.control_port}"

    @property
    def environment(self):
        """The environment of device tokens, `sandbox` or `production`."""
        return self._addresses["environment"]

    @property
    def ca(self):
        """The file of the certificate authority that clients are to trust."""
        if self.data is None:
            raise AldabaError("the data folder of this server is not known (ALDABA_DATA), and so its authority is not")
        return self.data / "certificates" / "ca.pem"

    @property
    def received(self):
        """Everything that came."""
        return Received(self)

    def namespace(self, name):
        """One test's part of the server."""
        return Namespace(self, name)

    def fault(self, status=None, **members):
        """Makes a fault for requests of anybody; see `Namespace.fault`."""
        return Fault(self, self.request("POST", "/v1/faults", _named(members | {"status": status})))

    def reset(self, namespace=None):
        """Forgets what was received, and the faults: all, or those of one namespace."""
        query = {"namespace": namespace} if namespace else {}
        return self.request("POST", "/v1/reset?" + urllib.parse.urlencode(query))

    def last_number(self):
        """The number of the latest request that came."""
        return self.request("GET", "/v1/received?limit=1")["last"]

    def request(self, method, path, body=None, timeout=10):
        """Sends one request to the API; its answer."""
        data = None if body is None else json.dumps(body).encode()
        asked = urllib.request.Request(
            self.http + path, data, {"content-type": "application/json"} if data else {}, method=method)
        try:
            with self._opener.open(asked, timeout=timeout) as answer:
                text = answer.read()
        except urllib.error.HTTPError as refused:
            raise AldabaError(_sentence(refused), refused.code) from None
        except OSError as fault:
            raise AldabaError(f"the server at {self.http} does not answer: {fault}") from None
        return json.loads(text) if text else None


class Namespace:
    """One test's part of a server: what its senders sent, and faults for them alone.

    A request is in a namespace by its sender's team or project, or by its header `aldaba-namespace`. Without a name it is
    everything that comes from now on.
    """

    def __init__(self, server, name=None):
        self.server = server
        self.name = name
        self.clock = server.clock
        since = None if name else server.last_number()
        self.received = Received(server, name, since)
        self._faults = []

    def fault(self, status=None, **members):
        """Makes a fault for requests of this namespace: `status=429, retry_after=3, times=2`, `action="cut"` and others.

        The members are those of `POST /v1/faults`, in Python's spelling: `retry_after` for `retryAfter`.
        """
        if self.name:
            members = {"namespace": self.name} | members
        made = self.server.fault(status, **members)
        self._faults.append(made)
        return made

    def reset(self):
        """Forgets what came to this namespace, and removes its faults."""
        for fault in self._faults:
            fault.remove()
        self._faults.clear()
        if self.name:
            self.server.reset(self.name)
        else:
            self.received.since = self.server.last_number()


class Fault:
    """A fault that was made. As a context manager it is removed at the end."""

    def __init__(self, server, made):
        self._server = server
        self.id = made["id"]

    def _now(self):
        faults = self._server.request("GET", "/v1/faults")["faults"]
        return next((each for each in faults if each["id"] == self.id), {"matched": 0, "used": 0})

    @property
    def matched(self):
        """The number of requests that it has selected."""
        return self._now()["matched"]

    @property
    def used(self):
        """The number of requests that it was used for."""
        return self._now()["used"]

    def remove(self):
        """Removes it; one that is gone already stays so."""
        try:
            self._server.request("DELETE", f"/v1/faults/{self.id}")
        except AldabaError as refused:
            if refused.status != 404:
                raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.remove()


class Clock:
    """The clock of a server, which can be set forward."""

    def __init__(self, server):
        self._server = server

    @property
    def now(self):
        """The server's time, a datetime."""
        return _time(self._server.request("GET", "/v1/clock")["now"])

    def advance(self, duration):
        """Sets it forward: "28d", "1d12h", or a timedelta. The time that it has then."""
        if isinstance(duration, datetime.timedelta):
            duration = f"{int(duration.total_seconds())}s"
        return _time(self._server.request("POST", "/v1/clock", {"advance": duration})["now"])


def _time(text):
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))


def _named(members):
    """Members in the API's spelling, without those that are None."""
    def name(word):
        first, *rest = word.split("_")
        return first + "".join(part.capitalize() for part in rest)

    return {name(word): value for word, value in members.items() if value is not None}


def _sentence(refused):
    """The sentence of a refusal."""
    text = refused.read().decode(errors="replace")
    try:
        told = json.loads(text)
        return f"{told['detail']} ({told['pointer']})" if "pointer" in told else told["detail"]
    except (ValueError, KeyError, TypeError):
        return f"{refused.code} {text}"
