"""A Synapse, the homeserver of Matrix, of a test's own: its clients speak HTTP, its pushes go to a gateway."""

import json
import os
import secrets
import signal
import socket
import subprocess
import sys
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from contextlib import suppress
from pathlib import Path

from aldaba_process import ARTEFACTS, clean_environment
from waiting import wait_until

NAME = "homeserver.test"


class Refused(Exception):
    """The homeserver refused a request; `code` is its HTTP status."""

    def __init__(self, code, body):
        super().__init__(f"{code}: {body}")
        self.code = code


class Homeserver:
    """A process with a database of its own, which ends with the test."""

    def __init__(self):
        self._folder = tempfile.TemporaryDirectory(prefix="synapse-")
        self.folder = Path(self._folder.name)
        self.port = self._free_port()
        self._write_settings()
        self._log = open(ARTEFACTS / "synapse.log", "wb")
        command = [sys.executable, "-m", "synapse.app.homeserver", "-c", self.folder / "homeserver.json"]
        subprocess.run(
            [*command, "--generate-keys"], env=clean_environment(), check=True, stdin=subprocess.DEVNULL,
            stdout=self._log, stderr=self._log, cwd=self.folder, timeout=60)
        self._process = subprocess.Popen(
            command, env=clean_environment(), stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log,
            cwd=self.folder, start_new_session=True)
        try:
            wait_until(self._answers, "the homeserver answers", 60)
        except BaseException:
            self.stop()
            raise

    @staticmethod
    def _free_port():
        with socket.socket() as made:
            made.bind(("127.0.0.1", 0))
            return made.getsockname()[1]

    def _write_settings(self):
        rate = {"per_second": 1000, "burst_count": 1000}
        settings = {
            "server_name": NAME, "report_stats": False, "enable_metrics": False,
            "listeners": [{
                "port": self.port, "type": "http", "bind_addresses": ["127.0.0.1"], "tls": False,
                "resources": [{"names": ["client"]}]}],
            "database": {"name": "sqlite3", "args": {"database": str(self.folder / "homeserver.db")}},
            "media_store_path": str(self.folder / "media"), "signing_key_path": str(self.folder / "signing.key"),
            "pid_file": str(self.folder / "pid"), "macaroon_secret_key": secrets.token_hex(32),
            "registration_shared_secret": secrets.token_hex(32), "enable_registration": True,
            "enable_registration_without_verification": True, "suppress_key_server_warning": True,
            "trusted_key_servers": [], "rc_message": rate, "rc_registration": rate, "rc_joins": {"local": rate},
            "rc_login": {"address": rate, "account": rate, "failed_attempts": rate},
            # The gateway is on this machine.
            "ip_range_whitelist": ["127.0.0.1/32"],
        }
        path = self.folder / "homeserver.json"
        path.write_text(json.dumps(settings))
        path.chmod(0o600)

    def _answers(self):
        assert self._process.poll() is None, f"Synapse ended with {self._process.poll()}"
        try:
            return self.request("GET", "/_matrix/client/versions")
        except OSError:
            return None

    def request(self, method, path, body=None, token=None):
        """The answer to a client's request."""
        headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        data = None if body is None else json.dumps(body).encode()
        made = urllib.request.Request(
            f"http://127.0.0.1:{self.port}{path}", data=data, headers=headers, method=method)
        try:
            with urllib.request.urlopen(made, timeout=30) as response:
                return json.load(response)
        except urllib.error.HTTPError as error:
            raise Refused(error.code, error.read().decode(errors="replace")) from None

    def person(self, name):
        """A person with an account."""
        body = {"username": name, "password": secrets.token_hex(16), "auth": {"type": "m.login.dummy"}}
        return Person(self, self.request("POST", "/_matrix/client/v3/register", body))

    def stop(self):
        if self._process.poll() is None:
            os.kill(self._process.pid, signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(20)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait(20)
        self._log.close()
        self._folder.cleanup()


class Person:
    """A person at a homeserver, with a client that is logged in."""

    def __init__(self, homeserver, account):
        self.homeserver = homeserver
        self.id = account["user_id"]
        self._token = account["access_token"]

    def ask(self, method, path, body=None):
        return self.homeserver.request(method, f"/_matrix/client/v3{path}", body, self._token)

    def make_room(self, name, *guests):
        """A room that the guests have joined."""
        room = self.ask("POST", "/createRoom", {"name": name, "invite": [each.id for each in guests]})["room_id"]
        for guest in guests:
            guest.ask("POST", f"/join/{urllib.parse.quote(room)}", {})
        return room

    def say(self, room, text):
        path = f"/rooms/{urllib.parse.quote(room)}/send/m.room.message/{secrets.token_hex(8)}"
        return self.ask("PUT", path, {"msgtype": "m.text", "body": text})["event_id"]

    def set_pusher(self, app, pushkey, url, **data):
        """Has the person's pushes go to one device alone."""
        for each in self.ask("GET", "/pushers")["pushers"]:
            self.ask("POST", "/pushers/set", {"kind": None, "app_id": each["app_id"], "pushkey": each["pushkey"]})
        self.ask("POST", "/pushers/set", {
            "kind": "http", "app_id": app, "pushkey": pushkey, "app_display_name": "Chat",
            "device_display_name": "Desktop", "lang": "en", "append": False, "data": {"url": url, **data}})

    def pushers(self):
        return [each["pushkey"] for each in self.ask("GET", "/pushers")["pushers"]]
