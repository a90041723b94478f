"""Topics and conditions: providers and devices subscribe, one send reaches whoever was in, once."""

import json
import time
import uuid
from urllib.parse import urlencode

import pytest

from aldaba_process import run_aldaba
from mcs_client import Device, checkin, register3
from script_app import ScriptApp
from waiting import wait_until


@pytest.fixture
def topic():
    return f"news-{uuid.uuid4().hex[:8]}"


class Subscriber:
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
def subscribers(path):
    return [Subscriber(path) for _ in range(3)]


def post(control, path, body):
    status, answer = control.request("POST", path, json.dumps(body), {"content-type": "application/json"})
    return status, json.loads(answer)


def batch(control, verb, topic, tokens):
    status, answer = post(
        control, f"/iid/v1:batch{verb}", {"to": f"/topics/{topic}", "registration_tokens": tokens})
    assert status == 200, answer
    return [result.get("error") for result in answer["results"]]


@pytest.fixture
def broadcast(control, path):
    """`broadcast(topic=… or condition=…, number) -> id`"""

    def send(number, **target):
        status, answer = post(control, "/v1/broadcasts", {
            "team": path["teamId"], "payload": {"aps": {"alert": f"number {number}"}, "number": number}, **target})
        assert status == 202, answer
        return answer["id"]

    return send


FENCE = 1000


@pytest.fixture
def received(send):
    """`received(device, subscriber) -> the numbers that came`: a notification of its own is sent last, and ends it."""

    def read(device, subscriber):
        status, _, reason = send(subscriber.token, {"aps": {"alert": "the last"}, "number": FENCE})
        assert status == 200, reason
        found = []
        while True:
            one = device.notification()
            device.acknowledge_stream(one.stream_id)
            number = json.loads(one.payload)["number"]
            if number == FENCE:
                device.ping()
                return found
            found.append(number)

    return read


def numbers(notifications):
    return [json.loads(one.payload)["number"] for one in notifications]


def shown(control, reference):
    status, body = control.request("GET", f"/v1/notifications/{reference}")
    assert status == 200, body
    return json.loads(body)[0]


def test_a_send_reaches_the_connected_ones_at_once_and_the_others_when_they_connect(
    subscribers, control, broadcast, topic, received
):
    here, away, other = subscribers
    with here.connect() as device, other.connect() as bystander:
        assert batch(control, "Add", topic, [here.token, away.token]) == [None, None]
        reference = broadcast(1, topic=topic)
        first = device.notification()
        assert numbers([first]) == [1]
        device.acknowledge_stream(first.stream_id)
        device.ping()
        assert received(bystander, other) == []
        assert shown(control, reference)["broadcast"]["targeted"] == 1
    with away.connect() as device:
        second = device.notification()
        assert numbers([second]) == [1] and second.persistent_id != first.persistent_id
        device.acknowledge_selectively([second.persistent_id])
        device.ping()
        assert device.nothing_more() == []
    for subscriber in (here, away):
        with subscriber.connect() as device:
            assert received(device, subscriber) == []
    sums = shown(control, reference)
    assert [line["state"] for line in sums["timeline"]] == ["accepted"]
    assert sums["broadcast"]["audience"] == f"/topics/{topic}"
    assert sums["broadcast"]["targeted"] == 2 and sums["broadcast"]["states"]["acked"] == 2
    copy = shown(control, int(first.app_data.get("aldaba.id", 0)) or first.app_data["aldaba.apns-id"])
    assert copy["timeline"][0]["note"] == f"a copy of the broadcast {reference}"
    assert "acked" in [line["state"] for line in copy["timeline"]]


def test_aldaba_get_shows_the_sums(subscribers, control, broadcast, topic, path):
    batch(control, "Add", topic, [subscribers[0].token])
    reference = broadcast(1, topic=topic)
    with subscribers[0].connect() as device:
        device.notification()
    out = run_aldaba("get", reference, "--data", path["data"],
                     check=False)
    assert f"a broadcast for /topics/{topic}: 1 targeted" in out.stdout, out.stdout + out.stderr


