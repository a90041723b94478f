"""Payloads with one fault each: the status, the reason, and a timeline that says what was wrong where."""

import re

import pytest

from waiting import wait_until

GOOD = {"aps": {"alert": "good"}}
MALFORMED = {
    "a lone brace": b"{",
    "an object that ends early": b'{"aps":{"alert":"x"}',
    "an array": b'[{"aps":{}}]',
    "a string": b'"aps"',
    "a number": b"42",
    "null": b"null",
    "white space": b" \n\t ",
    "plain words": b"aps alert hello",
    "single quotes": b"{'aps':{}}",
    "a bare key": b"{aps:{}}",
    "a comma at the end of an object": b'{"aps":{},}',
    "a comma at the end of an array": b'{"a":[1,]}',
    "no colon": b'{"aps" {}}',
    "no comma": b'{"a":1 "b":2}',
    "a second value": b'{"aps":{}}{"aps":{}}',
    "something after the end": b'{"aps":{}} x',
    "a leading zero": b'{"a":01}',
    "a plus sign": b'{"a":+1}',
    "a number that ends in a point": b'{"a":1.}',
    "an exponent without digits": b'{"a":1e}',
    "not a number": b'{"a":NaN}',
    "a misspelt literal": b'{"a":tru}',
    "a comment": b'{"a":1 /* one */}',
    "an unknown escape": b'{"a":"\\x41"}',
    "a cut unicode escape": b'{"a":"\\u12"}',
    "a string that does not end": b'{"a":"b}',
    "a raw line feed in a string": b'{"a":"b\nc"}',
    "a null byte": b'{"a":"\x00"}',
    "an invalid UTF-8 byte": b'{"a":"\xff"}',
    "an overlong UTF-8 form": b'{"a":"\xc0\xaf"}',
    "a surrogate in UTF-8": b'{"a":"\xed\xa0\x80"}',
    "UTF-8 cut in the middle": b'{"a":"\xe2\x82"}',
    "UTF-16": '{"aps":{}}'.encode("utf-16-le"),
    "crossed brackets": b'{"a":[1}]',
    "two thousand open brackets": b'{"a":' + b"[" * 2000,
}


@pytest.mark.parametrize("name", MALFORMED)
def test_malformed_json_is_payload_empty_and_the_timeline_says_where(name, send, path, control):
    status, apns_id, reason = send(path["deviceToken"], MALFORMED[name])
    assert (status, reason) == (400, "PayloadEmpty")
    [notification] = wait_until(lambda: control.notifications(apns_id), f"{apns_id} has a timeline")
    last = notification["timeline"][-1]
    assert last["state"] == "failed(PayloadEmpty)"
    assert re.search(r"[a-z]+", last.get("note", "")), "the note says what was wrong"
    assert re.search(r"\d", last["note"]), "the note says where"
    assert send(path["deviceToken"], GOOD)[0] == 200


def sized(size):
    frame = b'{"aps":{"alert":""}}'
    return frame.replace(b'""', b'"%s"' % (b"x" * (size - len(frame))))


@pytest.mark.parametrize(
    ("size", "push_type", "suffix", "expected"),
    [
        (0, "alert", "", (400, "PayloadEmpty")),
        (4096, "alert", "", (200, None)),
        (4097, "alert", "", (413, "PayloadTooLarge")),
        (5120, "voip", ".voip", (200, None)),
        (5121, "voip", ".voip", (413, "PayloadTooLarge")),
        (5120, None, ".voip", (200, None)),
        (20_000, "alert", "", (413, "PayloadTooLarge")),
        (300_000, "alert", "", (413, "PayloadTooLarge")),
    ],
)
def test_the_size_limit_is_exact(size, push_type, suffix, expected, send, path):
    body = sized(size) if size else b""
    status, _, reason = send(
        path["deviceToken"], body, apns_push_type=push_type, apns_topic=path["topic"] + suffix)
    assert (status, reason) == expected
    assert send(path["deviceToken"], GOOD)[0] == 200


@pytest.mark.parametrize(
    ("suffix", "push_type"),
    [
        (".location-query", "location"), (".voip", "voip"), (".complication", "complication"),
        (".pushkit.fileprovider", "fileprovider"), (".voip-ptt", "pushtotalk"), (".push-type.widgets", "widgets"),
        (".push-type.controls", "controls"),
    ],
)
def test_a_push_type_with_a_suffix_is_its_apps_and_ends_where_nothing_receives_it(
        suffix, push_type, send, control, path):
    token, topic = path["deviceToken"], path["topic"]
    for sent in (push_type, None):
        status, apns_id, _ = send(token, GOOD, apns_topic=topic + suffix, apns_push_type=sent)
        assert status == 200
        assert control.notifications(apns_id)[0]["topic"] == topic
        control.wait_for_last_state(apns_id, "failed(noReceiver)")
    assert send(token, GOOD, apns_topic=topic, apns_push_type=push_type)[2] == "InvalidPushType"
    assert send(token, GOOD, apns_topic=topic + suffix, apns_push_type="alert")[2] == "InvalidPushType"


@pytest.mark.parametrize(
    "payload",
    [b"{}", b' {"aps" : {} } \n',
     '{"ключ":"значение 🚪"}'.encode(), b'{"a":-0.5e+10,"b":[true,false,null]}',
     b'{"a":"\\ud83d\\udeaa \\" \\\\ \\/ \\b\\f\\n\\r\\t"}', b'{"a":1,"a":2}'],
    ids=["empty object", "white space", "unicode", "numbers and literals", "escapes", "a key twice"],
)
def test_well_formed_json_of_every_kind_is_accepted(payload, send, path):
    assert send(path["deviceToken"], payload)[0] == 200


def test_deep_but_well_formed_json_is_answered_and_the_server_lives(send, path):
    status, _, reason = send(path["deviceToken"], b'{"a":' + b"[" * 2000 + b"]" * 2000 + b"}")
    assert (status, reason) in ((200, None), (400, "PayloadEmpty"))
    assert send(path["deviceToken"], GOOD)[0] == 200
