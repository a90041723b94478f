"""What a development server received: asked over HTTP and by `aldaba received`, `aldaba reset` and `aldaba clock`."""

import json
import secrets
import ssl
import subprocess
import threading
import time

import httpx
import pytest

from aldaba_process import BINARY, clean_environment
from development_server import http, server  # noqa: F401
from provider_tokens import ProviderKey
from vendor_requests import Client, Push, Sender, new_account

APP = "com.example.App"


def team():
    return secrets.token_hex(5).upper()


def sender(server, team):
    ready = server.ready | {"topic": APP}
    return Sender(ready, key=ProviderKey.made_now("KEY1234567", team), topic=APP, token=secrets.token_hex(32))


def aldaba(server, *arguments, code=0):
    done = subprocess.run(
        [str(BINARY), *arguments], capture_output=True, text=True, timeout=90, check=False,
        env=clean_environment(ALDABA_HTTP=server.ready["http"]))
    assert done.returncode == code, done.stderr
    return done.stdout


def secured(server):
    """A client of the control API over TLS."""
    return httpx.Client(
        base_url=server.ready["control"], verify=ssl.create_default_context(cafile=server.ready["ca"]))


def received(http, **query):
    return http.get("/v1/received", params=query).raise_for_status().json()


def test_a_silent_push_and_a_refused_one_are_shown_with_their_answers(server, http):
    provider = sender(server, team())
    silent = b'{"aps":{"content-available":1},"list":[{"id":7}]}'
    provider.send(Push({"apns-push-type": "background", "apns-priority": "5"}, body=silent))
    provider.send(Push({"apns-priority": "7"}))
    answer = received(http, count=1, timeout=10, state="acked")
    refused, taken = received(http)["received"]
    assert (answer["matching"], answer["received"]) == (1, [taken])
    assert (taken["text"], taken["payload"]["list"]) == (silent.decode(), [{"id": 7}])
    assert (taken["app"], taken["token"], taken["team"], taken["key"]) == (
        APP, provider.token, provider.key.team, "KEY1234567")
    assert taken["headers"]["apns-push-type"] == "background" and taken["headers"]["authorization"] == "bearer …"
    assert (taken["answer"]["status"], taken["answer"]["reason"], taken["state"]) == (200, None, "acked")
    [notification] = taken["notifications"]
    assert (notification["app"], notification["payload"]) == (APP, json.loads(silent))
    assert taken["milliseconds"] > 0 and taken["connection"] != refused["connection"]
    assert (refused["answer"]["status"], refused["answer"]["reason"], refused["state"]) == (400, "BadPriority", "refused")
    assert json.loads(refused["answer"]["text"]) == {"reason": "BadPriority"}


def test_a_message_of_fcm_is_shown_before_and_after_its_mapping(server, http):
    client = Client(server.ready["http"], new_account(f"shown-{secrets.token_hex(3)}"), "tok:one").signed_in()
    client.send({"data": {"score": "850"}, "notification": {"title": "Up", "body": "portugal"}})
    client.post({"message": {"topic": "news", "notification": {"title": "News"}}})
    client.post({"message": {"condition": "'a' in topics"}})
    client.send({"data": {"from": "x"}})
    project = client.account["project_id"]
    received(http, count=1, timeout=10, state="acked")
    refused, condition, topic, message, granted = received(http, namespace=project)["received"]
    assert granted["interface"] == "oauth" and client.access_token not in json.dumps(granted)
    assert "assertion=…" in granted["text"] and granted["key"] == client.account["private_key_id"]
    [device] = message["notifications"]
    assert message["payload"]["message"]["data"] == {"score": "850"} and message["title"] == "Up"
    assert device["payload"]["score"] == "850" and device["payload"]["gcm.message_id"] == device["id"]
    assert device["app"] == message["app"] == project and message["body"] == "portugal"
    assert (topic["topic"], topic["token"], condition["condition"]) == ("news", None, "'a' in topics")
    assert topic["notifications"][0]["id"] in topic["answer"]["text"]
    assert (refused["answer"]["status"], refused["answer"]["reason"]) == (400, "INVALID_ARGUMENT")