def test_the_report_of_a_broadcast_adds_up(subscribers, control, broadcast, topic, received, path):
    """Every copy is counted once, by its end; who has not had a turn yet has none."""
    batch(control, "Add", topic, [each.token for each in subscribers])
    near, other, away = subscribers

    def report(name):
        status, body = control.request("GET", f"/v1/reports/messages/{name}")
        assert status == 200, body
        counts = json.loads(body)["counts"]
        assert sum(counts["ends"].values()) == counts["accepted"], counts
        return counts

    with near.connect() as device:
        name = broadcast(1, topic=topic)
        one = device.notification()
        assert numbers([one]) == [1]
        device.acknowledge_stream(one.stream_id)
        wait_until(lambda: report(name)["ends"]["delivered"] == 1, "it is counted as delivered")
    counts = report(name)
    assert (counts["accepted"], counts["notifications"], counts["sent"]) == (1, 1, 1)
    with other.connect() as device:
        assert numbers([device.notification()]) == [1]
    wait_until(lambda: report(name)["accepted"] == 2, "the second copy is counted")
    assert control.request("DELETE", f"/v1/notifications/{name}")[0] in (200, 202)
    wait_until(lambda: report(name)["ends"]["withdrawn"] == 1, "what was not acknowledged is withdrawn")
    assert report(name)["ends"]["delivered"] == 1
    with away.connect() as device:
        assert received(device, away) == []
    assert report(name)["accepted"] == 2


def test_who_leaves_in_between_gets_nothing_and_who_joins_later_neither(subscribers, control, broadcast, topic, received):
    leaves, joins, stays = subscribers
    assert batch(control, "Add", topic, [leaves.token, stays.token]) == [None, None]
    broadcast(1, topic=topic)
    assert batch(control, "Remove", topic, [leaves.token, joins.token]) == [None, None]
    assert batch(control, "Add", topic, [leaves.token, joins.token]) == [None, None]
    for subscriber, expected in ((leaves, []), (joins, []), (stays, [1])):
        with subscriber.connect() as device:
            assert received(device, subscriber) == expected


def test_a_condition_chooses(subscribers, control, broadcast, topic, received):
    first, second, both = subscribers
    one, two = f"{topic}-1", f"{topic}-2"
    batch(control, "Add", one, [first.token, both.token])
    batch(control, "Add", two, [second.token, both.token])
    broadcast(1, condition=f"'{one}' in topics && '{two}' in topics")
    broadcast(2, condition=f"'{one}' in topics || '{two}' in topics")
    broadcast(3, condition=f"'{one}' in topics && !('{two}' in topics)")
    for subscriber, expected in ((first, [2, 3]), (second, [2]), (both, [1, 2])):
        with subscriber.connect() as device:
            assert received(device, subscriber) == expected


def test_what_is_withdrawn_comes_no_more_and_is_taken_off_where_it_came(subscribers, control, broadcast, topic, received):
    here, away, _ = subscribers
    batch(control, "Add", topic, [here.token, away.token])
    with here.connect() as device:
        reference = broadcast(1, topic=topic)
        sent = device.notification()
        status, answer = control.request("DELETE", f"/v1/notifications/{reference}")
        assert status == 200 and json.loads(answer)[0]["outcome"] == "withdrawn"
        told = device.notification()
        assert told.payload == b"" and told.app_data["aldaba.withdrawn"] == sent.persistent_id
    with away.connect() as device:
        assert received(device, away) == []
    assert [line["state"] for line in shown(control, reference)["timeline"]] == ["accepted", "withdrawn"]


def test_a_device_joins_and_leaves_by_itself(subscribers, control, broadcast, topic, received, path):
    here, other, _ = subscribers

    def register(token, **extra):
        form = {"app": path["topic"], "sender": token, "device": here.identity.device,
                "X-gcm.topic": f"/topics/{topic}", "X-scope": f"/topics/{topic}", **extra}
        return control.request("POST", "/c2dm/register3", urlencode(form), {
            "content-type": "application/x-www-form-urlencoded",
            "authorization": f"AidLogin {here.identity.device}:{here.identity.secret}"})

    assert register(here.token) == (200, f"token=/topics/{topic}".encode())
    status, info = control.request("GET", f"/iid/info/{here.token}?details=true")
    assert status == 200 and list(json.loads(info)["rel"]["topics"]) == [topic]
    broadcast(1, topic=topic)
    with here.connect() as device:
        assert received(device, here) == [1]
    assert register(here.token, delete="true")[0] == 200
    broadcast(2, topic=topic)
    with here.connect() as device:
        assert received(device, here) == []
    assert register(other.token) == (400, b"Error=INVALID_SENDER")


