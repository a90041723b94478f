"""No log holds a secret, at the lowest level too, whether all goes well or not."""

import json
import re
import sqlite3
import sys
import time
from contextlib import closing

import pytest

from aldaba_process import ARTEFACTS, REPOSITORY, clean_environment
from h2_client import H2Client
from log_lines import LINE
from mcs_client import Device, Identity
from own_agent import OwnAgent
from own_server import ENROLMENT_KEY, TEAM, TOPIC, OwnServer
from provider_tokens import ProviderKey

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import Agent  # noqa: E402

NAME = "test_secrets"
PAYLOAD_MARK = "the-payload-is-nobody-s-business"


class Run:
    """The whole path at the lowest log level: what was secret in it, and what was logged."""

    def __init__(self, folder):
        self.server = OwnServer(folder, NAME, log_level="trace")
        self.server.add_app()
        self.secrets = {}
        self._agent_log = ARTEFACTS / f"{NAME}.agent.log"
        self.server.start()
        try:
            self._go_well()
            self._go_wrong()
        finally:
            self.server.stop()

    def logs(self):
        return {
            "serve": self.server.log.read_text(errors="replace"),
            "agent": self._agent_log.read_text(errors="replace")}

    def _go_well(self):
        """An agent enrols, an app registers, a notification reaches it, and its timeline is looked up."""
        environment = clean_environment() | {
            "ALDABA_ENROLMENT_KEY": ENROLMENT_KEY, "ALDABA_LOG_LEVEL": "trace", "ALDABA_PRESENTER": "headless"}
        agent = OwnAgent(self.server, NAME, environment)
        try:
            secret = agent.install(
                id=TOPIC, name="Own", team=TEAM, executable=sys.executable, provesBySecret=True,
                authorization="granted")
            agent.start()
            with Agent(TOPIC, secret, agent.socket) as app:
                token = app.register()
                self.bearer = self.server.key().token()
                headers = [("authorization", f"bearer {self.bearer}"), ("apns-topic", TOPIC)]
                with H2Client(self.server.ready["apns"], self.server.ready["ca"]) as client:
                    answer = client.request(
                        "POST", f"/3/device/{token}", headers, json.dumps({"aps": {"alert": PAYLOAD_MARK}}).encode())
                assert answer.status == 200, answer.reason
                app.wait_for_notification(20)
                self.server.control().wait_for_last_state(answer.apns_id, "handed")
            with closing(sqlite3.connect(agent.data / "agent.sqlite")) as database:
                (device, device_secret), = database.execute("SELECT device, secret FROM identity")
            self.identity = Identity(device, device_secret)
            self.secrets |= {"the app's secret": secret.strip(), "the device token": token}
        finally:
            agent.stop()
        self._gather()

    def _gather(self):
        key_file = next(self.server.data.glob("keys/AuthKey_*.p8"))
        header, claims, signature = self.bearer.split(".")
        self.secrets |= {
            "the enrolment key": ENROLMENT_KEY, "the payload": PAYLOAD_MARK,
            "the device's secret": str(self.identity.secret), "the device's secret in hex": f"{self.identity.secret:x}",
            "the sealing key": (self.server.data / "token.key").read_text().split()[0],
            "the provider key": pem_body(key_file), "the certificate's key": pem_body(self.server.certificates.key),
            "the provider token": self.bearer, "the provider token's signature": signature,
        }

    def _go_wrong(self):
        """Secrets in places where they are refused: the log tells of refusals and errors too."""
        control = self.server.control()
        known = {"android_id": self.identity.device ^ 2, "security_token": self.identity.secret}
        for body, headers in (
            (json.dumps(known), {}), (json.dumps({"android_id": 0}), {"authorization": f"Enrol {ENROLMENT_KEY}x"}),
            (f'{{"android_id": "{self.identity.secret}', {}), (b"\xff" + ENROLMENT_KEY.encode(), {}),
        ):
            control.request("POST", "/checkin", body, headers | {"content-type": "application/json"})
        for authorization in (
            f"AidLogin {self.identity.device ^ 2}:{self.identity.secret}",
            f"AidLogin {self.identity.device}:{self.identity.secret}:",
            f"AidLogin {self.identity.device}:{self.identity.secret}",
        ):
            control.request("POST", "/c2dm/register3", f"app={TOPIC}&sender=NOBODY", {
                "authorization": authorization, "content-type": "application/x-www-form-urlencoded"})
        for authorization in (self.bearer, f"bearer {self.bearer}x", f"bearer {self.bearer}"):
            control.request("GET", "/v1/notifications/nothing", headers={"authorization": authorization})
        # The secret as a path, and as bytes that are no request at all.
        control.request("GET", f"/v1/notifications/{ENROLMENT_KEY}")
        control.request("GET", f"/nowhere?key={ENROLMENT_KEY}")
        self.server.exchange_with_control(f"{ENROLMENT_KEY} {self.identity.secret}\r\n\r\n".encode())
        refused = {
            "a token that was changed": f"{self.bearer}x",
            "another key's token": ProviderKey.made_now(self.server.key().key_id, TEAM).token(),
            "an old token": self.server.key().token(issued=int(time.time()) - 7200),
        }
        self.secrets |= refused
        with H2Client(self.server.ready["apns"], self.server.ready["ca"]) as client:
            for bearer in refused.values():
                headers = [("authorization", f"bearer {bearer}"), ("apns-topic", TOPIC)]
                answer = client.request("POST", f"/3/device/{self.secrets['the device token']}", headers, b"{}")
                assert answer.status == 403
        for identity in (self.identity, Identity(self.identity.device ^ 2, self.identity.secret)):
            with Device(self.server.ready["mcs"], self.server.ready["ca"]) as device:
                device.login(identity)
                device.send_raw(bytes([250]) + str(identity.secret).encode())
                device.closed_by_server()
        with Device(self.server.ready["mcs"], self.server.ready["ca"]) as device:
            device.send_raw(bytes([41, 200]) + str(self.identity.secret).encode())
            device.closed_by_server()


def pem_body(path):
    """The lines between a PEM file's first and last."""
    return path.read_text().split("-----")[2].strip()


def leaks(log, secrets):
    """The names of the secrets that stand in a log, each with what stands around it."""
    lines = log.splitlines()
    found = {}
    for name, secret in secrets.items():
        # A PEM body also counts where it is told line by line, or without its lines.
        for part in {secret, *(piece for piece in secret.split("\n") if len(piece) > 16), secret.replace("\n", "")}:
            if line := next((line for line in lines if part.lower() in line.lower()), None):
                where = line.lower().index(part.lower())
                found[name] = re.sub(r"\s+", " ", line[max(0, where - 60):where + len(part) + 10])
    return found


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return Run(tmp_path_factory.mktemp("secrets"))


@pytest.mark.parametrize("program", ["serve", "agent"])
def test_the_lowest_level_is_logged(run, program):
    levels = {found["level"] for line in run.logs()[program].splitlines() if (found := LINE.match(line))}
    assert levels & {"trace", "debug"}, levels


@pytest.mark.parametrize("program", ["serve", "agent"])
def test_no_log_holds_a_secret(run, program):
    assert leaks(run.logs()[program], run.secrets) == {}