def test_any_token_may_subscribe_to_a_topic_and_gets_what_is_sent_to_it(server, http):
    client = Client(server.ready["http"], new_account(f"topics-{secrets.token_hex(3)}"), "tok:two").signed_in()
    authorization = {"authorization": f"Bearer {client.access_token}"}
    project = client.account["project_id"]
    with secured(server) as control:
        added = control.post(
            "/iid/v1:batchAdd", headers=authorization,
            json={"to": "/topics/news", "registration_tokens": ["tok:two", "tok:three"]})
        made = control.post(
            f"/v1/projects/{project}/registrations/tok:four/topicSubscriptions?topic_name=news", headers=authorization)
    assert added.json() == {"results": [{}, {}]}
    assert made.status_code == 200, made.text
    sent = client.post({"message": {"topic": "news", "data": {"a": "b"}}})
    assert sent.status_code == 200
    found = received(http, interface="fcm", topic="news", count=1, timeout=10, state="acked")
    assert found["matching"] == 1
    [subscribed, batch] = received(http, interface="fcm-topics")["received"]
    assert (subscribed["token"], subscribed["namespace"], batch["answer"]["status"]) == ("tok:four", project, 200)


@pytest.mark.parametrize("query, numbers", [
    ({"title": "One"}, [1]), ({"match": "aps.alert.body=two"}, [2]), ({"match": ["aps.badge=3", "aps.alert.title=Three"]}, [3]),
    ({"status": "400"}, [4]), ({"state": "refused"}, [4]), ({"interface": "fcm"}, []), ({"limit": "2"}, [4, 3]),
    ({"app": APP, "limit": 1}, [3]), ({"key": "KEY1234567", "title": "Two"}, [2]), ({"token": "0" * 64}, []),
])
def test_requests_are_found_by_their_values(server, http, query, numbers):
    provider = sender(server, team())
    first = received(http)["last"]
    for body in [{"alert": {"title": "One"}}, {"alert": {"title": "Two", "body": "two"}},
                 {"alert": {"title": "Three"}, "badge": 3}]:
        provider.send(Push(body=json.dumps({"aps": body}).encode()))
    provider.send(Push({"apns-topic": None}))
    found = received(http, namespace=provider.key.team, **query)["received"]
    assert [each["number"] - first for each in found] == numbers
    assert received(http, since=first + 3)["matching"] == 1


@pytest.mark.parametrize("query, words", [
    ("match=aps.alert", "match must be PATH=VALUE"), ("limit=0", "limit must be a number from 1 to 1000"),
    ("timeout=61", "timeout must be a number of seconds from 0 to 60"), ("since=x", "since must be a number"), ("foo=1", "foo is unknown"),
])
def test_a_query_that_cannot_be_read_is_refused(http, query, words):
    answer = http.get(f"/v1/received?{query}")
    assert answer.status_code == 400 and words in answer.json()["detail"]


