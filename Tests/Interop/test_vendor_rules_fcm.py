"""Google's published rules for FCM's HTTP v1 API and its token endpoint: for each row of Docs/vendor-rules.md a request."""

import json
import re
import time

import httpx
import pytest

from vendor_requests import HOUR, Client, details, named_field, new_account, new_key, open_server, told_by_google as told
from vendor_rules import Case, differences, expected, rules

PROJECT, OTHER_PROJECT = "my-app-12345", "my-other-app"
TOKEN = "bk3RNwTe3H0:CI2k_HHwgIpoDKCIZvvDMExUdFQ3P1"


def body(text):
    return lambda client: client.post(text)


def target(**message):
    """A message whose target is not the client's token."""
    return lambda client: client.post({"message": message})


def grants(**changes):
    return lambda client: client.grant(assertion=client.assertion(**changes))


def form(**fields):
    return lambda client: client.grant(**({"assertion": client.assertion()} | fields))


def message(path, value):
    """The message with one field, given by its whole path; a light has what else it needs."""
    light = {"color": {"red": 1}, "light_on_duration": "1s", "light_off_duration": "1s"}
    made = {"android": {"notification": {"light_settings": light}}} if ".light_settings." in path else {}
    *parents, last = path.split(".")[1:]
    inner = made
    for name in parents:
        inner = inner.setdefault(name, {})
    inner[last] = value
    return made


def of(path, kept, *broken):
    return Case([message(path, value) for value in broken], [message(path, value) for value in kept])


# The kinds of fields in the page's rows: what is one, and what is none.
KINDS = {
    "is an object": ([{}], "x", 3), "is a string": (["x"], 3, True), "is true or false": ([True, False], "yes", 2),
    "is a list of strings": ([["a", "b"], []], "a", ["a", 1]),
    "is an object whose values are strings": ([{"k": "v"}, {}], "x", {"k": 12}, {"k": True}, {"k": None}, {"k": {}}),
    "is a duration": (["3s", "3.5s"], "3", 3, "3m"), "is a list of durations": ([["1s", "0.5s"]], "1s", ["1"]),
    "is a time of RFC 3339": (["2030-01-31T09:30:00Z", "2030-01-31T09:30:00.5+01:00"], "tomorrow", 3),
    "is a whole number of 32 bits": ([3, "3"], 1.5, 2**31, "x"), "is a number from 0 to 1": ([0, 0.5, 1], 2, -1, "x"),
}
VALUES = {
    "message.android.priority": (["NORMAL", "HIGH", "normal", "high"], "urgent", ""),
    "message.android.notification.notification_priority": (
        [f"PRIORITY_{name}" for name in ("UNSPECIFIED", "MIN", "LOW", "DEFAULT", "HIGH", "MAX")], "HIGHEST"),
    "message.android.notification.visibility": (["VISIBILITY_UNSPECIFIED", "PRIVATE", "PUBLIC", "SECRET"], "HIDDEN"),
    "message.android.notification.proxy": (["PROXY_UNSPECIFIED", "ALLOW", "DENY", "IF_PRIORITY_LOWERED"], "MAYBE"),
}
# Fields whose values must be of a form that the kind does not tell.
STRINGS = {
    "message.android.restricted_package_name": "", "message.android.notification.image": "https://example.com/a.png",
    "message.notification.image": "https://example.com/a.png", "message.apns.fcm_options.image": "https://example.com/a.png",
    "message.webpush.fcm_options.link": "https://example.com/"}
OBJECTS = {
    "message.apns.payload": {"aps": {"alert": "x"}, "own": [1]}, "message.webpush.notification": {"title": "x"},
    "message.webpush.headers": {"TTL": "15"}, "message.apns.headers": {"apns-priority": "5"},
    "message.android.notification.light_settings": {
        "color": {"red": 1, "green": 0.5, "blue": 0, "alpha": 1}, "light_on_duration": "1s", "light_off_duration": "0.5s"}}
