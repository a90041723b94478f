"""What becomes of notifications when more wait than may: all are cleared, and the device learns how many they were."""

import json
import time
import uuid

import pytest

from aldaba_process import run_aldaba
from mcs_client import Device, checkin, register3
from script_app import ScriptApp

LIMIT = 100


class Cleared:
    """An app of which so many notifications may wait, and a device that is away."""

    def __init__(self, path, provider):
        self.path, self.provider = path, provider
        self.topic = f"com.example.cleared-{uuid.uuid4().hex[:8]}"
        run_aldaba(
            "app", "create", self.topic, "--team", path["teamId"], "--limit", LIMIT, "--overflow", "clear",
            "--data", path["data"])
        self.identity = checkin(path["http"])
        self.token = register3(path["http"], self.identity, self.topic, path["teamId"])

    def send(self, number):
        answer = self.provider.post(self.token, {"aps": {"alert": f"number {number}"}, "number": number},
                                    apns_topic=self.topic)
        assert answer.status == 200, answer.reason
        return answer.apns_id

    def device(self):
        device = Device(self.path["mcs"], self.path["ca"])
        device.login(self.identity)
        return device


@pytest.fixture
def cleared(path, provider):
    return Cleared(path, provider)


def test_the_first_beyond_the_limit_empties_the_queue_and_the_device_learns_how_many(cleared, control):
    before = int(time.time() * 1000)
    ids = [cleared.send(number) for number in range(1, LIMIT + 2)]
    assert control.states(ids[0]) == ["accepted", "stored", "dropped(overflow)"]
    assert control.states(ids[-1]) == ["accepted", "stored"]
    with cleared.device() as device:
        told, last = device.notifications(2)
        assert told.category == cleared.topic and told.payload == b""
        assert told.app_data["message_type"] == "deleted_messages"
        assert told.app_data["total_deleted"] == str(LIMIT)
        assert before <= int(told.app_data["aldaba.deleted-since"]) <= int(time.time() * 1000)
        assert json.loads(last.payload)["number"] == LIMIT + 1
        assert device.nothing_more() == []
    # Not acknowledged: it comes again, under the same name, and goes with its acknowledgement.
    with cleared.device() as device:
        again, last = device.notifications(2)
        assert (again.persistent_id, again.app_data) == (told.persistent_id, told.app_data)
        device.acknowledge_selectively([again.persistent_id])
        device.ping()
        assert device.nothing_more() == []
    with cleared.device() as device:
        assert [json.loads(one.payload)["number"] for one in device.notifications(1)] == [LIMIT + 1]
        assert device.nothing_more() == []


def test_a_connected_device_that_acknowledges_nothing_is_told_at_once_and_of_all(cleared):
    with cleared.device() as device:
        for number in range(1, LIMIT + 1):
            cleared.send(number)
        assert len(device.notifications(LIMIT)) == LIMIT
        cleared.send(LIMIT + 1)
        told, last = device.notifications(2)
        assert told.app_data["total_deleted"] == str(LIMIT)
        assert json.loads(last.payload)["number"] == LIMIT + 1
        device.acknowledge_stream(device.received_count)
        device.ping()
        for number in range(LIMIT):
            cleared.send(number)
        device.notifications(LIMIT)
        assert device.nothing_more() == []


def test_what_a_login_names_is_not_told_again(cleared):
    for number in range(LIMIT + 1):
        cleared.send(number)
    with cleared.device() as device:
        names = [one.persistent_id for one in device.notifications(2)]
    with Device(cleared.path["mcs"], cleared.path["ca"]) as device:
        device.login(cleared.identity, names)
        assert device.nothing_more() == []


def test_the_app_is_told_until_it_has_taken_it_also_by_an_agent_that_died(up, request, provider):
    app = ScriptApp(up, request.node.name, "--limit", 3, "--overflow", "clear")
    try:
        app.end_agent()
        for number in range(4):
            answer = provider.post(app.token, {"aps": {"alert": f"number {number}"}}, apns_topic=app.id)
            assert answer.status == 200, answer.reason

        def told(script):
            return script.wait(lambda message: message["type"] == "messagesDeleted", 20)

        app.agent.start()
        with app.connect() as script:
            first = told(script)
            assert first["count"] == 3 and first["since"] <= time.time() * 1000
        app.end_agent()
        app.agent.start()
        with app.connect() as script:
            assert told(script) == first
            script.send({"type": "deletionTaken", "deletion": first["deletion"]})
            script.delivered()
        with app.connect() as script:
            script.delivered()
            assert not [message for message in script._waiting if message["type"] == "messagesDeleted"]
    finally:
        app.stop()


def test_an_overflow_that_does_not_exist_is_explained(path):
    done = run_aldaba(
        "app", "create", "com.example.spilled", "--team", path["teamId"], "--overflow", "spill", "--data", path["data"],
        check=False)
    assert done.returncode != 0
    assert '"spill" is none of dropOldest, keepNewest and clear' in done.stderr
