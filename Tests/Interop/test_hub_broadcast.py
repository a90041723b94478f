"""Sends of a hub that are handed over as one: the copies are made when each device's turn comes."""

import functools
import json
import os
import queue
import sqlite3
import threading
import time
from datetime import datetime, timedelta
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import pytest
from azure_notification_hub.notifications import create_apple_body, create_apple_notification
from fcm_receiver import FCMClient, fcm_client, http_client

from aldaba_process import AldabaUp
from control_client import ControlClient
from hub_clients import Hub, OwnHub
from mcs_client import DATA, PING, PONG, Closed, Device, Notification, checkin, register3
from waiting import kill, wait_for_lines, wait_until

SECONDS = 30
# Several servers send to each device alone: their copies of one list cannot be stopped at one moment.
BY_LIST = pytest.mark.skipif(os.environ.get("ALDABA_TEST_STORE") == "nodes", reason="several servers send no lists")


@pytest.fixture
def own_up(request):
    """A run of the test's own, which hands over as one from two devices on."""
    running = AldabaUp.ephemeral("--hub-broadcast-minimum", "2", name=request.node.name)
    yield running
    if running.process.poll() is None:
        running.stop()
    running.drop_logs()


class Receiver:
    """PyPI's fcm-receiver, with what it was called back with."""

    def __init__(self, path):
        self.messages, self.states = queue.Queue(), queue.Queue()
        self.client = FCMClient()
        self.client.api_key, self.client.app_id = "none", path["topic"]
        self.client.project_id = path["teamId"].lower()
        self.client.on_notification_message = lambda message, _: self.messages.put(message["payload"])
        self.client.on_connection_status = lambda state, _: self.states.put(state)
        self.client.create_new_keys()
        self.token = self.client.register()[0]

    def listen(self):
        self.client.start_listening()
        while self.states.get(timeout=SECONDS) != "connected":
            pass

    def next(self):
        return self.messages.get(timeout=SECONDS)


@BY_LIST
@pytest.mark.timeout(120)
def test_one_send_reaches_who_is_connected_and_who_connects_later(own_up, monkeypatch):
    path = own_up.ready
    monkeypatch.setattr(http_client, "CHECKIN_URL", f"{path['http']}/checkin")
    monkeypatch.setattr(http_client, "REGISTER_URL", f"{path['http']}/c2dm/register3")
    monkeypatch.setattr(http_client, "FIREBASE_INSTALLATION", f"{path['http']}/v1/")
    monkeypatch.setattr(http_client, "FIREBASE_REGISTRATION", f"{path['http']}/v1/")
    mcs = urlsplit(f"//{path['mcs']}")
    monkeypatch.setattr(fcm_client, "dial_fcm", functools.partial(fcm_client.dial_fcm, mcs.hostname, mcs.port))
    hub = Hub(path, monkeypatch)
    control = ControlClient(path["http"])
    own = OwnHub(path, control)
    receivers = [Receiver(path) for _ in range(4)]
    for number, token in enumerate([each.token for each in receivers] + [path["deviceToken"]]):
        hub.full.create_or_update_installation(
            {"installationId": f"i{number}", "platform": "aldaba", "pushChannel": token, "tags": ["all"]})
    for each in receivers[:3]:
        each.listen()
    # An app that is told to leave is not in any more; one that comes later is not in yet.
    gone = Receiver(path)
    hub.full.create_or_update_installation(
        {"installationId": "gone", "platform": "aldaba", "pushChannel": gone.token, "tags": ["all"]})
    try:
        sent = hub.full.send_notification(
            create_apple_notification(create_apple_body(alert="Milk")), tag_expression="all && !none")
        told = hub.wait_for_state(sent["notificationId"], "Completed")
        assert "<Name>Success</Name><Count>6</Count>" in told
        hub.full.delete_installation("gone")
        for each in receivers[:3]:
            assert each.next()["notification"]["body"] == "Milk"
        wait_for_lines(path["appLog"], lambda lines: len(lines) >= 1, "the demo app is handed it")
        report = own.ask("GET", f"/sends/{sent['notificationId']}/report")[1]
        assert sum(report["ends"].values()) == 6
        rows = own.ask("GET", f"/sends/{sent['notificationId']}/recipients")[1]["recipients"]
        # Everybody who is meant has a row; whose installation was deleted since is there without a name.
        assert sorted(each["installationId"] for each in rows) == ["", "i0", "i1", "i2", "i3", "i4"]
        receivers[3].listen()
        assert receivers[3].next()["notification"]["body"] == "Milk"
        gone.listen()
        time.sleep(1)
        for each in receivers + [gone]:
            assert each.messages.empty()

        def settled():
            report = own.ask("GET", f"/sends/{sent['notificationId']}/report")[1]
            return report["ends"].get("presented") == 1 and report

        report = wait_until(settled, "the report says that the demo app's was shown")
        assert sum(report["ends"].values()) == 6 and report["funnel"][0]["count"] == 6
    finally:
        for each in [*receivers, gone]:
            each.client.close()
        hub.close()
        control.close()


