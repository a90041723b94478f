"""Reports, the export and FCM's delivery data, over what a scripted device does with notifications."""

import csv
import io
import json
import subprocess
import time
from pathlib import Path

import pytest
import requests

from aldaba_process import BINARY
from mcs_client import Device, checkin, register3

TODAY = time.strftime("%Y-%m-%d", time.gmtime())


class Phone:
    """A device with the demo app, which receives and reports as it is told."""

    def __init__(self, path):
        self.path = path
        self.identity = checkin(path["http"])
        self.token = register3(path["http"], self.identity, path["topic"], path["teamId"])

    def connected(self, received=()):
        device = Device(self.path["mcs"], self.path["ca"])
        device.login(self.identity, received)
        return device

    def receive(self, count, *states):
        """Takes so many notifications, acknowledges them, and reports these states of each; their ids."""
        with self.connected() as device:
            came = [notification.persistent_id for notification in device.notifications(count)]
            device.acknowledge_selectively(came)
            if states:
                now = int(time.time() * 1000)
                device.wait_confirmed(device.send_receipts(
                    f"receipts-{came[0]}", [(i, state, now, "desktop") for i in came for state in states]))
            device.nothing_more()
        return came


@pytest.fixture
def phone(path):
    return Phone(path)


def report(path, **query):
    response = requests.get(path["http"] + "/v1/reports", params=query, timeout=10)
    assert response.status_code == 200, response.text
    return response.json()


def counts(path, label):
    answer = report(path, label=label)
    assert sum(answer["total"]["ends"].values()) == answer["total"]["accepted"]
    return answer["total"]