LIGHT = "message.android.notification.light_settings"
TERMS = [f"'t{number}' in topics" for number in range(6)]
LABEL = "a-Z_0.~%"


def of_field(rule):
    """The case of a row that begins with a field's path: its values are those of its kind."""
    path, kind = re.fullmatch(r"`(message\.[\w.]+)` (.*)", rule).groups()
    if kind.startswith("is one of "):
        kept, *broken = VALUES[path]
    else:
        kept, *broken = KINDS[kind]
    special = (STRINGS | OBJECTS).get(path)
    return of(path, kept if special is None else [special], *broken)


def fails_in_form_only(client):
    response = client.send({"data": {"k": 12}})
    types = {each["@type"].rsplit(".", 1)[1] for each in response.json()["error"]["details"]} - {"RequestInfo"}
    as_published = types == {"BadRequest"} and named_field(response) == "message.data[0].value"
    return told(response) if as_published else "400 FcmError"


def names_the_quota(client):
    response = client.send({"token": "0" * 60 + "0429"})
    return told(response) if details(response, "google.rpc.QuotaFailure") else "429 FcmError"


def names_the_message(client):
    response = client.send({})
    assert re.fullmatch(rf"projects/{PROJECT}/messages/[\w-]+", response.json()["name"]) and len(response.json()) == 1
    return told(response)


def gives_a_token_for_an_hour(client):
    response = client.grant(assertion=client.assertion())
    answer = response.json()
    assert (answer["token_type"], answer["expires_in"]) == ("Bearer", HOUR) and answer["access_token"]
    return told(response)


def without_the_capability(client):
    other = Client(client.base, new_account(OTHER_PROJECT), TOKEN).signed_in()
    assert other.send({"token": "other:token"}).status_code == 200
    client.server.aldaba("app", "disable", OTHER_PROJECT, "push")
    return other.send({"token": "other:token"})


