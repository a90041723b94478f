"""One fault each in path, method, provider token, headers and device token: Apple's status and reason."""

import hashlib
import hmac
import json
import time
import uuid

import pytest

from h2_client import H2Client
from provider_tokens import as_json, base64url
from refusal_world import FOREIGN_TOPIC, World

BAD_PATH, MISSING_TOKEN = (404, "BadPath"), (400, "MissingDeviceToken")
BAD_TOKEN = (400, "BadDeviceToken")
INVALID, MISSING, EXPIRED = (403, "InvalidProviderToken"), (403, "MissingProviderToken"), (403, "ExpiredProviderToken")
HOUR = 3600


@pytest.fixture(scope="module")
def world(path, control):
    made = World(path, control)
    yield made
    made.close()


@pytest.fixture(scope="module")
def bystander(path):
    """A connection that stays open through all refusals: no fault of another's may end it."""
    with H2Client(path["apns"], path["ca"]) as client:
        yield client


def method(name):
    return lambda world, request: setattr(request, "method", name)


def where(make_path):
    return lambda world, request: setattr(request, "path", make_path(world))


def token(make_token):
    return where(lambda world: f"/3/device/{make_token(world)}")


def header(name, value):
    return lambda world, request: request.headers.__setitem__(name, value)


def again(name, value):
    return lambda world, request: request.extra.append((name, value))


def bearer(make):
    return lambda world, request: request.headers.__setitem__("authorization", world.bearer(make(world)))


def claims(**changes):
    def make(world):
        usual = {"iss": world.team, "iat": int(time.time())} | changes
        return world.key.token(claims={name: value for name, value in usual.items() if value is not None})

    return bearer(make)


def jwt_header(**changes):
    def make(world):
        usual = {"alg": "ES256", "kid": world.key.key_id} | changes
        return world.key.token(header={name: value for name, value in usual.items() if value is not None})

    return bearer(make)


def unsigned(world):
    parts = as_json({"alg": "none", "kid": world.key.key_id}), as_json({"iss": world.team, "iat": int(time.time())})
    return ".".join(map(base64url, parts)) + "."


def signed_with_the_public_key(world):
    """The classic confusion of algorithms: HMAC keyed with what everybody may know."""
    parts = as_json({"alg": "HS256", "kid": world.key.key_id}), as_json({"iss": world.team, "iat": int(time.time())})
    signed = ".".join(map(base64url, parts))
    return f"{signed}.{base64url(hmac.digest(world.key.public_pem, signed.encode(), hashlib.sha256))}"


def with_signature(change):
    def make(world):
        head, body, signature = world.key.token().split(".")
        return f"{head}.{body}.{change(signature)}"

    return bearer(make)


def flipped(text, position):
    return text[:position] + ("A" if text[position] not in "aA" else "B") + text[position + 1:]


def other_team(world, request):
    """A foreign team's valid token on the demo app's topic."""
    request.headers["authorization"] = world.bearer(world.foreign_key.token())


