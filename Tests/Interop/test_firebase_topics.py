"""firebase-admin manages topics, unchanged but for its addresses."""

import asyncio
import json
import uuid

import firebase_admin
import pytest
from firebase_admin import credentials, exceptions, messaging
from google.oauth2.credentials import Credentials

from mcs_client import Device, checkin, register3
from test_enrolment import Library


class AnyToken(credentials.Base):
    """On plain http on loopback whoever asks may act for every team."""

    def get_credential(self):
        return Credentials("any")


@pytest.fixture
def admin(path, monkeypatch):
    monkeypatch.setattr(messaging._MessagingService, "IID_URL", path["http"].rstrip("/"))
    app = firebase_admin.initialize_app(
        AnyToken(), {"projectId": path["teamId"].lower()}, name=f"topics-{uuid.uuid4().hex[:8]}")
    service = messaging._get_messaging_service(app)
    if hasattr(service, "_fcm_topic_url"):
        service._fcm_topic_url = service._fcm_topic_url.replace(
            "https://fcm.googleapis.com", path["http"].rstrip("/"))
    app.loop = asyncio.new_event_loop()
    asyncio.set_event_loop(app.loop)
    yield app
    firebase_admin.delete_app(app)
    asyncio.set_event_loop(None)
    app.loop.close()


def test_it_subscribes_and_unsubscribes(admin, path, control):
    identity = checkin(path["http"])
    token = register3(path["http"], identity, path["topic"], path["teamId"])
    ended = "ab" * 32
    answer = messaging.subscribe_to_topic([token, ended, "nonsense"], "weather", app=admin)
    assert (answer.success_count, answer.failure_count) == (1, 2)
    assert [error.index for error in answer.errors] == [1, 2]
    assert [error.reason for error in answer.errors] == ["UNREGISTERED", "INVALID_ARGUMENT"]
    again = messaging.subscribe_to_topic(token, "/topics/weather", app=admin)
    assert (again.success_count, again.failure_count) == (1, 0)

    wanted = {"team": path["teamId"], "topic": "weather", "payload": {"aps": {}, "number": 1}}
    assert control.request("POST", "/v1/broadcasts", json.dumps(wanted))[0] == 202
    with Device(path["mcs"], path["ca"]) as device:
        device.login(identity)
        one = device.notification()
        assert json.loads(one.payload)["number"] == 1
        device.acknowledge_stream(one.stream_id)
        device.ping()
    for _ in range(2):
        gone = messaging.unsubscribe_from_topic([token], "weather", app=admin)
        assert (gone.success_count, gone.failure_count) == (1, 0)
    status, info = control.request("GET", f"/iid/info/{token}?details=true")
    assert status == 200 and json.loads(info)["rel"]["topics"] == {}


def test_it_does_so_asynchronously_and_by_the_instance_id_service(admin, path):
    tokens = [register3(path["http"], checkin(path["http"]), path["topic"], path["teamId"]) for _ in range(20)]
    answer = admin.loop.run_until_complete(messaging.subscribe_to_topic_async(tokens, "sports", app=admin))
    assert (answer.success_count, answer.failure_count) == (20, 0)
    service = messaging._get_messaging_service(admin)
    gone = service.make_topic_management_request(tokens + ["ab" * 32], "sports", "iid/v1:batchRemove")
    assert (gone.success_count, gone.failure_count) == (20, 1)
    assert [error.index for error in gone.errors] == [20]
    with pytest.raises(exceptions.InvalidArgumentError, match="has letters, digits"):
        service.make_topic_management_request(tokens, "no topic", "iid/v1:batchAdd")


def call(control, method, path, token, rest="", expected=200):
    project = path["teamId"].lower()
    status, body = control.request(method, f"/v1/projects/{project}/registrations/{token}/topicSubscriptions{rest}")
    assert status == expected, body
    return json.loads(body)


def test_subscriptions_are_got_listed_and_patched(path, control):
    token = register3(path["http"], checkin(path["http"]), path["topic"], path["teamId"])
    whole = f"projects/{path['teamId'].lower()}/registrations/{token}/topicSubscriptions"
    assert call(control, "GET", path, token) == {"topicSubscriptions": []}
    for topic in ("c", "a", "b"):
        assert call(control, "PATCH", path, token, f"/{topic}?allowMissing=true") == {"name": f"{whole}/{topic}"}
    assert call(control, "PATCH", path, token, "/a?allow_missing=true") == {"name": f"{whole}/a"}
    assert call(control, "PATCH", path, token, "/a") == {"name": f"{whole}/a"}
    assert call(control, "PATCH", path, token, "/d", expected=404)["error"]["status"] == "NOT_FOUND"
    assert call(control, "GET", path, token, "/b") == {"name": f"{whole}/b"}
    assert call(control, "GET", path, token, "/d", expected=404)["error"]["status"] == "NOT_FOUND"
    page = call(control, "GET", path, token, "?pageSize=2")
    assert [each["name"] for each in page["topicSubscriptions"]] == [f"{whole}/a", f"{whole}/b"]
    rest = call(control, "GET", path, token, f"?pageSize=2&pageToken={page['nextPageToken']}")
    assert rest == {"topicSubscriptions": [{"name": f"{whole}/c"}]}
    assert call(control, "GET", path, token, "?pageSize=x", expected=400)["error"]["status"] == "INVALID_ARGUMENT"
    for registration, status in (("ab" * 32, 404), ("nonsense", 400), ("B" * 22, 404)):
        for method, rest in (("GET", ""), ("GET", "/a"), ("PATCH", "/a?allow_missing=true"), ("DELETE", "/a"),
                             ("POST", "?topic_name=a")):
            call(control, method, path, registration, rest, expected=status)


def test_an_installation_id_stands_for_its_registrations(path, control):
    library = Library(path)
    library.install()
    token = library.token(path["topic"] + "#1", sender=str(int(path["teamId"], 36)))
    assert library.registered("PATCH", token, f"/{token}")[0] == 200
    call(control, "POST", path, library.fid, "?topic_name=news")
    assert call(control, "POST", path, library.fid, "?topic_name=news", expected=409)
    assert [each["name"].rsplit("/", 1)[1] for each in call(control, "GET", path, token)["topicSubscriptions"]] == ["news"]
    assert call(control, "GET", path, library.fid, "/news")["name"].endswith("/news")
    assert call(control, "DELETE", path, library.fid, "/news") == {}
    assert call(control, "GET", path, token) == {"topicSubscriptions": []}
