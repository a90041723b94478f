"""The limits of topics, as firebase-admin raises them and as the Instance ID service's clients read them."""

import asyncio
import uuid

import pytest
import requests
from firebase_admin import exceptions, messaging

from aldaba_process import AldabaUp
from fcm_library import firebase_app
from mcs_client import checkin, register3

pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated. Use:DeprecationWarning")

TOPICS = 2000
TOKENS = 1000
CONDITION = 5


@pytest.fixture
def app(path, monkeypatch):
    with firebase_app(monkeypatch, path["fcm"], path["serviceAccount"]) as made:
        yield made


@pytest.fixture
def token(path):
    return register3(path["http"], checkin(path["http"]), path["topic"], path["teamId"])


def subscribe_at_once(app, tokens, topic):
    """The synchronous form waits for as long as Retry-After says, and asks again."""
    async def subscribe():
        answer = await messaging.subscribe_to_topic_async(tokens, topic, app=app)
        await messaging._get_messaging_service(app)._async_client.aclose()
        return answer

    return asyncio.run(subscribe())


def test_a_registration_has_so_many_topics(app, path, token):
    with requests.Session() as session:
        for number in range(TOPICS):
            answer = session.post(f"{path['http']}/iid/v1/{token}/rel/topics/t{number}")
            assert answer.status_code == 200, answer.text
        answer = session.post(f"{path['http']}/iid/v1/{token}/rel/topics/more")
        assert (answer.status_code, answer.json()) == (429, {"error": "TOO_MANY_TOPICS"})
    answer = subscribe_at_once(app, [token], "more")
    assert [error.reason for error in answer.errors] == ["QUOTA_EXCEEDED"]
    old = messaging.subscribe_to_topic_legacy([token], "more", app=app)
    assert [error.reason for error in old.errors] == ["TOO_MANY_TOPICS"]
    assert messaging.unsubscribe_from_topic([token], "t7", app=app).success_count == 1
    assert messaging.subscribe_to_topic([token], "more", app=app).success_count == 1


def test_a_batch_has_so_many_tokens(path, token):
    def batch(count):
        return requests.post(
            f"{path['http']}/iid/v1:batchAdd",
            json={"to": "/topics/many", "registration_tokens": [token] * count})

    answer = batch(TOKENS)
    assert answer.status_code == 200 and answer.json() == {"results": [{}] * TOKENS}
    answer = batch(TOKENS + 1)
    assert answer.status_code == 400
    assert answer.json()["error"].startswith("INVALID_ARGUMENT: registration_tokens has 1 to 1000 entries")


def test_a_condition_names_so_many_topics(app):
    def message(count):
        return messaging.Message(
            data={"a": "b"}, condition=" || ".join(f"'t{number}' in topics" for number in range(count)))

    assert messaging.send(message(CONDITION), app=app)
    with pytest.raises(exceptions.InvalidArgumentError, match="a condition names at most 5 topics") as raised:
        messaging.send(message(CONDITION + 1), app=app)
    error = raised.value.http_response.json()["error"]
    assert error["details"][0]["errorCode"] == "INVALID_ARGUMENT"
    [violations] = [each["fieldViolations"] for each in error["details"] if "fieldViolations" in each]
    assert violations[0]["field"] == "message.condition"


def test_a_project_has_so_many_requests_a_second(monkeypatch):
    running = AldabaUp.ephemeral("--topic-quota", "1", name="topic_quota")
    try:
        path = running.ready
        token = path["registrationToken"]
        with firebase_app(monkeypatch, path["fcm"], path["serviceAccount"], name="topic-quota") as app:
            answer = subscribe_at_once(app, [token] * 30, "weather")
            assert answer.success_count >= 1 and answer.failure_count >= 1
            assert {error.reason for error in answer.errors} == {"QUOTA_EXCEEDED"}
            # The library waits, and then may.
            assert messaging.unsubscribe_from_topic([token], "weather", app=app).success_count == 1
        # Whoever may act for every team has a quota of their own.
        topic = uuid.uuid4().hex
        answers = [
            requests.post(f"{path['http']}/iid/v1:batchAdd", json={
                "to": f"/topics/{topic}", "registration_tokens": [token]}) for _ in range(30)]
        assert answers[0].status_code == 200 and answers[0].json() == {"results": [{}]}
        [status] = {answer.status_code for answer in answers} - {200}
        refused = next(answer for answer in answers if answer.status_code == status)
        assert (status, refused.json()) == (429, {"error": "RESOURCE_EXHAUSTED"})
        assert refused.headers["retry-after"] == "1"
    finally:
        running.stop()
