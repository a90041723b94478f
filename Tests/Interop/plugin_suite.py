"""A suite of somebody else's that uses the plugin for pytest from its source, run by a pytest of its own."""

import json
import os
import re
import subprocess
import sys

from aldaba_process import BINARY, REPOSITORY, clean_environment
from waiting import wait_for_end

SOURCE = REPOSITORY / "Packaging/python/src"

# What the suites send with: an APNs client and a FCM client of Python's h2, and PyPI's firebase-admin.
SENDING = '''
import json, os, ssl, time
import httpx, jwt, pytest


@pytest.fixture
def push(apns):
    """`push(token, title) -> answer`, an APNs client with what the fixture gave."""
    trust = ssl.create_default_context(cafile=apns.ca)
    with httpx.Client(http2=True, verify=trust, base_url=f"https://{apns.host}:{apns.port}") as client:
        provider = jwt.encode(
            {"iss": apns.team_id, "iat": int(time.time()) - 60}, apns.key_file.read_text(), algorithm="ES256",
            headers={"kid": apns.key_id})

        def send(token, title, topic=f"com.example.{apns.team_id}", **headers):
            return client.post(f"/3/device/{token}", json={"aps": {"alert": {"title": title}}}, headers={
                "authorization": f"bearer {provider}", "apns-topic": topic, "apns-push-type": "alert"} | headers)

        yield send


@pytest.fixture
def message(fcm):
    """`message(token, title) -> answer`, a FCM client with the service account that the fixture gave."""
    account = json.loads(fcm.service_account.read_text())
    with httpx.Client(verify=ssl.create_default_context(cafile=fcm.ca)) as client:
        now = int(time.time())
        assertion = jwt.encode(
            {"iss": account["client_email"], "aud": account["token_uri"], "iat": now, "exp": now + 3600,
             "scope": "https://www.googleapis.com/auth/firebase.messaging"}, account["private_key"], algorithm="RS256")
        access = client.post(account["token_uri"], data={
            "grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": assertion}).json()["access_token"]

        def send(token, title):
            return client.post(
                f"{fcm.url}/v1/projects/{fcm.project_id}/messages:send", headers={"authorization": f"Bearer {access}"},
                json={"message": {"token": token, "notification": {"title": title}}})

        yield send


@pytest.fixture(autouse=True)
def notes(request):
    """Notes for the test that started this suite: of which server and namespace each test was."""
    if "aldaba" in request.fixturenames:
        part = request.getfixturevalue("aldaba")
        told = json.loads((part.server.data / "serve.json").read_text())
        with open(os.environ["NOTES"], "a") as file:
            file.write(json.dumps([told["process"], str(part.server.data), part.name]) + "\\n")
'''


class Suite:
    """A suite in a folder, run by a pytest of its own."""

    def __init__(self, folder):
        self.folder = folder
        self.notes_file = folder / "notes"
        self.notes_file.touch()
        # What a killed run leaves goes away with the folder.
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        (folder / "conftest.py").write_text(SENDING)
        (folder / "pytest.ini").write_text("[pytest]\n")

    def command(self, tests, *arguments, **variables):
        (self.folder / "test_inner.py").write_text(tests)
        variables = {"ALDABA_PROGRAM": str(BINARY), "PYTHONPATH": str(SOURCE), "NOTES": str(self.notes_file),
                     "TMPDIR": str(self.temporary)} | variables
        return {
            "args": [sys.executable, "-m", "pytest", "-q", "-p", "aldaba.pytest_plugin", "-p", "no:cacheprovider", *arguments],
            "cwd": self.folder, "env": clean_environment(PYTHONDONTWRITEBYTECODE="1", **variables)}

    def run(self, tests, *arguments, **variables):
        """The completed process of a run to its end, after which no server is left."""
        done = subprocess.run(
            **self.command(tests, *arguments, **variables), capture_output=True, text=True, timeout=120, check=False,
            stdin=subprocess.DEVNULL)
        self.expect_no_server()
        return done

    @property
    def notes(self):
        """For each test its server's process, the server's data folder, and its namespace."""
        return [json.loads(line) for line in self.notes_file.read_text().splitlines()]

    def expect_no_server(self):
        for process, data, _ in self.notes:
            assert not os.path.exists(data), "the server's folder is left"
            # Under `aldaba run` the process has this id only inside; the folder has gone with it.
            if data.startswith(str(self.temporary)):
                assert wait_for_end(process), "the server is left"


def passed(done, count):
    assert done.returncode == 0 and re.search(rf"^{count} passed(, 1 warning)? in ", done.stdout, re.M), done.stdout + done.stderr
