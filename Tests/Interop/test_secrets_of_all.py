"""No log of any program holds a secret: FCM, the hub, webhooks, browsers' keys and relay, at the lowest level.

`test_secrets` has a server and an agent by themselves; here everything runs that `aldaba up` starts, and the commands too.
"""

import json
import sys
import uuid

import pytest
import requests
from firebase_admin import messaging

from aldaba_process import REPOSITORY, AldabaUp, clean_environment, run_aldaba
from control_client import ControlClient
from fcm_library import firebase_app
from hub_clients import Hub, OwnHub
from log_lines import LINE
from push_service import PushService
from test_secrets import leaks, pem_body
from test_web_push import Browser, text
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonRelay"))
from aldaba_relay import Relay  # noqa: E402

# The demo app is not among them: it prints its own device token, as the tutorials of such apps do.
PROGRAMS = ("serve", "agent", "agent-2", "commands", "up")
RELAY_APP = "com.example.relay"


class Run:
    """Everything that `up` starts, used once each way: what was secret in it, and what was logged."""

    def __init__(self, folder, monkeypatch):
        self.environment = clean_environment(ALDABA_LOG_LEVEL="trace")
        self.folder = folder
        self.secrets = {}
        self.commands = []
        self.up = AldabaUp.ephemeral("--devices", "2", name="test_secrets_of_all", environment=self.environment)
        try:
            self.path = self.up.ready
            self._keys()
            self._messages(monkeypatch)
            self._hub(monkeypatch)
            self._webhook()
            self._browser()
            self._relay()
            self.logs = {name: self._log(name) for name in PROGRAMS if name not in ("commands", "up")}
        finally:
            self.up.stop()
        self.logs |= {"commands": "\n".join(self.commands), "up": self.up.log.read_text(errors="replace")}
        self.up.drop_logs()

    def _log(self, name):
        return (self.up.data / "log" / f"{name}.log").read_text(errors="replace")

    def _aldaba(self, *arguments):
        """A command's standard output; its log is kept."""
        done = run_aldaba(*arguments, env=self.environment)
        self.commands.append(done.stderr)
        return done.stdout

    def _keys(self):
        account = json.loads(open(self.path["serviceAccount"]).read())
        self.secrets |= {
            "the provider key": pem_body(self.up.data / "keys" / f"AuthKey_{self.path['keyId']}.p8"),
            "the service account's key": account["private_key"].split("-----")[2].strip(),
            "the sealing key": (self.up.data / "token.key").read_text().split()[0],
            "the certificate's key": pem_body(self.up.data / "certificates/server-key.pem"),
            "the registration token": self.path["registrationToken"],
        }

    def _messages(self, monkeypatch):
        """Sent by FCM's library and by the command."""
        self.secrets |= {"a message's text": "nobody-else-reads-this", "a message's data": "nor-that"}
        with firebase_app(monkeypatch, self.path["fcm"], self.path["serviceAccount"], name="secrets") as app:
            messaging.send(messaging.Message(
                token=self.path["registrationToken"], data={"key": "nor-that"},
                notification=messaging.Notification(title="nobody-else-reads-this")), app=app)
            self.secrets["an access token"] = app.credential.get_access_token().access_token
        self._aldaba("send", "--app", self.path["topic"], "--title", "nobody-else-reads-this", "--data", self.path["data"])

    def _hub(self, monkeypatch):
        connection = dict(part.split("=", 1) for part in self.path["hub"].strip(";").split(";"))
        self.secrets |= {"the hub's key": connection["SharedAccessKey"], "a template's value": "a-person-s-own-name"}
        hub = Hub(self.path, monkeypatch)
        own = OwnHub(self.path, control := ControlClient(self.path["http"]))
        try:
            with PushService(lambda asked: (204, {}, b"")) as receiver:
                self.secrets["the hub's webhook's secret"] = own.ask(
                    "PUT", "/webhook", {"url": receiver.url + "/events"})[1]["secret"]
                status, made = own.ask("PUT", f"/installations/{uuid.uuid4()}", {
                    "platform": "aldaba", "pushChannel": self.path["registrationToken"], "tags": ["secret"],
                    "userId": "somebody"})
                assert status == 201, made
                hub.sender.send_apple_notification(False, {"aps": {"alert": "a-person-s-own-name"}}, tags={"secret"})
                status, made = own.ask("POST", "/campaigns", {
                    "audience": "secret", "content": {"title": "a-person-s-own-name"}})
                assert status == 201, made
                own.wait_for_campaign(made["id"], "Completed")
                own.ask("PUT", f"/installations/{uuid.uuid4()}", {"platform": "apns", "pushChannel": "dead", "tags": [7]})
                own.ask("DELETE", "/webhook")
        finally:
            control.close()
            hub.close()

    def _webhook(self):
        topic, data = self.path["topic"], self.path["data"]
        told = self._aldaba("app", "webhook", "set", topic, "--url", "http://127.0.0.1:9/", "--json", "--data", data)
        self.secrets["the app's webhook's secret"] = json.loads(told)["secret"]
        self._aldaba("app", "webhook", "show", topic, "--data", data)

    def _browser(self):
        browser = Browser(self.path)
        assert browser.push(b"a page's own words").status_code == 201
        self.secrets |= {
            "the subscription's secret": text(browser.secret), "the endpoint's token": browser.token,
            "the browser's login": str(browser.library.identity.secret)}
        requests.post(browser.endpoint, data=b"x", headers={"authorization": "vapid t=a.b.c, k=d"}, timeout=10)

    def _relay(self):
        first, second = (told["socket"] for told in self.path["devices"])
        key = self._aldaba("relay", "account", "show", "--agent-socket", first).strip()
        self.secrets["the account's key"] = key.removeprefix("aldaba-account-")
        for told in self.path["devices"]:
            settings = json.loads(open(f"{told['data']}/relay.json").read())
            own = settings["deviceKey"]
            self.secrets |= {
                f"the device key of {told['name']}": bytes(own).hex(),
                f"the device key of {told['name']} as Swift prints bytes": str(own)}
        self.secrets["what is asked of a service"] = "what-two-devices-say"
        other = self.path["devices"][1]["name"]
        wait_until(
            lambda: other in self._aldaba("relay", "devices", "--agent-socket", first), "one sees the other")
        self._aldaba("relay", "call", "ping", "--on", other, "--agent-socket", first, "--message",
                     json.dumps({"word": "what-two-devices-say"}))
        # A secret where none belongs is refused, and not repeated.
        refused = run_aldaba(
            "relay", "account", "join", "--agent-socket", second, check=False, env=self.environment,
            input=f"{key}0\n")
        assert refused.returncode != 0
        self.commands.append(refused.stderr)
        manifest = self.folder / "relay.json"
        manifest.write_text(json.dumps({
            "id": RELAY_APP, "name": "Relay", "team": "ALDABADEMO", "executable": sys.executable, "provesBySecret": True}))
        told = self._aldaba("agent", "app", "install", manifest, "--data", self.path["devices"][0]["data"]).split()
        secret = open(told[1]).read()
        self.secrets["an app's secret"] = secret.strip()
        relay = Relay(RELAY_APP, secret, first)
        relay.publish({"echo": "sameUser"})
        relay.end()


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    with pytest.MonkeyPatch.context() as monkeypatch:
        return Run(tmp_path_factory.mktemp("secrets"), monkeypatch)


@pytest.mark.parametrize("program", ["serve", "agent"])
def test_the_lowest_level_is_logged(run, program):
    levels = {found["level"] for line in run.logs[program].splitlines() if (found := LINE.match(line))}
    assert levels & {"trace", "debug"}, levels


@pytest.mark.parametrize("program", PROGRAMS)
def test_no_log_holds_a_secret(run, program):
    assert all(len(secret) > 7 for secret in run.secrets.values())
    assert leaks(run.logs[program], run.secrets) == {}
