"""Apple's published rules for requests to APNs: for each row of Docs/vendor-rules.md a request that breaks the rule."""

import base64
import gzip
import re
import subprocess
import time
import uuid

import httpx
import pytest

import channel_requests as channels
from aldaba_process import clean_environment
from channel_requests import LAST_STORED, NONE_STORED, broadcast, created, managed
from course import Course
from h2_client import H2Client
from pages import blocks
from provider_tokens import ProviderKey
from test_run import NAMESPACES
from vendor_requests import HOUR, Push, Sender, open_server, told_by_apple as told
from vendor_rules import Case, agrees, differences, expected, rules
from waiting import wait_until

TOPIC, OTHER_TOPIC = "com.example.App", "com.example.Other"
TOKEN = "740f4707bebcf74f9b7c25d48e3358945f6aa01da5ddb387462c7eaf61bb78ad"
SUFFIXES = {
    "location": ".location-query", "voip": ".voip", "complication": ".complication",
    "fileprovider": ".pushkit.fileprovider", "liveactivity": ".push-type.liveactivity", "pushtotalk": ".voip-ptt",
    "widgets": ".push-type.widgets", "controls": ".push-type.controls"}


def head(*values, **changes):
    """Requests with other headers: one for each value of the one header, or one with all of them."""
    if values:
        name, *values = values
        return [Push({name: value}) for value in values]
    return [Push({name.replace("_", "-"): value for name, value in changes.items()})]


def bearer(*makers):
    """Requests with other provider tokens, which functions make of the sender's key."""
    return [Push({"authorization": lambda sender, make=make: f"bearer {make(sender.key)}"}) for make in makers]


def claims(key, **changes):
    all_claims = {"iss": key.team, "iat": int(time.time())} | changes
    return key.token(claims={name: value for name, value in all_claims.items() if value is not None})


def sized(size, **changes):
    frame = b'{"aps":{"alert":""}}'
    [push] = head(**changes)
    push.body = frame.replace(b'""', b'"%s"' % (b"x" * (size - len(frame))))
    return push


def typed(push_type, suffix=""):
    return Push({"apns-push-type": push_type, "apns-topic": lambda sender: sender.topic + suffix})


def again(name, value):
    return Push({name: value}, [(name, value)])


OTHER_TEAM = ProviderKey.made_now("OTHERKEY12", "OTHERTEAM1")
BY_OTHER_TEAM = {"authorization": lambda _: f"bearer {OTHER_TEAM.token()}"}


def of_other_team(topic):
    return Push(BY_OTHER_TEAM | {"apns-topic": topic}, path=f"/3/device/{uuid.uuid4().hex * 2}")


def stream_limit(sender):
    """How many streams a connection may open before its first request."""
    with H2Client(sender.ready["apns"], sender.ready["ca"]) as client:
        wait_until(lambda: client.receive(0.01) or client.streams_allowed < 2**32, "the server's SETTINGS are here")
        limit = client.streams_allowed
    return f"{limit} stream{'s' if limit > 1 else ''}"


def echoes_the_id(sender):
    sent = str(uuid.uuid4())
    response = sender.answer(Push({"apns-id": sent}))
    assert (response.headers["apns-id"], response.content) == (sent, b"")
    return told(response)


def makes_an_id(sender):
    response = sender.answer(Push())
    assert str(uuid.UUID(response.headers["apns-id"])) == response.headers["apns-id"]
    return told(response)


def has_a_unique_id(sender):
    response = sender.answer(Push())
    assert uuid.UUID(response.headers["apns-unique-id"])
    return told(response)


def tells_the_reason(sender):
    sent = str(uuid.uuid4())
    response = sender.answer(Push({"apns-id": sent, "apns-priority": "7"}))
    assert (response.headers["apns-id"], list(response.json())) == (sent, ["reason"])
    assert response.headers["content-type"].startswith("application/json")
    return told(response)


def tells_the_time(sender):
    response = sender.answer(Push(path=f"/3/device/{'0' * 60}0410"))
    assert 0 < response.json()["timestamp"] <= (time.time() + 1) * 1000 and response.json()["timestamp"] > 10**12
    return told(response)


def provoked(reason):
    """What a request gets for which a fault with this reason waits."""

    def send(sender):
        token = uuid.uuid4().hex * 2
        made = httpx.post(f"{sender.ready['http']}/v1/faults", json={"interface": "apns", "token": token, "reason": reason})
        assert made.status_code == 201, made.text
        response = sender.answer(Push(path=f"/3/device/{token}"))
        assert ("timestamp" in response.json()) == (response.status_code == 410)
        return told(response)

    return send


