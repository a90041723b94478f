"""More commands at once than may be under way: they wait for room, in their order, and each has its answer. And filters of watchers.

The apps are scripts that speak the agents' sockets in Python (Examples/PythonRelay).
"""

import contextlib
import json
import sys
import threading
import uuid

import pytest

from aldaba_process import REPOSITORY, AldabaUp, clean_environment
from own_agent import OwnAgent
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonRelay"))
from aldaba_relay import Question, Relay, RelayError  # noqa: E402

APP = "com.example.busy"


class Device(OwnAgent):
    def __init__(self, up, name):
        super().__init__(up, f"test_relay_room_{name}", clean_environment())
        self.secret = self.install(
            id=APP, name="Busy", team="ALDABADEMO", executable=sys.executable, provesBySecret=True)
        (self.data / "relay.json").write_text(
            json.dumps({
                "name": name, "kind": "desktop", "schemes": [], "grants": [],
                "account": f"aldaba-account-{'0f' * 32}"}))

    def relay(self, *arguments, **options):
        return self.aldaba("relay", *arguments, **options)

    def app(self):
        return Relay(APP, self.secret, self.socket)

    def sees_another(self):
        done = self.relay("devices", "--json", check=False)
        told = json.loads(done.stdout) if done.returncode == 0 else []
        return bool(told) and told[0]["presence"] == "online"


@pytest.fixture(scope="module")
def pair():
    up = AldabaUp.ephemeral("--no-app", name="test_relay_room")
    made = [Device(up, name) for name in ("desk", "lamp")]
    with contextlib.ExitStack() as stack:
        for device in made:
            stack.callback(device.stop)
            device.start()
        for device in made:
            wait_until(device.sees_another, "a device sees the other")
        yield made
    assert up.stop() == 0


@pytest.fixture
def lamp_id(pair):
    return json.loads(pair[1].relay("status", "--json").stdout)["device"]


def asked(relay, count, seconds=30):
    """So many questions, in the order in which they come."""
    questions = []
    while len(questions) < count:
        notice = relay.next_notice(seconds)
        if notice["type"] == "asked":
            questions.append(Question(notice))
    return questions


def test_500_calls_at_once_have_500_answers_and_come_in_their_order(pair, lamp_id):
    order = []

    def serve(relay):
        for _ in range(500):
            question = asked(relay, 1)[0]
            order.append(question.message["n"])
            relay.answer(question, {"n": question.message["n"]})

    with pair[1].app() as lamp, pair[0].app() as desk:
        lamp.publish({"light": "sameUser"})
        server = threading.Thread(target=serve, args=(lamp,))
        server.start()
        calls = [desk.begin_call(lamp_id, APP, "light", {"n": number}) for number in range(500)]
        answers = [desk.result(call, 30)["n"] for call in calls]
        server.join(30)
    assert answers == list(range(500))
    assert order == list(range(500))


def test_an_app_hears_of_the_devices_that_pass_its_filters(pair, lamp_id):
    with pair[0].app() as desk:
        def found(*filters):
            return [device["id"] for device in desk.devices(filters=filters)]

        assert found() == [lamp_id]
        assert found({"kinds": ["Phone"]}) == []
        assert found({"kinds": ["phone"]}, {"kinds": ["DESKTOP"], "platforms": ["linux"], "available": True}) == [lamp_id]
        assert found({"direct": True}) == []


def test_what_waits_for_room_is_requesting_and_can_be_taken_back_or_end_at_its_deadline(pair, lamp_id):
    with pair[1].app() as lamp, pair[0].app() as desk:
        lamp.publish({"light": "sameUser"})
        first = [desk.begin_call(lamp_id, APP, "light", {"n": number}) for number in range(64)]
        questions = asked(lamp, 64)
        taken_back, late, last = uuid.uuid4(), uuid.uuid4(), uuid.uuid4()
        desk.begin_call(lamp_id, APP, "light", {"n": 64}, command=taken_back)
        desk.begin_call(lamp_id, APP, "light", {"n": 65}, command=late, seconds=1)
        desk.begin_call(lamp_id, APP, "light", {"n": 66}, command=last)
        wait_until(
            lambda: "requesting" in pair[0].relay("life", str(last), check=False).stdout, "the last one is told to wait")
        assert desk.cancel(taken_back)
        with pytest.raises(RelayError) as cancelled:
            desk.result(taken_back, 10)
        assert cancelled.value.status == "cancelled"
        with pytest.raises(RelayError) as too_late:
            desk.result(late, 10)
        assert too_late.value.status == "resourceLimits"
        assert "this app has 64 commands under way" in str(too_late.value)
        lamp.answer(questions[0], {})
        assert asked(lamp, 1)[0].message == {"n": 66}
        for question in questions[1:]:
            lamp.answer(question, {})
        for call in first:
            assert desk.result(call, 10) == {}
