"""The control API as a script sees it: enrolling a device, registering an app, reading timelines."""

import http.client
import json
from urllib.parse import urlencode, urlsplit

from waiting import wait_until


class ControlClient:
    """Plain http on loopback, one connection kept and opened again when the server was restarted."""

    def __init__(self, url):
        parts = urlsplit(url)
        self._address = (parts.hostname, parts.port)
        self._connection = None

    def request(self, method, path, body=None, headers=None):
        """One request; returns (status, body). A kept connection that has died is replaced once."""
        for attempt in (1, 2):
            if self._connection is None:
                self._connection = http.client.HTTPConnection(*self._address, timeout=10)
            try:
                self._connection.request(method, path, body, headers or {})
                response = self._connection.getresponse()
                return response.status, response.read()
            except (http.client.HTTPException, ConnectionError):
                self.close()
                if attempt == 2:
                    raise

    def close(self):
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def enrol(self):
        """Enrols a new device; returns (id, secret). The JSON form of check-in."""
        body = json.dumps({"android_id": 0, "security_token": 0, "version": 3})
        status, answer = self.request("POST", "/checkin", body, {"content-type": "application/json"})
        assert status == 200, (status, answer)
        answer = json.loads(answer)
        return int(answer["android_id"]), int(answer["security_token"])

    def register(self, device, topic, team, environment="sandbox", delete=False):
        """Registers (or unregisters) an app on a device; returns the answer's text."""
        form = {"app": topic, "sender": team, "device": device[0], "X-environment": environment}
        if delete:
            form["delete"] = "true"
        status, answer = self.request(
            "POST", "/c2dm/register3", urlencode(form),
            {
                "content-type": "application/x-www-form-urlencoded",
                "authorization": f"AidLogin {device[0]}:{device[1]}",
            },
        )
        assert status == 200, (status, answer)
        return answer.decode()

    def token(self, device, topic, team, environment="sandbox"):
        """The device token of an app on a device."""
        name, _, token = self.register(device, topic, team, environment).strip().partition("=")
        assert name == "token", (name, token)
        return token

    def notifications(self, reference):
        """What the timeline API knows of an internal id or an apns-id: a list, empty when not found."""
        status, answer = self.request("GET", f"/v1/notifications/{reference}")
        assert status in (200, 404), (status, answer)
        return json.loads(answer) if status == 200 else []

    def states(self, reference):
        """The names of the states of the only notification of that reference."""
        found = self.notifications(reference)
        assert len(found) <= 1, found
        return [entry["state"] for entry in found[0]["timeline"]] if found else []

    def wait_for_last_state(self, reference, state, seconds=20):
        """Waits until the timeline ends in that state; returns the notification."""
        wait_until(
            lambda: (self.states(reference) or [None])[-1] == state or None,
            f"the timeline of {reference} ends in {state}; states: {self.states(reference)}", seconds,
        )
        return self.notifications(reference)[0]