CASES = {
    "The method is `POST`": Case([Push(method="GET"), Push(method="PUT")]),
    "The path begins with `/3/device/`": Case([Push(path=each) for each in ("/", "/2/device/TOKEN", "/3/devices/TOKEN")]),
    "The path ends with the device token": Case([Push(path="/3/device/")]),
    "The device token is hexadecimal": Case([Push(path=f"/3/device/{'zz' * 32}")]),
    "A device token may have any length": Case([Push(path=f"/3/device/{'ab' * 80}")]),
    "The device token belongs to the topic": Case([[
        Push(path=f"/3/device/{'ef' * 32}"), Push({"apns-topic": OTHER_TOPIC}, path=f"/3/device/{'ef' * 32}")]]),
    "`authorization` has `bearer` and a token": Case(head("authorization", None, "bearer", "bearer ")),
    "The token is a JSON Web Token": Case(bearer(lambda key: "nonsense", lambda key: key.token().rpartition(".")[0])),
    "`alg` is `ES256`": Case(bearer(*(
        lambda key, alg=alg: key.token(header={"alg": alg, "kid": key.key_id}) for alg in ("HS256", "RS256", "none")))),
    "`kid` has ten characters": Case(bearer(*(
        lambda key, header=header: key.token(header={"alg": "ES256"} | header) for header in ({"kid": "ABC123DEF"}, {})))),
    "`iss` is a team id of ten characters": Case(bearer(
        lambda key: claims(key, iss=key.team[:9]), lambda key: claims(key, iss=None))),
    "`iat` is seconds since 1970": Case(bearer(lambda key: claims(key, iat=None), lambda key: claims(key, iat="today"))),
    "`iat` is at most an hour ago": Case(
        bearer(lambda key: key.token(issued=int(time.time()) - HOUR - 60)),
        bearer(lambda key: key.token(issued=int(time.time()) - HOUR + 60))),
    "`iat` may be up to an hour ahead": Case(bearer(lambda key: key.token(issued=int(time.time()) + HOUR - 60))),
    "The signature is one of the key": Case(
        bearer(lambda key: ProviderKey.made_now(key.key_id, key.team).token()), needs_registered_key=True),
    "A connection changes its token at most every 20 minutes": Case([[
        Push(), *bearer(*(lambda key, age=age: key.token(issued=int(time.time()) - age) for age in (60, 120)))]]),
    "A connection has one team": Case([[Push(), of_other_team("com.other.App")]]),
    "Until a token was accepted, a connection has one stream": Case([stream_limit]),
    "`apns-topic` is there": Case(head("apns-topic", None)),
    "`apns-topic` is a bundle id": Case(head("apns-topic", "com example")),
    "`apns-topic` is one of the team": Case(head("apns-topic", "com.example.nobodys"), needs_registered_key=True),
    "`apns-push-type` is one of Apple's": Case(
        head("apns-push-type", "pigeon"),
        [typed(name, SUFFIXES.get(name, "")) for name in ("alert", "background", "mdm", *SUFFIXES)]),
    "`alert` and `background` go to the bundle id": Case([typed("alert", ".voip"), typed("background", ".location-query")]),
    **{f"`{name}` goes to the topic with `{suffix}`": Case([typed(name), typed(name, ".x" + suffix[1:])])
       for name, suffix in SUFFIXES.items()},
    "`apns-id` is a UUID, 8-4-4-4-12": Case(
        head("apns-id", "hello", uuid.uuid4().hex, "{%s}" % uuid.uuid4()), head("apns-id", str(uuid.uuid4()))),
    "The digits of `apns-id` are lower case": Case(head("apns-id", "123E4567-E89B-12D3-A456-4266554400A0")),
    "`apns-expiration` is seconds since 1970, or 0": Case(
        head("apns-expiration", "soon", "-1", "1.5"), head("apns-expiration", "0", str(int(time.time()) + HOUR))),
    "`apns-priority` is 10, 5 or 1": Case(head("apns-priority", "7", "0", "high"), head("apns-priority", "10", "5", "1")),
    "`background` has priority 5": Case(
        head(apns_push_type="background", apns_priority="10"), head(apns_push_type="background", apns_priority="5")),
    "`background` names its priority, since 10 is the default": Case(head("apns-push-type", "background")),
    "`apns-collapse-id` has at most 64 bytes": Case(head("apns-collapse-id", "c" * 65), head("apns-collapse-id", "c" * 64)),
    "No header comes twice": Case([
        again("authorization", lambda sender: sender.authorization), again("apns-id", str(uuid.uuid4())),
        again("apns-topic", lambda sender: sender.topic), again("apns-push-type", "alert"), again("apns-expiration", "0"),
        again("apns-priority", "10"), again("apns-collapse-id", "a")]),
    "There is a payload": Case([Push(body=b"")]),
    "A payload has at most 4,096 bytes": Case([sized(4097)], [sized(4096)]),
    "The payload of `voip` has at most 5,120 bytes": Case([
        sized(5121, apns_push_type="voip", apns_topic=lambda sender: sender.topic + ".voip")],
        [sized(5120, apns_push_type="voip", apns_topic=lambda sender: sender.topic + ".voip")]),
    "A payload is not compressed": Case([Push(body=gzip.compress(b'{"aps":{}}'), extra=[("content-encoding", "gzip")])]),
    "`POST` to `/1/apps/BUNDLE-ID/channels` creates a channel, whose id in base64 is in `apns-channel-id`": Case([
        channels.creates_a_channel]),
    "`GET` of `/1/apps/BUNDLE-ID/channels` has a channel's configuration": Case([channels.reads_a_channel]),
    "`DELETE` of `/1/apps/BUNDLE-ID/channels` ends a channel": Case([channels.deletes_a_channel]),
    "`GET` of `/1/apps/BUNDLE-ID/all-channels` has the ids of all channels": Case([channels.lists_channels]),
    "`POST` to `/4/broadcasts/apps/BUNDLE-ID` sends to a channel, and adds `apns-unique-id`": Case([channels.sends_to_a_channel]),
    "A request about channels has its `apns-request-id` in the answer, or a UUID": Case([channels.echoes_the_request_id]),
    "The method of a request about channels is one of its path": Case([
        managed("PUT"), managed("POST", "/1/apps/BUNDLE/all-channels"), managed("GET", "/4/broadcasts/apps/BUNDLE")]),
    "The path of a request about channels has the bundle id without a suffix": Case([
        managed("POST", "/1/apps/BUNDLE.push-type.liveactivity/channels", LAST_STORED)]),
    "The path of a request about channels has a bundle id of the team": Case(
        [managed(path="/1/apps/com.example.nobodys/channels")], needs_registered_key=True),
    "A request about channels has a provider token or a certificate": Case([managed(authorization=None)]),
    "A channel is created with a configuration": Case([created(b"")]),
    "The configuration of a channel is JSON": Case([created(b"{"), created([])]),
    "The configuration of a channel has `push-type`": Case([created({"message-storage-policy": 1})]),
    "`push-type` of a channel is `LiveActivity`": Case([created(LAST_STORED | {"push-type": "alert"})]),
    "The configuration of a channel has `message-storage-policy`": Case([created({"push-type": "LiveActivity"})]),
    "`message-storage-policy` is 0 or 1": Case([
        created(LAST_STORED | {"message-storage-policy": each}) for each in (2, -1, "1")]),
    "The configuration of a channel has no other attribute": Case([created(LAST_STORED | {"name": "final"})]),
    "`apns-channel-id` is there": Case([managed(apns_channel_id=None), managed("DELETE", apns_channel_id=None)]),
    "`apns-channel-id` is base64": Case([managed(apns_channel_id="final!"), managed("DELETE", apns_channel_id="final!")]),
    "`apns-channel-id` is a channel of the app": Case([
        managed(apns_channel_id=base64.b64encode(bytes(16)).decode()),
        managed(path=f"/1/apps/{OTHER_TOPIC}/channels"), managed("DELETE", f"/1/apps/{OTHER_TOPIC}/channels")]),
    "`apns-request-id` is a UUID": Case([managed(apns_request_id="hello"), broadcast(apns_request_id=uuid.uuid4().hex)]),
    "`apns-push-type` of a broadcast is there": Case([broadcast(apns_push_type=None)]),
    "`apns-push-type` of a broadcast is `liveactivity`": Case(
        [broadcast(apns_push_type="alert")],
        [broadcast(apns_push_type=each) for each in ("liveactivity", "Liveactivity", "LiveActivity")]),
    "`apns-expiration` of a broadcast is there": Case([broadcast(apns_expiration=None)]),
    "`apns-expiration` of a broadcast is seconds since 1970, or 0": Case(
        [broadcast(LAST_STORED, apns_expiration=each) for each in ("soon", "-1", "1.5")],
        [broadcast(LAST_STORED, apns_expiration=each) for each in ("0", str(int(time.time()) + HOUR))]),
    "`apns-expiration` is 0 where the channel stores no message": Case(
        [broadcast(NONE_STORED, apns_expiration=str(int(time.time()) + HOUR))],
        [broadcast(NONE_STORED, apns_expiration="0")]),
    "`apns-priority` of a broadcast is there": Case([broadcast(apns_priority=None)]),
    "`apns-priority` of a broadcast is 10, 5 or 1": Case(
        [broadcast(apns_priority=each) for each in ("7", "0", "high")],
        [broadcast(apns_priority=each) for each in ("10", "5", "1")]),
    "There is a payload of a broadcast": Case([broadcast(body=b"")]),
    "The payload of a broadcast has at most 5,120 bytes": Case(
        [broadcast(body=sized(5121).body)], [broadcast(body=sized(5120).body)]),
    "An update goes to the activity's push token, and not to the app's device token": Case(
        [typed("liveactivity", SUFFIXES["liveactivity"])], needs_registered_key=True),
    "The push token of a Live Activity may have another length than a device token": Case([
        Push(typed("liveactivity", SUFFIXES["liveactivity"]).headers, path=f"/3/device/{'ab' * 48}")]),
    "A success has the request's `apns-id` and no body": Case([echoes_the_id]),
    "A request without `apns-id` gets a UUID": Case([makes_an_id]),
    "The development environment adds `apns-unique-id`": Case([has_a_unique_id]),
    "An error has the request's `apns-id`, and JSON with `reason`": Case([tells_the_reason]),
    "Status 410 has `timestamp`, in milliseconds": Case([tells_the_time]),
}
# With a certificate for the topic: the flags by which it was signed, and the request.
CERTIFICATES = {
    "With a certificate `authorization` is ignored": ((), Push({"authorization": "bearer nonsense"})),
    "A certificate for one topic implies `apns-topic`": ((), Push({"apns-topic": None})),
    "A certificate for several topics needs `apns-topic`": (("--voip",), Push({"apns-topic": None})),
    "`apns-topic` is one of the certificate": ((), Push({"apns-topic": OTHER_TOPIC})),
    "`location` takes a provider token, and no certificate": ((), typed("location", SUFFIXES["location"])),
    "A certificate is of the environment": (("--environment", "production"), Push()),
    "A certificate of the app manages its channels": ((), created(LAST_STORED)),
    "A certificate is one of the bundle id in the path": ((), managed(path=f"/1/apps/{OTHER_TOPIC}/all-channels")),
    "`liveactivity` takes a provider token, and no certificate": ((), typed("liveactivity", SUFFIXES["liveactivity"])),
}
RULES = rules("APNs")
REASONS = {text: Case([provoked(name[1])]) for text in RULES if (name := re.fullmatch(r"`(\w+)`: .*", text))}
CREDENTIALS = [
    text for text, case in CASES.items() if RULES[text].answer.startswith("403") or case.needs_registered_key]