class Listener(threading.Thread):
    """A device that connects again whenever its connection ends, and acknowledges what it has."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path = path
        self.identity = checkin(path["http"])
        self.token = register3(path["http"], self.identity, path["topic"], path["teamId"])
        self.names = {}
        self.isEnded = False

    def texts(self):
        return sorted(self.names.values())

    def run(self):
        while not self.isEnded:
            try:
                with Device(self.path["mcs"], self.path["ca"], timeout=2) as device:
                    device.login(self.identity, list(self.names)[-20:])
                    while not self.isEnded:
                        packet = device.receive()
                        if packet.tag == PING:
                            device.send(PONG)
                        elif packet.tag == DATA:
                            one = Notification.of(packet)
                            self.names[one.persistent_id] = json.loads(one.payload)["aps"]["alert"]["body"]
                            device.acknowledge_stream(one.stream_id)
            except (OSError, Closed, AssertionError, TimeoutError):
                time.sleep(0.05)  # The server is being started again, or there was nothing for a while.


def is_up(control):
    try:
        return control.request("GET", "/health")[0] == 200
    except OSError:
        control.close()
        return False


@pytest.mark.timeout(180)
def test_campaigns_that_kills_cut_in_two_come_once_to_everybody(own_up):
    path = own_up.ready
    control = ControlClient(path["http"])
    own = OwnHub(path, control)
    listeners = [Listener(path) for _ in range(8)]
    for number, each in enumerate(listeners):
        document = {"platform": "aldaba", "pushChannel": each.token, "tags": ["all"]}
        assert own.ask("PUT", f"/installations/i{number}", document)[0] == 201
    for each in listeners[:4]:
        each.start()
    campaigns = []
    for number in range(4):
        for part in "ab":
            name = f"{number}{part}"
            status, made = own.ask("POST", "/campaigns", {"audience": "all", "content": {"body": name}})
            assert status == 201
            campaigns.append((name, made["id"]))
        # At another point of the way each time.
        time.sleep(0.01 * number)
        pid = own_up.pids()["serve"]
        kill(pid)
        own_up.wait_for_new_pid("serve", pid)
        wait_until(lambda: is_up(control), "the server is back")
        time.sleep(2.6)  # `up` gives up after five deaths in ten seconds.
    for each in listeners[4:]:
        each.start()
    wanted = sorted(name for name, _ in campaigns)
    try:
        for each in listeners:
            wait_until(lambda: set(each.texts()) == set(wanted), "all have come", 30)
            assert each.texts() == wanted, "one came twice"
        for _, campaign in campaigns:
            own.wait_for_campaign(campaign, "Completed")

            def delivered():
                ends = own.ask("GET", f"/campaigns/{campaign}/report")[1]["ends"]
                assert sum(ends.values()) == 8
                return ends == {"delivered": 8}

            wait_until(delivered, "the report has them all")
        if not (own_up.data / "server.sqlite").exists():
            return  # The notifications of this run are in PostgreSQL.
        with sqlite3.connect(f"file:{own_up.data}/server.sqlite?mode=ro", uri=True) as database:
            [broadcasts, copies] = database.execute(
                "SELECT (SELECT COUNT(*) FROM broadcast), (SELECT COUNT(*) FROM payload_use)").fetchone()
        assert (broadcasts, copies) == (len(campaigns), len(campaigns) * len(listeners))
    finally:
        for each in listeners:
            each.isEnded = True
        for each in listeners:
            each.join(10)
        control.close()


@BY_LIST
@pytest.mark.timeout(180)
def test_a_campaign_that_is_held_reaches_nobody_new_and_goes_on_where_it_was(own_up):
    path = own_up.ready
    control = ControlClient(path["http"])
    own = OwnHub(path, control)
    listeners = [Listener(path) for _ in range(5)]
    for number, each in enumerate(listeners):
        # The last one is where quiet hours are: until they end the campaign goes on.
        zone = "Asia/Kolkata" if number == 4 else "UTC"
        status, _ = own.ask("PUT", f"/installations/i{number}", {
            "platform": "aldaba", "pushChannel": each.token, "tags": ["all"], "timeZone": zone})
        assert status == 201
    there = datetime.now(ZoneInfo("Asia/Kolkata"))
    quiet = {
        "from": (there - timedelta(hours=2)).strftime("%H:%M"), "to": (there + timedelta(hours=2)).strftime("%H:%M"),
        "then": "wait", "unknownZone": "skip"}

    def send(text, **more):
        status, made = own.ask("POST", "/campaigns", {"audience": "all", "content": {"body": text}} | more)
        assert status == 201, made
        return made["id"]

    def has(number, *texts):
        wait_until(lambda: set(texts) <= set(listeners[number].texts()), f"{texts} have come", SECONDS)
        assert listeners[number].texts() == sorted(texts)

    listeners[0].start()
    try:
        held = send("held", quiet=quiet)
        has(0, "held")
        assert own.ask("POST", f"/campaigns/{held}/pause")[1]["state"] == "Paused"
        # They connect meanwhile, before and after the server was killed; what is sent later comes.
        listeners[1].start()
        own.wait_for_campaign(send("one"), "Completed")
        has(1, "one")
        pid = own_up.pids()["serve"]
        kill(pid)
        own_up.wait_for_new_pid("serve", pid)
        wait_until(lambda: is_up(control), "the server is back")
        assert own.ask("GET", f"/campaigns/{held}")[1]["state"] == "Paused"
        listeners[2].start()
        own.wait_for_campaign(send("two"), "Completed")
        has(1, "one", "two")
        has(2, "one", "two")
        ends = own.ask("GET", f"/campaigns/{held}/report")[1]["ends"]
        assert (ends["pending"], sum(ends.values())) == (1, 5)
        assert own.ask("POST", f"/campaigns/{held}/resume")[1]["state"] == "Processing"
        for number in (1, 2):
            has(number, "held", "one", "two")
        listeners[3].start()
        has(3, "held", "one", "two")
        own.wait_for_campaign(send("three"), "Completed")
        for number in range(4):
            has(number, "held", "one", "two", "three")

        def delivered():
            ends = own.ask("GET", f"/campaigns/{held}/report")[1]["ends"]
            assert sum(ends.values()) == 5
            return ends == {"delivered": 4, "pending": 1}

        wait_until(delivered, "the report has them all")
    finally:
        for each in listeners:
            each.isEnded = True
        for each in listeners[:4]:
            each.join(10)
        control.close()
