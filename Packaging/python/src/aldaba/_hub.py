"""A notification hub for a test: what a client of Azure's needs, a device to send to, and what became of a send."""

import json
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from aldaba._program import program
from aldaba.client import AldabaError, Server

BETWEEN_LOOKS = 0.05  # seconds; the server has no answer that waits for a send
UNDER_WAY = ("Enqueued", "Scheduled", "Processing", "Paused")


@dataclass(frozen=True)
class Hub:
    """A notification hub. `connection_string` and `name` are what a client is made with, `ca` is the file of the authority that it
    is to trust, `app` the topic of the app whose devices are in it, `team_id` the team of the app."""

    name: str
    app: str
    team_id: str
    connection_string: str = field(repr=False)
    ca: Path
    server: Server = field(repr=False)

    @classmethod
    def made(cls, server, team):
        """A new hub, for a new app of a team."""
        if server.data is None:
            raise AldabaError("the data folder of this server is not known (ALDABA_DATA), and so it gets no hub")
        name = f"hub-{team.lower()}"
        app = f"com.example.{name}"
        _command(server, "app", "create", app, f"--team={team}")
        told = _command(server, "hub", "create", name, f"--app={app}")
        return cls(name, app, team, told["full"], server.ca, server)

    def new_token(self):
        """The token of a new device with the app, for an installation's `pushChannel`; its `platform` is `aldaba`.

        The device is never connected: what it is sent waits for it.
        """
        device = json.loads(self._post("/checkin", "application/json", json.dumps(
            {"android_id": 0, "security_token": 0, "version": 3})))
        id, secret = device["android_id"], device["security_token"]
        form = {"app": self.app, "sender": self.team_id, "device": id, "X-environment": self.server.environment}
        told = self._post(
            "/c2dm/register3", "application/x-www-form-urlencoded", urllib.parse.urlencode(form),
            authorization=f"AidLogin {id}:{secret}")
        return told.strip().removeprefix("token=")

    def wait_for(self, send, *, timeout=5):
        """Waits until a send or a campaign of that id has ended, and returns its recipients: for each a dict with
        `installationId` and `outcome`."""
        __tracebackhide__ = True
        path = f"/v1/hubs/{self.name}/campaigns/{send}"
        deadline = time.monotonic() + timeout
        while (state := self.server.request("GET", path)["state"]) in UNDER_WAY:
            if time.monotonic() >= deadline:
                raise AssertionError(f"the send {send} has not ended within {timeout:g} s: it is {state}")
            time.sleep(BETWEEN_LOOKS)
        return self.server.request("GET", f"{path}/recipients?limit=1000")["recipients"]

    def _post(self, path, kind, body, **headers):
        request = urllib.request.Request(self.server.http + path, body.encode(), headers | {"content-type": kind})
        try:
            with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=10) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as refused:
            raise AldabaError(f"a device was refused: {refused.read().decode(errors='replace')}", refused.code) from None


def _command(server, *words):
    """The output of a command on the server's data folder."""
    done = subprocess.run(
        [program(), *words, f"--data={server.data}", "--json"], capture_output=True, text=True, check=False, timeout=60)
    if done.returncode != 0:
        raise AldabaError(f"aldaba {' '.join(words[:2])}: {done.stderr.strip()}")
    return json.loads(done.stdout)