def test_tokens_and_names_that_are_none_are_said_so(subscribers, control, topic, path):
    token = subscribers[0].token
    assert batch(control, "Add", topic, ["nonsense", "ab" * 32, token]) == ["INVALID_ARGUMENT", "NOT_FOUND", None]
    for body in ({}, {"to": "/topics/a b", "registration_tokens": [token]},
                 {"to": topic, "registration_tokens": []}, {"to": topic, "registration_tokens": [token] * 1001}):
        status, answer = post(control, "/iid/v1:batchAdd", body)
        assert status == 400 and answer["error"].startswith("INVALID_ARGUMENT"), answer
    assert batch(control, "Add", topic, [token] * 1000) == [None] * 1000
    base = f"/v1/projects/{path['teamId'].lower()}/registrations/{token}/topicSubscriptions"
    assert post(control, f"{base}?topic_name={topic}", {})[0] == 409
    assert post(control, f"{base}?topic_name={topic}-2", {})[0] == 200
    assert control.request("DELETE", f"{base}/{topic}")[0] == 200
    assert control.request("DELETE", f"{base}/{topic}")[0] == 404
    assert control.request("DELETE", f"{base}/{topic}?allow_missing=true")[0] == 200
    status, answer = post(control, f"/v1/projects/OTHERTEAM1/registrations/{token}/topicSubscriptions?topic_name=x", {})
    assert status == 403 and answer["error"]["details"][0]["errorCode"] == "SENDER_ID_MISMATCH"
    relation = f"/iid/v1/{token}/rel/topics/{topic}"
    assert post(control, relation, {}) == (200, {})
    details = f"/iid/info/{token}?details=true"
    assert topic in json.loads(control.request("GET", details)[1])["rel"]["topics"]
    for _ in range(2):
        assert control.request("DELETE", relation)[0] == 200
    assert topic not in json.loads(control.request("GET", details)[1])["rel"]["topics"]
    assert control.request("DELETE", f"/iid/v1/{'ab' * 32}/rel/topics/{topic}")[0] == 404
    status, answer = post(control, "/v1/broadcasts", {
        "team": path["teamId"], "payload": {}, "condition": "'a' in topics &&"})
    assert status == 400 and "at character 17" in answer["detail"]


@pytest.mark.parametrize("body, words", [
    ('{"team":"TEAM","topic":"t","payload":{"a":1e400}}', "byte 42: number out of range"), ("{", "byte 1: "), ("[]", "byte 0: "),
    ('{"topic":"t"}', '"payload"'), ('{"topic":7,"payload":{}}', "topic is to be a string, not a number"),
    ('{"topic":"t","payload":{},"expiration":"soon"}', "expiration is to be a whole number, not a string"),
    ('{"topic":"t","payload":{},"expiration":1.5}', "expiration is to be a whole number"),
])
def test_a_broadcast_that_cannot_be_read_is_refused_with_its_place(control, body, words):
    status, answer = control.request("POST", "/v1/broadcasts", body)
    assert status == 400 and words in json.loads(answer)["detail"], answer


def test_what_is_delivered_once_or_never_reaches_those_alone_who_are_there(
    subscribers, control, broadcast, topic, received
):
    here, away, _ = subscribers
    batch(control, "Add", topic, [here.token, away.token])
    with here.connect() as device:
        broadcast(1, topic=topic, expiration=0)
        assert numbers([device.notification()]) == [1]
    with away.connect() as device:
        assert received(device, away) == []


def test_what_has_expired_does_not_come(subscribers, control, broadcast, topic, received):
    batch(control, "Add", topic, [subscribers[0].token])
    broadcast(1, topic=topic, expiration=int(time.time()) - 1)
    broadcast(2, topic=topic, expiration=int(time.time()) + 600)
    with subscribers[0].connect() as device:
        assert received(device, subscribers[0]) == [2]


def test_a_real_agent_gets_it(up, request, control, broadcast, topic):
    app = ScriptApp(up, request.node.name)
    try:
        assert batch(control, "Add", topic, [app.token]) == [None]
        with app.connect() as script:
            broadcast(7, topic=topic)
            delivered = script.wait(lambda message: message["type"] == "deliver", 20)
            assert "number 7" in json.dumps(delivered)
        app.end_agent()
        reference = broadcast(8, topic=topic)
        app.agent.start()
        with app.connect() as script:
            wait_until(lambda: "number 8" in json.dumps(script.delivered()), "the agent has the second one")
        assert shown(control, reference)["broadcast"]["targeted"] == 1
    finally:
        app.stop()
