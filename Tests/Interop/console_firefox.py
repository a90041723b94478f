"""Debian's Firefox without a window, driven over its Marionette socket."""

import json
import socket
import subprocess

from aldaba_process import clean_environment
from waiting import TimedOut, wait_until

SECONDS = 40
PREFERENCES = """
user_pref("marionette.port", {port});
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("app.update.disabledForTesting", true);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
"""


class Firefox:
    """A running Firefox with one page."""

    def __init__(self, folder):
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        profile, home = folder / "profile", folder / "home"
        profile.mkdir()
        home.mkdir()
        (profile / "user.js").write_text(PREFERENCES.format(port=port))
        with open(folder / "firefox.log", "wb") as log:
            self.process = subprocess.Popen(
                ["firefox-esr", "--headless", "--marionette", "--no-remote", "--profile", str(profile), "about:blank"],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=clean_environment(HOME=str(home)))
        self._number = 0
        self._socket = wait_until(lambda: self._connect(port), "Firefox listens", SECONDS)
        self._file = self._socket.makefile("rb")
        assert self._read()["applicationType"] == "gecko"
        self._call("WebDriver:NewSession", capabilities={})

    def _connect(self, port):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=SECONDS)
        except ConnectionRefusedError:
            return None

    def _read(self):
        """A message is its length, a colon, and JSON."""
        length = b""
        while (byte := self._file.read(1)) != b":":
            if not byte:
                raise TimedOut("Firefox closed the connection")
            length += byte
        return json.loads(self._file.read(int(length)))

    def _call(self, name, **parameters):
        self._number += 1
        message = json.dumps([0, self._number, name, parameters]).encode()
        self._socket.sendall(str(len(message)).encode() + b":" + message)
        _, number, error, result = self._read()
        assert number == self._number and error is None, f"{name}: {error}"
        return result

    def go(self, address):
        """Loads a page to its end."""
        self._call("WebDriver:Navigate", url=address)

    def run(self, script):
        """What a function's body returns in the page."""
        return self._call("WebDriver:ExecuteScript", script=script, args=[])["value"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)