CASES = {
    "The body is a JSON object with `message`": Case([body(each) for each in ("", "{", "[]", "{}", '{"message": 3}')]),
    "There is no field that the reference does not have": Case(
        [{"colour": "x"}, {"notification": {"subtitle": "x"}}, {"android": {"icon": "x"}},
         {"apns": {"fcm_options": {"link": "https://example.com/"}}},
         lambda client: client.post({"message": {"token": client.token}, "dry_run": True})],
        [{"android": {"collapseKey": "a", "fcmOptions": {"analyticsLabel": "a"}}}, {"android": {"collapse_key": "a"}}]),
    "`validate_only` is true or false": Case(
        [lambda client: client.post({"message": {"token": client.token}, "validate_only": "yes"})],
        [lambda client: client.post({"message": {"token": client.token}, "validate_only": True})]),
    "There is a valid access token": Case([
        lambda client, value=value: client.post({"message": {}}, authorization=value)
        for value in ("", "Bearer nonsense", "Basic YTpi")]),
    "The project in the path is the account's": Case([
        lambda client: client.post({"message": {"token": client.token}}, project="somebody-else")]),
    "There is exactly one of `token`, `topic` and `condition`": Case(
        [{"topic": "a"}, {"condition": TERMS[0]}, target(), target(topic="a", condition=TERMS[0])],
        [{}, target(topic="a"), target(condition=TERMS[0])]),
    "The token has the form of a registration token": Case([{"token": "0" * 60 + "0400"}]),
    "A topic's name has no `/topics/` before it": Case([target(topic="/topics/news")], [target(topic="news")]),
    "A topic's name has 1 to 900 of the characters a–z A–Z 0–9 - _ . ~ %": Case(
        [target(topic=name) for name in ("a b", "ä", "a/b", "a" * 901)], [target(topic=LABEL), target(topic="a" * 900)]),
    "A condition has at most five topics": Case(
        [target(condition=" && ".join(TERMS))], [target(condition=" || ".join(TERMS[:5]))]),
    r"A condition has terms `'NAME' in topics`, `&&`, `\|\|`, `!` and parentheses": Case(
        [target(condition=text) for text in (
            "a in topics", '"a" in topics', "'a' in topic", "'a b' in topics", "'a' in topics and 'b' in topics",
            "'a' in topics & 'b' in topics", "'a' in topics &&", "('a' in topics", "'a' in topics 'b' in topics")],
        [target(condition=text) for text in ("!('a' in topics)", "'a' in topics && ('b' in topics || 'c' in topics)")]),
    "`restricted_package_name` is the app of the token": Case([{"android": {"restricted_package_name": "com.example.x"}}]),
    **{f"`data` has no key {name}": Case([{"data": {key: "v"}} for key in keys]) for name, keys in {
        "`from`": ["from"], "`message_type`": ["message_type"], "`gcm`": ["gcm"],
        "that begins with `gcm.notification.`": ["gcm.notification.title"],
        "that begins with `google.`": ["google.a"], "that begins with `google`": ["google", "googlex"]}.items()},
    "`data` may have `collapse_key`": Case([{"data": {"collapse_key": "v"}}]),
    "A message to a token has at most 4,096 bytes of data": Case(
        [{"data": {"k": "x" * 4096}}, {"notification": {"title": "x" * 4097}}], [{"data": {"k": "x" * 4095}}]),
    "A message to a topic has at most 2,048 bytes of data": Case(
        [target(topic="a", data={"k": "x" * 2048})], [target(topic="a", data={"k": "x" * 2047})]),
    "`message.android.ttl` is a duration from 0 to 2,419,200 seconds": of(
        "message.android.ttl", ["0s", "3.5s", "3.000000001s", "2419200s"], "-1s", "2419201s", "3", 3, "3m"),
    "`message.android.notification.color` is `#rrggbb`": of(
        "message.android.notification.color", ["#a0b1C2"], "#abc", "a0b1c2", "#gggggg", "red", 3),
    f"`{LIGHT}` has its three fields": of(
        LIGHT, [OBJECTS[LIGHT]], *({name: value for name, value in OBJECTS[LIGHT].items() if name != left_out}
                                   for left_out in OBJECTS[LIGHT])),
    "`message.webpush.fcm_options.link` begins with `https://`": of(
        "message.webpush.fcm_options.link", ["https://example.com/a"], "http://example.com/a"),
    "An analytics label has 1 to 50 of the characters of a topic": Case(
        [{"fcm_options": {"analytics_label": text}} for text in ("a b", "ü", "a" * 51)],
        [{"fcm_options": {"analytics_label": text}} for text in (LABEL, "a" * 50)]),
    "An error in a value has `google.rpc.BadRequest` alone, with a field like `message.data[0].value`": Case([fails_in_form_only]),
    "`QUOTA_EXCEEDED` has `google.rpc.QuotaFailure` in `details`": Case([names_the_quota]),
    **{f"`{code}`: {meaning}": Case([{"token": "0" * 60 + digits}]) for code, digits, meaning in (
        ("INVALID_ARGUMENT", "0400", "a field is invalid"), ("SENDER_ID_MISMATCH", "0403", "the token is another sender's"),
        ("UNREGISTERED", "0410", "the app was removed from the device"), ("QUOTA_EXCEEDED", "0429", "too many messages"),
        ("INTERNAL", "0500", "the server failed"), ("UNAVAILABLE", "0503", "the server is overloaded"))},
    "`THIRD_PARTY_AUTH_ERROR`: the credential for APNs or Web Push is missing": Case([without_the_capability]),
    "A success has the message's `name`, `projects/PROJECT/messages/ID`": Case([names_the_message]),
    "A success has `access_token`, `token_type` `Bearer`, and `expires_in` of an hour": Case([gives_a_token_for_an_hour]),
    "`grant_type` is `urn:ietf:params:oauth:grant-type:jwt-bearer`": Case([form(grant_type=None), form(grant_type="password")]),
    "`assertion` is there": Case([form(assertion=None)]),
    "The assertion is a JSON Web Token": Case([form(assertion="nonsense"), form(assertion="a.b")]),
    "The assertion is signed with RS256": Case([grants(algorithm="HS256")]),
    "`iss` is there": Case([grants(iss=None)]),
    "`iss` is a service account": Case([grants(iss="nobody@nowhere.iam.gserviceaccount.com")], needs_registered_key=True),
    "The signature is one of the account's key": Case([grants(key=new_key())], needs_registered_key=True),
    "`aud` is the token endpoint": Case([grants(aud="https://elsewhere.example/token"), grants(aud=None)]),
    "`iat` and `exp` are there": Case([grants(iat=None), grants(exp=None)]),
    "`exp` is at most an hour after `iat`": Case([grants(exp=int(time.time()) + 2 * HOUR)]),
    "`exp` is not over": Case([grants(iat=int(time.time()) - 3 * HOUR, exp=int(time.time()) - 2 * HOUR)]),
    "`scope` allows messages": Case(
        [grants(scope="https://www.googleapis.com/auth/drive"), grants(scope=None)],
        [grants(), grants(scope="https://www.googleapis.com/auth/cloud-platform")]),
}
RULES = rules("FCM")
CASES |= {text: of_field(text) for text in RULES if text.startswith("`message.") and text not in CASES}
OF_THE_TOKEN_ENDPOINT = [text for text, rule in RULES.items() if rule.answer.split()[-1].islower()]


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    with open_server(tmp_path_factory.mktemp("fcm"), "vendor_rules_fcm") as server:
        made = Client(server.ready["http"], new_account(PROJECT), TOKEN).signed_in()
        made.server = server
        yield made