def aldaba(path, *arguments):
    done = subprocess.run(
        [BINARY, *arguments, "--data", path["data"]], capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr
    return done.stdout


def send_labelled(send, phone, label, count=1, **headers):
    names = []
    for _ in range(count):
        status, name, reason = send(
            phone.token, {"aps": {"alert": "x"}, "google.c.a.m_l": label}, **headers)
        assert status == 200, reason
        names.append(name)
    return names


def test_a_report_follows_a_notification_from_acceptance_to_a_tap(path, send, phone):
    send_labelled(send, phone, "tap", 3)
    total = counts(path, "tap")
    assert (total["accepted"], total["notifications"], total["ends"]["pending"]) == (3, 3, 3)
    phone.receive(3)
    total = counts(path, "tap")
    assert (total["sent"], total["received"], total["ends"]["delivered"], total["ends"]["pending"]) == (3, 3, 3, 0)
    send_labelled(send, phone, "tap")
    phone.receive(1, "presented", "opened")
    send_labelled(send, phone, "tap")
    phone.receive(1, "presented", "dismissed")
    total = counts(path, "tap")
    assert (total["accepted"], total["presented"], total["opened"], total["dismissed"]) == (5, 2, 1, 1)
    assert total["ends"]["delivered"] == 5
    [row] = report(path, label="tap")["rows"]
    assert (row["app"], row["day"], row["lane"], row["label"]) == (path["topic"], TODAY, "apns", "tap")


def test_ends_have_their_reasons(path, send, phone):
    send_labelled(send, phone, "ends", apns_expiration=0)
    send_labelled(send, phone, "ends", apns_expiration=int(time.time()) - 5)
    send_labelled(send, phone, "ends", 2, apns_collapse_id="one")
    [name] = send_labelled(send, phone, "ends")
    assert requests.delete(path["http"] + f"/v1/notifications/{name}", timeout=10).status_code == 200
    ends = {end: count for end, count in counts(path, "ends")["ends"].items() if count}
    assert ends == {"droppedOffline": 1, "expired": 1, "replaced": 1, "withdrawn": 1, "pending": 1}
    message = requests.get(path["http"] + f"/v1/reports/messages/{name}", timeout=10).json()
    assert message["counts"]["accepted"] == 1 and message["counts"]["ends"]["withdrawn"] == 1
    assert "notifications" not in message["counts"], "what is not known is not told as none"


def test_the_command_shows_and_exports(path, send, phone):
    names = send_labelled(send, phone, "shown", 3)
    phone.receive(3)
    told = json.loads(aldaba(path, "report", "--label", "shown", "--json"))
    assert told["total"]["accepted"] == 3
    words = aldaba(path, "report", "--label", "shown", "--app", path["topic"])
    assert f"{TODAY}  {path['topic']}  apns  label shown" in words and "ends: delivered 3" in words
    lines = [json.loads(line) for line in aldaba(path, "export", "events").splitlines()]
    for name in names:
        states = [line["state"] for line in lines if line["apnsId"] == name]
        assert states == ["accepted", "stored", "sent", "acked"]
    table = list(csv.DictReader(io.StringIO(aldaba(path, "export", "events", "--format", "csv"))))
    assert [(row["id"], row["state"]) for row in table] == [(line["id"], line["state"]) for line in lines]
    last = lines[-1]["id"]
    assert aldaba(path, "export", "events", "--after", last) == ""
    done = subprocess.run(
        [BINARY, "report", "--from", "2026-02-30", "--data", path["data"]], capture_output=True, text=True, timeout=30)
    assert done.returncode == 3 and "2026-02-30" in done.stderr


@pytest.mark.parametrize("query", [
    "reports?from=yesterday", "reports?from=2026-02-02&to=2026-02-01", "reports?from=2020-01-01&to=2026-01-01",
    "reports?lane=mail", "events?format=xml", "events?after=x", "events?after=-1", "events?to=2026-1-1",
])
def test_what_cannot_be_answered_says_why(path, query):
    response = requests.get(path["http"] + "/v1/" + query, timeout=10)
    assert response.status_code == 400 and response.json()["detail"]


def test_fcms_delivery_data_has_its_shape(path):
    url = path["http"] + f"/v1beta1/projects/{path['teamId'].lower()}/androidApps/{path['topic']}/deliveryData"
    answer = requests.get(url, params={"pageSize": 10}, timeout=10)
    assert answer.status_code == 200
    assert answer.json()["androidDeliveryData"] == [], "nothing came by FCM's door here"


@pytest.mark.parametrize("query", [
    {"pageSize": -1}, {"pageSize": "ten"}, {"pageSize": 2**70}, {"pageToken": "x"}, {"pageToken": -5}])
def test_fcms_delivery_data_is_refused_as_google_refuses(path, query):
    url = path["http"] + f"/v1beta1/projects/{path['teamId'].lower()}/androidApps/{path['topic']}/deliveryData"
    answer = requests.get(url, params=query, timeout=10)
    error = answer.json()["error"]
    assert answer.status_code == error["code"] == 400 and error["status"] == "INVALID_ARGUMENT"
    assert next(iter(query)) in error["message"]


def test_over_tls_a_report_is_a_teams_own(path, provider):
    served = json.loads((Path(path["data"]) / "serve.json").read_text())
    control = f"https://{served['host']}:{served['controlPort']}"
    for where in ["/v1/reports", "/v1/events", "/v1beta1/projects/x/androidApps/y/deliveryData"]:
        assert requests.get(control + where, verify=path["ca"], timeout=10).status_code == 401
    headers = {"Authorization": f"bearer {provider.key.token()}"}
    answer = requests.get(control + "/v1/reports", headers=headers, verify=path["ca"], timeout=10)
    assert answer.status_code == 200 and answer.json()["total"]["accepted"] > 0


def test_a_dismissal_on_one_device_clears_the_others(path, send):
    first, second = Phone(path), Phone(path)
    payload = {"aps": {"alert": "x"}, "aldaba": {"sync-group": "order-7"}}
    for phone in (first, second):
        assert send(phone.token, payload)[0] == 200
    with second.connected() as device:
        shown = device.notification()
        device.acknowledge_selectively([shown.persistent_id])
        device.nothing_more()
        first.receive(1, "presented", "dismissed")
        told = device.notification(timeout=10)
        assert shown.persistent_id in str(told), "the other device is told to take it off"


def test_states_are_metrics(path):
    text = requests.get(path["metrics"] + "/metrics", timeout=10).text
    for state in ("accepted", "received", "opened", "delivered", "withdrawn"):
        assert f'aldaba_notification_states_total{{state="{state}"}}' in text
