"""Timelines to rely on: nobody hides another's, none lacks its end, and what was answered can be looked up."""

import json
import uuid

import pytest

from h2_client import H2Client
from mcs_client import Device, Identity
from own_server import TEAM, TOPIC, OwnServer
from waiting import wait_until

OTHER_TEAM, OTHER_TOPIC = "OTHERTEAM1", "com.example.neighbour"
REFUSALS = 1100
AT_ONCE = 200  # requests on one connection that wait for their answers
NOBODY = "00" * 32


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = OwnServer(tmp_path_factory.mktemp("timelines"), "test_timelines")
    made.add_app()
    made.add_app(OTHER_TOPIC, OTHER_TEAM)
    made.key()
    made.key(OTHER_TEAM)
    with made as running:
        yield running


@pytest.fixture
def control(server):
    return server.control()


@pytest.fixture
def identity(control):
    return Identity(*control.enrol())


@pytest.fixture
def token(control, identity):
    return control.token((identity.device, identity.secret), TOPIC, TEAM, "production")


def payload(number=0):
    return json.dumps({"aps": {"alert": f"number {number}"}, "number": number}).encode()


def refused_under(server, apns_id, count, team=TEAM, topic=TOPIC):
    """Sends so many requests with one `apns-id` that are refused, and waits until the last has its timeline."""
    headers = server.provider(server.key(team), topic).headers(apns_id=apns_id)
    with H2Client(server.ready["apns"], server.ready["ca"]) as client:
        left, open_now = count, 0
        while left or open_now:
            while left and open_now < AT_ONCE:
                client.start("POST", f"/3/device/{NOBODY}", headers, payload())
                left, open_now = left - 1, open_now + 1
            for answer in client.receive().values():
                assert (answer.status, answer.reason) == (400, "BadDeviceToken")
                open_now -= 1
    # Timelines are written in the order of their requests.
    provider = server.provider(server.key(team), topic)
    last = str(uuid.uuid4())
    assert provider.post(NOBODY, payload(), apns_id=last).status == 400
    provider.close()
    wait_until(lambda: server.control(server.key(team)).notifications(last), "the last refusal has its timeline")


def accepted(server, token, apns_id, **headers):
    provider = server.provider()
    answer = provider.post(token, payload(), apns_id=apns_id, **headers)
    provider.close()
    assert answer.status == 200, answer.reason
    return answer.apns_id


def states_of(found):
    return [[entry["state"] for entry in each["timeline"]] for each in found]


# --- one's own timelines --------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["before", "after"])
@pytest.mark.parametrize("team, topic", [(OTHER_TEAM, OTHER_TOPIC), (TEAM, TOPIC)], ids=["another's", "one's own"])
def test_no_number_of_refusals_hides_the_notification_that_was_accepted(server, control, token, order, team, topic):
    apns_id = str(uuid.uuid4())
    if order == "before":
        refused_under(server, apns_id, REFUSALS, team, topic)
    accepted(server, token, apns_id)
    if order == "after":
        refused_under(server, apns_id, REFUSALS, team, topic)
    found = control.notifications(apns_id)
    assert {each["team"] for each in found} == {TEAM}
    assert ["accepted", "stored"] in [states[:2] for states in states_of(found)]


def test_a_refusal_is_found_beside_what_was_accepted(server, control, token):
    apns_id = str(uuid.uuid4())
    refused_under(server, apns_id, 1)
    accepted(server, token, apns_id)
    assert sorted(states[0] for states in states_of(control.notifications(apns_id))) == [
        "accepted", "failed(BadDeviceToken)"]


# --- one attempt ----------------------------------------------------------------------------------------------


def test_an_attempt_to_an_absent_device_has_its_end_when_it_is_answered(server, control, token):
    provider = server.provider()
    seen = []
    for number in range(40):
        answer = provider.post(token, payload(number), apns_expiration="0")
        assert answer.status == 200
        seen.append(states_of(control.notifications(answer.apns_id)))
    provider.close()
    assert [states for states in seen if states != [["accepted", "dropped(offline)"]]] == []