@pytest.fixture(scope="module")
def sender(tmp_path_factory):
    with open_server(tmp_path_factory.mktemp("apns"), "vendor_rules_apns") as server:
        yield Sender(server.ready, ProviderKey.made_now("ABC123DEFG", "DEF123GHIJ"), TOPIC, TOKEN)


@pytest.mark.parametrize("rule", [text for text in RULES if text in CASES and not CASES[text].needs_registered_key])
def test_a_request_that_breaks_a_rule_of_apple_is_answered_as_the_page_says(rule, sender):
    for broken in CASES[rule].broken:
        answer = sender.send(broken)
        assert agrees(answer, expected(rule, "APNs")), f"{broken}: {answer}"


@pytest.mark.parametrize("rule", [text for text, case in CASES.items() if case.kept])
def test_a_request_that_keeps_a_rule_of_apple_is_accepted(rule, sender):
    for kept in CASES[rule].kept:
        assert sender.send(kept) == "200", kept


@pytest.mark.parametrize("rule", REASONS)
def test_each_reason_of_apple_can_be_provoked(rule, sender):
    [provoke] = REASONS[rule].broken
    assert sender.send(provoke) == RULES[rule].answer


@pytest.mark.parametrize("rule", CREDENTIALS)
def test_a_server_with_registered_keys_and_apps_refuses_the_same(rule, path):
    strict = Sender(path)
    for broken in CASES[rule].broken:
        assert agrees(strict.send(broken), expected(rule, "APNs")), broken
    assert strict.send(Push()) == "200"


@pytest.mark.parametrize("rule", CERTIFICATES)
def test_a_certificate_is_answered_as_the_page_says(rule, path, tmp_path):
    flags, push = CERTIFICATES[rule]
    certificate, _ = Course(tmp_path, path["data"]).certificate(path["topic"], *flags)
    assert Sender(path, certificate=certificate).send(push) == expected(rule, "APNs")


def test_each_row_for_apns_has_a_case_and_each_case_a_row():
    assert set(RULES) == set(CASES) | set(REASONS) | set(CERTIFICATES)
    assert len(REASONS) == 41


def test_each_difference_is_one_of_a_rule():
    known = RULES | rules("FCM")
    for rule, answer in differences().items():
        assert known[rule].answer != answer, f"{rule}: no difference any more"


@pytest.mark.skipif(
    subprocess.run(NAMESPACES, capture_output=True, check=False).returncode != 0, reason="no namespaces for users here")
def test_the_command_of_the_page_prints_what_the_page_says():
    [command], [printed] = blocks("vendor-rules.md", "sh"), blocks("vendor-rules.md", "text")
    done = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, timeout=60, check=False, env=clean_environment())
    assert done.stdout.strip() == printed.strip(), done.stderr