def check(rule, response):
    """An answer is the page's, and names the field that the page names, unless the page tells of a difference."""
    answer = response if isinstance(response, str) else told(response)
    assert answer == expected(rule, "FCM")
    if RULES[rule].field and rule not in differences():
        assert named_field(response).startswith(RULES[rule].field), named_field(response)


@pytest.mark.parametrize("rule", [text for text in RULES if text in CASES and not CASES[text].needs_registered_key])
def test_a_request_that_breaks_a_rule_of_google_is_answered_as_the_page_says(rule, client):
    for broken in CASES[rule].broken:
        check(rule, client.send(broken))


@pytest.mark.parametrize("rule", [text for text, case in CASES.items() if case.kept])
def test_a_request_that_keeps_a_rule_of_google_is_accepted(rule, client):
    for kept in CASES[rule].kept:
        response = client.send(kept)
        assert response.status_code == 200, f"{kept}: {response.text}"


@pytest.mark.parametrize("rule", [text for text in RULES if re.match(r"`[A-Z_]+`: ", text)])
def test_each_error_code_of_google_can_be_provoked(rule, client):
    code = rule.split("`")[1]
    made = httpx.post(f"{client.base}/v1/faults", json={"interface": "fcm", "token": "to:" + code, "reason": code})
    assert made.status_code == 201, made.text
    assert told(client.send({"token": "to:" + code})) == RULES[rule].answer


@pytest.mark.parametrize("rule", OF_THE_TOKEN_ENDPOINT)
def test_a_server_with_registered_accounts_refuses_the_same_assertions(rule, path):
    with open(path["serviceAccount"]) as file:
        strict = Client(path["fcm"], json.load(file), path["registrationToken"])
    for broken in CASES[rule].broken:
        assert told(strict.send(broken)) == RULES[rule].answer
    assert strict.grant(assertion=strict.assertion()).status_code == 200


def test_a_registered_token_is_asked_for_its_form(path):
    with open(path["serviceAccount"]) as file:
        strict = Client(path["fcm"], json.load(file), "nonsense").signed_in()
    check("The token has the form of a registration token", strict.send({}))


def test_each_row_for_fcm_has_a_case_and_each_case_a_row():
    assert set(RULES) == set(CASES)