def test_many_attempts_at_once_have_their_ends_when_they_are_answered(server, control, token):
    headers = server.provider().headers(apns_expiration="0")
    with H2Client(server.ready["apns"], server.ready["ca"]) as client:
        for _ in range(40):
            client.start("POST", f"/3/device/{token}", headers, payload())
        answers = []
        while len(answers) < 40:
            answers += client.receive().values()
    seen = [states_of(control.notifications(answer.apns_id)) for answer in answers]
    assert [states for states in seen if states != [["accepted", "dropped(offline)"]]] == []


# What a timeline's end may say of an attempt when the server died before the device had acknowledged it.
UNKNOWN = ("unknown", "may have arrived", "not known")


def has_an_end(found):
    """Whether the only notification's timeline ends by saying that it is not known, or did not arrive."""
    assert len(found) == 1, found
    last = found[0]["timeline"][-1]
    words = f"{last['state']} {last.get('note') or ''}"
    return last["state"].startswith("dropped(") or any(word in words for word in UNKNOWN)


def test_an_attempt_that_was_not_acknowledged_when_the_server_was_killed_has_an_end_after_it(
    server, control, identity, token
):
    with Device(server.ready["mcs"], server.ready["ca"]) as device:
        assert device.login(identity).message.get(3) is None
        provider = server.provider()
        ids = [provider.post(token, payload(number), apns_expiration="0").apns_id for number in range(20)]
        provider.close()
        notifications = device.notifications(20)
        device.acknowledge_selectively([notifications[0].persistent_id])
        wait_until(
            lambda: all("sent" in states for each in ids for states in states_of(control.notifications(each)) or [[]]),
            "every timeline says that it was sent")
        wait_until(lambda: "acked" in states_of(control.notifications(ids[0]))[0], "one says that it was acknowledged")
        server.kill()
    server.start()
    after = server.control()
    wait_until(
        lambda: all(has_an_end(after.notifications(each)) for each in ids[1:]),
        "every timeline has an end after the restart")
    acknowledged = states_of(after.notifications(ids[0]))[0]
    assert acknowledged[-1] == "acked" and not any(state.startswith("dropped") for state in acknowledged)


def test_a_stored_notification_has_no_end_before_the_device_has_it(server, control, identity, token):
    stored = accepted(server, token, str(uuid.uuid4()))
    with Device(server.ready["mcs"], server.ready["ca"]) as device:
        assert device.login(identity).message.get(3) is None
        device.notification()
        wait_until(lambda: "sent" in states_of(control.notifications(stored))[0], "it is sent")
        server.kill()
    server.start()
    assert not has_an_end(server.control().notifications(stored))
    with Device(server.ready["mcs"], server.ready["ca"]) as device:
        assert device.login(identity).message.get(3) is None
        device.acknowledge_stream(device.notification().stream_id)
        device.ping()
    server.control().wait_for_last_state(stored, "acked")


def test_an_attempt_cut_off_with_its_connection_says_that_it_may_have_arrived(server, control, identity, token):
    with Device(server.ready["mcs"], server.ready["ca"]) as device:
        assert device.login(identity).message.get(3) is None
        apns_id = accepted(server, token, str(uuid.uuid4()), apns_expiration="0")
        device.notification()
    wait_until(lambda: has_an_end(control.notifications(apns_id)), "the timeline has an end")


def test_other_content_under_the_same_apns_id_is_another_notification(server, control, identity, token):
    apns_id = str(uuid.uuid4())
    headers = server.provider().headers(apns_id=apns_id)
    with H2Client(server.ready["apns"], server.ready["ca"]) as client:
        for number in (1, 2, 1, 2):
            answer = client.request("POST", f"/3/device/{token}", headers, payload(number))
            assert (answer.status, answer.apns_id) == (200, apns_id)
    first, second = control.notifications(apns_id)
    told = [[line["note"] for line in each["timeline"] if line.get("note")] for each in (first, second)]
    assert told == [
        [f"other content was accepted under the same apns-id, notification {second['id']}"],
        [f"its apns-id was used before for other content, notification {first['id']}"]]