REFUSALS = {
    # method and path
    "the method is GET": (method("GET"), (405, "MethodNotAllowed")),
    "the method is PUT": (method("PUT"), (405, "MethodNotAllowed")),
    "the method is in lower case": (method("post"), (405, "MethodNotAllowed")),
    "the path is the root": (where(lambda world: "/"), BAD_PATH),
    "the path has another version": (where(lambda world: f"/4/device/{world.good_token}"), BAD_PATH),
    "the path says devices": (where(lambda world: f"/3/devices/{world.good_token}"), BAD_PATH),
    "the path is in upper case": (where(lambda world: f"/3/DEVICE/{world.good_token}"), BAD_PATH),
    "the path goes on after the token": (where(lambda world: f"/3/device/{world.good_token}/x"), BAD_PATH),
    "the path has a query": (where(lambda world: f"/3/device/{world.good_token}?x=1"), BAD_PATH, BAD_TOKEN),
    "the path has no token": (where(lambda world: "/3/device/"), MISSING_TOKEN),
    "the path has neither token nor slash": (where(lambda world: "/3/device"), MISSING_TOKEN, BAD_PATH),
    # provider token
    "there is no authorization": (header("authorization", None), MISSING),
    "the authorization is empty": (header("authorization", ""), MISSING, INVALID),
    "the bearer is empty": (header("authorization", "bearer"), MISSING, INVALID),
    "the scheme is basic": (header("authorization", "basic YTpi"), MISSING, INVALID),
    "the provider token is one word": (bearer(lambda world: "nonsense"), INVALID),
    "the provider token has two parts": (bearer(lambda world: world.key.token().rpartition(".")[0]), INVALID),
    "the provider token has four parts": (bearer(lambda world: world.key.token() + ".e30"), INVALID),
    "the provider token is not base64url": (bearer(lambda world: "*" + world.key.token()[1:]), INVALID),
    "the provider token is 3,000 bytes of nothing": (bearer(lambda world: "A" * 3000), INVALID),
    "the token's header is not JSON": (bearer(lambda world: world.key.token(header=b"{alg:ES256}")), INVALID),
    "the token's header is an array": (bearer(lambda world: world.key.token(header=b"[]")), INVALID),
    "the token's claims are not JSON": (bearer(lambda world: world.key.token(claims=b"iss")), INVALID),
    "the algorithm is none": (bearer(unsigned), INVALID),
    "the algorithm is HS256": (bearer(signed_with_the_public_key), INVALID),
    "the algorithm is said to be RS256": (jwt_header(alg="RS256"), INVALID),
    "the algorithm is missing": (jwt_header(alg=None), INVALID),
    "the token has critical extensions": (jwt_header(crit=["b64"], b64=True), INVALID),
    "the key id is unknown": (jwt_header(kid="UNKNOWN123"), INVALID),
    "the key id is missing": (jwt_header(kid=None), INVALID),
    "the key id is a path": (jwt_header(kid="../../etc/"), INVALID),
    "the key id is a number": (jwt_header(kid=1234567890), INVALID),
    "the signature is a stranger's": (bearer(lambda world: world.stranger.token()), INVALID),
    "one character of the signature differs": (with_signature(lambda text: flipped(text, 10)), INVALID),
    "the signature is cut short": (with_signature(lambda text: text[:40]), INVALID),
    "the signature is empty": (with_signature(lambda text: ""), INVALID),
    "the signature is all zeros": (with_signature(lambda text: base64url(bytes(64))), INVALID),
    "one character of the claims differs": (
        bearer(lambda world: flipped(world.key.token(), world.key.token().index(".") + 12)), INVALID),
    "the issuer is another team": (claims(iss="ELSEWHERE1"), INVALID),
    "the issuer is missing": (claims(iss=None), INVALID),
    "the issuer is a number": (claims(iss=7), INVALID),
    "the token was issued two hours ago": (claims(iat=int(time.time()) - 2 * HOUR), EXPIRED),
    "the token was issued in 1970": (claims(iat=0), EXPIRED),
    "the token will be issued tomorrow": (claims(iat=int(time.time()) + 24 * HOUR), INVALID),
    "the time of issue is missing": (claims(iat=None), INVALID),
    "the time of issue is a word": (claims(iat="yesterday"), INVALID),
    "the time of issue is an object": (claims(iat={}), INVALID),
    "the time of issue is beyond all numbers": (
        bearer(lambda world: world.key.token(claims=f'{{"iss":"{world.team}","iat":1e999}}'.encode())), INVALID),
    "the time of issue is the last of 64 bits": (claims(iat=2**63 - 1), INVALID),
    "the time of issue is the first of 64 bits": (claims(iat=-2**63), EXPIRED, INVALID),
    "the time of issue is the last of 64 bits in milliseconds": (claims(iat=(2**63 - 1) // 1000), INVALID),
    # headers
    "apns-id is a word": (header("apns-id", "hello"), (400, "BadMessageId")),
    "apns-id lacks its hyphens": (header("apns-id", uuid.uuid4().hex), (400, "BadMessageId")),
    "apns-id has a digit that is not hexadecimal": (
        header("apns-id", "g" + str(uuid.uuid4())[1:]), (400, "BadMessageId")),
    "apns-id is in braces": (header("apns-id", "{%s}" % uuid.uuid4()), (400, "BadMessageId")),
    "apns-topic comes twice": (again("apns-topic", "com.example.todo"), (400, "DuplicateHeaders")),
    "apns-priority comes twice": (
        lambda world, request: request.extra.extend([("apns-priority", "5"), ("apns-priority", "5")]),
        (400, "DuplicateHeaders")),
    "apns-push-type comes twice": (again("apns-push-type", "background"), (400, "DuplicateHeaders")),
    "apns-expiration is a word": (header("apns-expiration", "soon"), (400, "BadExpirationDate")),
    "apns-expiration is negative": (header("apns-expiration", "-1"), (400, "BadExpirationDate")),
    "apns-expiration is a fraction": (header("apns-expiration", "1.5"), (400, "BadExpirationDate")),
    "apns-expiration is beyond 64 bits": (header("apns-expiration", "9" * 25), (400, "BadExpirationDate")),
    "apns-priority is 7": (header("apns-priority", "7"), (400, "BadPriority")),
    "a silent push has priority 10": (
        lambda world, request: request.headers.update({"apns-push-type": "background", "apns-priority": "10"}),
        (400, "BadPriority")),
    "apns-priority is a word": (header("apns-priority", "high"), (400, "BadPriority")),
    "apns-push-type is unknown": (header("apns-push-type", "pigeon"), (400, "InvalidPushType")),
    "apns-topic is missing": (header("apns-topic", None), (400, "MissingTopic")),
    "apns-topic is empty": (header("apns-topic", ""), (400, "MissingTopic"), (400, "BadTopic")),
    "apns-topic is unknown": (header("apns-topic", "com.example.nobody"), (400, "TopicDisallowed")),
    "apns-topic is another team's": (header("apns-topic", FOREIGN_TOPIC), (400, "TopicDisallowed")),
    "the provider token is another team's": (other_team, (400, "TopicDisallowed")),
    "apns-collapse-id has 65 bytes": (header("apns-collapse-id", "c" * 65), (400, "BadCollapseId")),
    "apns-collapse-id has 33 characters of two bytes": (header("apns-collapse-id", "é" * 33), (400, "BadCollapseId")),
    "apns-topic has a space": (header("apns-topic", "com example"), (400, "BadTopic")),
    "apns-collapse-id has two lines": (header("apns-collapse-id", "Buy milk\nand bread"), (400, "BadCollapseId")),
    # device token
    "the device token is short": (token(lambda world: world.good_token[:-2]), BAD_TOKEN),
    "the device token is long": (token(lambda world: world.good_token + "00"), BAD_TOKEN),
    "the device token has an odd digit": (token(lambda world: world.good_token[:-1]), BAD_TOKEN),
    "the device token is not hexadecimal": (token(lambda world: "z" * 64), BAD_TOKEN),
    "the device token is percent-encoded": (token(lambda world: "%61" * 64), BAD_TOKEN),
    "the device token is forged": (token(lambda world: flipped(world.good_token, 40)), BAD_TOKEN),
    "the device token is all zeros": (token(lambda world: "0" * 64), BAD_TOKEN),
    "the device token is 6,000 digits": (token(lambda world: "ab" * 3000), BAD_TOKEN),
    "the device token has spaces": (token(lambda world: f"<{' '.join(['abcd0123'] * 8)}>"), BAD_TOKEN),
    "the device token is what iOS 13 prints": (token(lambda world: "{length = 32, bytes = 0xab12 ... cd34}"), BAD_TOKEN),
    "the device token has a line feed behind it": (token(lambda world: world.good_token + "\n"), BAD_TOKEN),
    "the device token is in base64": (token(lambda world: "q7+" * 14), BAD_TOKEN),
    "the device token is of the other environment": (token(lambda world: world.production_token), BAD_TOKEN),
    "the device token is another app's": (token(lambda world: world.other_app_token), (400, "DeviceTokenNotForTopic")),
    "the device token is another team's app's": (
        token(lambda world: world.foreign_token), (400, "DeviceTokenNotForTopic")),
    "the device token is of an old generation": (token(lambda world: world.old_token), (410, "Unregistered")),
}


@pytest.mark.parametrize("name", REFUSALS)
def test_one_fault_is_answered_with_apples_reason(name, world, path, bystander):
    spoil, *allowed = REFUSALS[name]
    request = world.request()
    spoil(world, request)
    with H2Client(path["apns"], path["ca"]) as client:
        answer = client.request(request.method, request.path, request.header_list(), request.body)
    assert (answer.status, answer.reason) in allowed
    assert answer.headers["content-type"].startswith("application/json")
    given = request.headers.get("apns-id")
    assert answer.apns_id == given if given else uuid.UUID(answer.apns_id)
    good = world.request()
    assert bystander.request(good.method, good.path, good.header_list(), good.body).status == 200


def test_the_answer_to_an_old_generation_says_since_when(world):
    answer = world.provider.post(world.old_token, {"aps": {"alert": "x"}})
    assert (answer.status, answer.reason) == (410, "Unregistered")
    assert world.unregistered_after <= answer.error["timestamp"] <= world.unregistered_before
    assert world.provider.post(world.new_token, {"aps": {"alert": "x"}}).status == 200


ACCEPTED = {
    "iat is an integer": claims(iat=int(time.time())),
    "iat is a float": claims(iat=time.time()),
    "iat is a string": claims(iat=str(int(time.time()))),
    "the token's JSON has white space and more members": bearer(
        lambda world: world.key.token(
            header=json.dumps({"typ": "JWT", "kid": world.key.key_id, "alg": "ES256"}, indent=2).encode(),
            claims=json.dumps({"iat": int(time.time()), "kid": "x", "iss": world.team}, indent=2).encode())),
    "the scheme is written Bearer": lambda world, request: request.headers.__setitem__(
        "authorization", f"Bearer {world.key.token()}"),
    "the device token is in upper case": token(lambda world: world.good_token.upper()),
    "apns-id is in upper case": header("apns-id", str(uuid.uuid4()).upper()),
    "the collapse id has 64 bytes and a space": header("apns-collapse-id", "c" * 31 + " " + "c" * 32),
    "apns-expiration is 0": header("apns-expiration", "0"),
    "apns-expiration is in the year 5138": header("apns-expiration", "99999999999"),
    "apns-expiration is the last second of 64 bits": header("apns-expiration", str(2**63 - 1)),
    "apns-expiration is tomorrow": header("apns-expiration", str(int(time.time()) + 24 * HOUR)),
    "apns-priority is 1": header("apns-priority", "1"),
    "a silent push has priority 5": lambda world, request: request.headers.update(
        {"apns-push-type": "background", "apns-priority": "5"}),
    "a silent push has no priority": lambda world, request: request.headers.update(
        {"apns-push-type": "background", "apns-priority": None}),
    "an unknown header is there": header("x-anything", "at all"),
    "an unknown header comes twice": lambda world, request: request.extra.extend([("x-a", "1"), ("x-a", "2")]),
    "there is no push type": header("apns-push-type", None),
    "the content type has a character set": header("content-type", "application/json; charset=utf-8"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_what_clients_really_send_is_accepted(name, world, path):
    request = world.request()
    ACCEPTED[name](world, request)
    with H2Client(path["apns"], path["ca"]) as client:
        answer = client.request(request.method, request.path, request.header_list(), request.body)
    assert (answer.status, answer.body) == (200, b"")
    assert "apns-id" not in request.headers or answer.apns_id == request.headers["apns-id"]
