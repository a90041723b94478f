"""A provider takes notifications back: before they arrive, and off a device that shows them."""

import json
import uuid

import pytest

from aldaba_process import AldabaUp, clean_environment, run_aldaba
from control_client import ControlClient
from mcs_client import Device, checkin, register3
from provider import Provider
from screen import Screen
from script_app import ScriptApp
from waiting import wait_until


@pytest.fixture
def screen():
    made = Screen(clean_environment(), server="mock")
    yield made
    made.stop()


def withdraw(control, reference):
    status, body = control.request("DELETE", f"/v1/notifications/{reference}")
    return status, json.loads(body)


def outcomes(control, reference):
    status, answers = withdraw(control, reference)
    assert status == 200, answers
    return [answer["outcome"] for answer in answers]


class Away:
    """A device of a scripted client, on which the demo app is registered."""

    def __init__(self, path):
        self.path = path
        self.identity = checkin(path["http"])
        self.token = register3(path["http"], self.identity, path["topic"], path["teamId"])

    def connect(self, received=()):
        device = Device(self.path["mcs"], self.path["ca"])
        device.login(self.identity, received)
        return device


@pytest.fixture
def away(path):
    return Away(path)


def test_what_waits_vanishes(away, send, control):
    first, second = [send(away.token, {"aps": {"alert": f"number {number}"}})[1] for number in (1, 2)]
    assert outcomes(control, first) == ["withdrawn"]
    assert control.states(first) == ["accepted", "stored", "withdrawn"]
    assert outcomes(control, first) == ["ended"]
    with away.connect() as device:
        assert [one.app_data["aldaba.apns-id"] for one in device.notifications(1)] == [second]
        assert device.nothing_more() == []


def test_a_device_that_has_it_is_told_until_it_acknowledges(away, send, control):
    _, reference, _ = send(away.token, {"aps": {"alert": "soon regretted"}})
    with away.connect() as device:
        sent = device.notification()
        device.acknowledge_stream(sent.stream_id)
        device.ping()
        assert control.wait_for_last_state(reference, "acked")
        assert outcomes(control, reference) == ["asked"]
        told = device.notification()
        assert told.app_data["message_type"] == "aldaba.withdrawn"
        assert told.app_data["aldaba.withdrawn"] == sent.persistent_id
        assert told.payload == b"" and told.category == away.path["topic"]
    with away.connect() as device:
        assert device.notification().persistent_id == told.persistent_id
    with away.connect([told.persistent_id]) as device:
        assert device.nothing_more() == []


def test_one_name_takes_back_what_was_sent_to_many_devices(path, send, control):
    name = str(uuid.uuid4())
    devices = [Away(path) for _ in range(3)]
    for device in devices:
        assert send(device.token, {"aps": {"alert": "to all"}}, apns_id=name)[0] == 200
    told = run_aldaba("withdraw", name, "--data", path["data"]).stdout.splitlines()
    assert len(told) == 3 and all("withdrawn before it was sent" in line for line in told)
    for device in devices:
        with device.connect() as connection:
            assert connection.nothing_more() == []


def test_what_nobody_knows_is_not_found(path, control):
    status, answer = withdraw(control, uuid.uuid4())
    assert status == 404 and answer["code"] == "notFound"
    done = run_aldaba("withdraw", uuid.uuid4(), "--data", path["data"], check=False)
    assert done.returncode == 1 and "not found" in done.stderr


@pytest.fixture
def app(up, request):
    made = ScriptApp(up, request.node.name)
    yield made
    made.stop()


def test_an_agent_takes_it_out_of_its_list_and_says_so_also_after_it_was_away(app, provider, control):
    references = []
    with app.connect(presents=8) as script:
        for title in ("first", "second"):
            answer = provider.post(app.token, {"aps": {"alert": {"title": title}}}, apns_topic=app.id)
            assert answer.status == 200, answer.reason
            references.append(answer.apns_id)
            script.wait_for_notification(20)
            control.wait_for_last_state(answer.apns_id, "handed")
        assert [item["content"]["title"] for item in app.agent.listed()] == ["first", "second"]
    assert outcomes(control, references[0]) == ["asked"]
    entry = control.wait_for_last_state(references[0], "withdrawn")["timeline"][-1]
    assert (entry["source"], entry["note"]) == ("agent", "taken out of the list")
    assert [item["content"]["title"] for item in app.agent.listed()] == ["second"]
    app.end_agent()
    assert outcomes(control, references[1]) == ["asked"]
    app.agent.start()
    control.wait_for_last_state(references[1], "withdrawn")
    assert app.agent.listed() == []
    assert control.states(references[1]).count("withdrawn") == 1
    assert outcomes(control, references[1]) == ["ended"]


@pytest.mark.desktop
def test_it_leaves_the_screen(screen, request):
    up = AldabaUp.ephemeral(name=request.node.name, environment=screen.environment)
    try:
        provider, control = Provider(up.ready), ControlClient(up.ready["http"])
        title = "soon regretted"
        answer = provider.post(up.ready["deviceToken"], {"aps": {"alert": {"title": title}}})
        assert answer.status == 200
        control.wait_for_last_state(answer.apns_id, "handed")
        (number,) = screen.numbers(title)
        assert outcomes(control, answer.apns_id) == ["asked"]
        wait_until(lambda: number in screen.closed(), "it has left the screen")
        entry = control.wait_for_last_state(answer.apns_id, "withdrawn")["timeline"][-1]
        assert entry["note"] == "taken off the screen"
        provider.close()
        control.close()
    finally:
        up.stop()
