"""The credentials of clients of APNs and FCM: keys that the program makes once for a run, and names of each test's own."""

import json
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from aldaba._program import program


class SenderKeys:
    """One key for APNs and one for FCM, made when they are first needed. The server takes any, so all tests share them."""

    def __init__(self):
        self._folder = None
        self._made = {}

    def _make(self, kind, *arguments):
        if kind not in self._made:
            if self._folder is None:
                self._folder = tempfile.mkdtemp(prefix="aldaba-keys-")
            done = subprocess.run(
                [program(), *kind.split(), "create", *arguments, f"--data={self._folder}", "--json"], capture_output=True,
                text=True, check=False, timeout=60)
            if done.returncode != 0:
                raise RuntimeError(f"aldaba {kind} create: {done.stderr.strip()}")
            self._made[kind] = json.loads(done.stdout)
        return self._made[kind]

    @property
    def apns(self):
        """The id of a provider key, and the file of it."""
        made = self._make("key")
        return made["keyId"], Path(made["path"])

    @property
    def fcm(self):
        """The members of a service account."""
        # Each test's file has the address of its server.
        made = self._make("service-account", "--url=https://127.0.0.1")
        return json.loads(Path(made["path"]).read_text())

    def remove(self):
        """Removes the files."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


@dataclass(frozen=True)
class Apns:
    """The members that a client of APNs needs. `key_file` is the .p8 file, `ca` the file of the authority that it is to trust."""

    team_id: str
    key_id: str
    key_file: Path
    host: str
    port: int
    ca: Path

    @classmethod
    def of(cls, part, keys):
        """Makes the members of a namespace."""
        return cls(part.name, *keys.apns, part.server.host, part.server.apns_port, part.server.ca)


@dataclass(frozen=True)
class Fcm:
    """The members that a client of FCM needs. `service_account` is the JSON file, `url` stands in place of https://fcm.googleapis.com, `ca` is
    the file of the authority that it is to trust."""

    project_id: str
    service_account: Path
    url: str
    ca: Path

    @classmethod
    def of(cls, part, keys, folder):
        """Makes the members of a namespace, with a file in a folder."""
        url = part.server.fcm_url
        account = keys.fcm | {
            "project_id": part.name, "client_email": f"tests@{part.name}.iam.gserviceaccount.com", "token_uri": f"{url}/token"}
        file = folder / "service-account.json"
        with open(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as opened:
            json.dump(account, opened)
        return cls(part.name, file, url, part.server.ca)