def test_a_wait_ends_with_the_last_of_so_many_or_with_its_time(server, http):
    provider = sender(server, team())
    begun = time.monotonic()
    assert received(http, namespace=provider.key.team, count=1, timeout=1)["matching"] == 0
    assert time.monotonic() - begun >= 1
    threads = [threading.Thread(target=provider.send, args=(Push(),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    answer = received(http, namespace=provider.key.team, count=3, timeout=60)
    assert answer["matching"] == 3 and time.monotonic() - begun < 30
    for thread in threads:
        thread.join()


def test_tests_in_parallel_have_a_namespace_each(server, http):
    one, two = sender(server, team()), sender(server, team())
    one.send(Push())
    two.send(Push())
    two.send(Push({"aldaba-namespace": "named"}))
    http.post("/v1/faults", json={"status": 500, "namespace": two.key.team}).raise_for_status()
    forgotten = http.post("/v1/reset", params={"namespace": one.key.team}).json()
    assert forgotten == {"received": 1, "faults": 0}
    assert {each["namespace"] for each in received(http)["received"]} == {two.key.team, "named"}
    assert http.post("/v1/reset").json() == {"received": 2, "faults": 1}
    assert received(http)["received"] == []


def test_a_reset_forgets_many_requests(server, http):
    provider = sender(server, team())
    with provider.connection() as connection:
        for _ in range(200):
            provider.answer(Push(), connection)
    assert http.post("/v1/reset").json()["received"] == 200
    assert http.post("/v1/reset?namspace=x").status_code == 400
    assert http.post("/v1/reset?namespace=a+b").json() == {"received": 0, "faults": 0}


def test_the_command_shows_waits_follows_and_forgets(server, http):
    provider = sender(server, team())
    provider.send(Push(body=b'{"aps":{"alert":{"title":"Shown"}}}'))
    line = aldaba(server, "received", "--wait", "1", "--title", "Shown", "--state", "acked")
    assert line.split()[2:6] == ["apns", APP, provider.token[:16], "200"] and '"title":"Shown"' in line
    entry = json.loads(aldaba(server, "received", "--match", "aps.alert.title=Shown", "--json"))
    assert entry["title"] == "Shown"
    late = aldaba(server, "received", "--wait", "5", "--timeout", "1", "--title", "Shown", code=7)
    assert late == aldaba(server, "received", "--title", "Shown")
    following = subprocess.Popen(
        [str(BINARY), "received", "--follow", "--json"], stdout=subprocess.PIPE, text=True,
        env=clean_environment(ALDABA_HTTP=server.ready["http"]))
    with following:
        assert json.loads(following.stdout.readline())["title"] == "Shown"
        provider.send(Push(body=b'{"aps":{"alert":{"title":"Next"}}}'))
        assert json.loads(following.stdout.readline())["title"] == "Next"
        following.terminate()
    assert aldaba(server, "reset") == "forgot 2 requests and 0 faults\n"
    assert aldaba(server, "received") == ""


def test_a_team_sees_its_own_requests_over_tls_and_changes_nothing_there(server, http):
    one, two = sender(server, team()), sender(server, team())
    one.send(Push())
    two.send(Push())
    with secured(server) as client:
        assert client.get("/v1/received").status_code == 401
        own = client.get("/v1/received", headers={"authorization": one.authorization}).json()
        assert [each["team"] for each in own["received"]] == [one.key.team]
        for path in ["/v1/reset", "/v1/faults", "/v1/clock"]:
            assert client.post(path, headers={"authorization": one.authorization}, json={}).status_code == 404


def test_fcm_is_served_over_http2_to_clients_that_ask_for_it(server, http):
    client = Client(server.ready["http"], new_account(f"h2-{secrets.token_hex(3)}"), f"tok:{secrets.token_hex(8)}").signed_in()
    project = client.account["project_id"]
    context = ssl.create_default_context(cafile=server.ready["ca"])
    with httpx.Client(http2=True, verify=context, base_url=server.ready["control"]) as control:
        def send():
            return control.post(
                f"/v1/projects/{project}/messages:send", json={"message": {"token": client.token}},
                headers={"authorization": f"Bearer {client.access_token}"})
        answers = [send() for _ in range(20)]
        http.post("/v1/faults", json={"status": 429, "retryAfter": 1, "namespace": project}).raise_for_status()
        answers += [send(), send()]
    assert {each.http_version for each in answers} == {"HTTP/2"}
    assert [each.status_code for each in answers] == [200] * 20 + [429, 200]
    found = received(http, interface="fcm", namespace=project)["received"]
    assert len(found) == 22 and len({each["connection"] for each in found}) == 1


def test_the_emulator_hub_lists_messaging(server, http):
    emulators = http.get("/emulators").json()
    port = int(server.ready["http"].rsplit(":", 1)[1])
    assert (emulators["messaging"]["host"], emulators["messaging"]["port"]) == ("127.0.0.1", port)
