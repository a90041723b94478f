"""The published cases of Mozilla's autopush that no other file here has; each test names its cases.

`all_rust` is test_integration_all_rust.py of autopush-rs. `headers`, `subscription`, `vapid` and `messages` are the
unit tests of its notification_headers.rs, subscription.rs, vapid.rs and of the connection's state machine. `python` is
test_integration.py of the server before it, and `validation` its test_web_validation.py. This server has no bridges to
other services, client certificates, monthly tables and broadcasts, and no rules for `Encryption-Key`.
"""

import os
import time

import jwt
import pytest
import requests

from aldaba_process import AldabaUp, run_aldaba
from autopush_client import SECONDS, Browser, absent, data, new_channel, new_vapid, number_of, point, text
from control_client import ControlClient
from waiting import wait_until

NO_UTF8 = [
    b"\xc3\x28\xa0\xa1\xe2\x28\xa1", b"\xe2\x82\x28\xf0\x28\x8c\xbc", b"\xf0\x90\x28\xbc\xf0\x28\x8c\x28", bytes(7)]
DAY = 86_400
LONGEST = 28 * DAY  # The longest time to live.
LIMIT = 1_000  # The number of messages that wait for a client.


@pytest.fixture
def browser(path):
    with Browser(path) as made:
        yield made


def old_fields():
    """The header fields of `aesgcm`."""
    return {
        "content-encoding": "aesgcm", "encryption": "salt=" + text(os.urandom(16)),
        "crypto-key": "dh=" + text(point(new_vapid().private_key))}


def nothing_waits(browser, subscription):
    """The only message that the client gets is one that is sent now."""
    subscription.push("the last")
    assert browser.texts(subscription, 1) == ["the last"]
    browser.ping()
    assert browser.kept() == []


def test_hello_may_list_the_channels_of_the_client(path):
    """messages: hello_existing_user."""
    uaid, subscription = absent(path)
    for channels in ([], [subscription.channel], [new_channel()]):
        with Browser(path, hello=False) as browser:
            answer = browser.hello(uaid, channelIDs=channels, broadcasts={})
            assert (answer["status"], answer["uaid"]) == (200, uaid)
            nothing_waits(browser, subscription)


@pytest.mark.parametrize("code", [None, 0, 99, 300, 304, -1, 2**40, "301", 3.5], ids=repr)
def test_codes_that_are_not_known_keep_the_connection_open(browser, code):
    """messages: `nack` counts other codes as 0, and `ack` other codes as 100."""
    subscription = browser.subscribe()
    number = subscription.pushed("x")
    message = browser.notification()
    named = {} if code is None else {"code": code}
    browser.send(messageType="nack", version=message["version"], **named)
    browser.send(messageType="ack", updates=[{"channelID": subscription.channel, "version": number, **named}])
    browser.ping()
    with Browser(browser.path, browser.uaid) as again:
        nothing_waits(again, subscription)


# --- messages that come ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("topic", [None, "Inbox"])
@pytest.mark.parametrize("connected", [True, False], ids=["connected", "later"])
def test_bytes_come_as_they_were_sent(path, connected, topic):
    """python: test_webpush_data_delivery_to_connected_client, test_webpush_data_delivery_to_disconnected_client.
    all_rust: test_basic_delivery, test_topic_basic_delivery."""
    more = old_fields() | ({} if topic is None else {"topic": topic})
    with Browser(path) as browser:
        subscriptions = [browser.subscribe() for _ in NO_UTF8]
        if not connected:
            browser.end()
        numbers = [number_of(each.post(body, **more)) for each, body in zip(subscriptions, NO_UTF8)]
        with browser if connected else Browser(path, browser.uaid) as receiver:
            came = [receiver.notification() for _ in NO_UTF8]
            assert [each["version"] for each in came] == numbers
            assert [each["channelID"] for each in came] == [each.channel for each in subscriptions]
            assert [data(each["data"]) for each in came] == NO_UTF8
            for each in came:
                assert each["headers"] == {
                    "encoding": "aesgcm", "encryption": more["encryption"], "crypto_key": more["crypto-key"]}


@pytest.mark.parametrize("connected", [True, False], ids=["connected", "later"])
@pytest.mark.parametrize("fields", [{}, old_fields()], ids=["without fields", "with fields"])
def test_a_push_without_content_comes_without_the_fields_of_its_encryption(path, connected, fields):
    """all_rust: test_empty_message_without_crypto_headers, test_empty_message_with_crypto_headers."""
    with Browser(path) as browser:
        subscription = browser.subscribe()
        if not connected:
            browser.end()
        numbers = [number_of(subscription.post(**fields)) for _ in range(2)]
        with browser if connected else Browser(path, browser.uaid) as receiver:
            came = [receiver.notification() for _ in numbers]
            assert [each["version"] for each in came] == numbers
            assert all("headers" not in each and "data" not in each for each in came)


@pytest.mark.parametrize("topics", [
    pytest.param([None, None], id="test_multiple_delivery_with_multiple_ack"),
    pytest.param(["Inbox"], id="test_topic_no_delivery_on_reconnect"),
])
def test_what_was_acknowledged_in_any_order_does_not_come_again(path, topics):
    """all_rust: the names in the table."""
    uaid, subscription = absent(path)
    numbers = [subscription.pushed(headers={} if each is None else {"topic": each}) for each in topics]
    with Browser(path, uaid) as browser:
        came = [browser.notification() for _ in numbers]
        assert [each["version"] for each in came] == numbers
        for each in reversed(came):
            browser.ack(each)
        browser.ping()
    for _ in range(2):
        with Browser(path, uaid) as again:
            nothing_waits(again, subscription)


# --- the fields of a push -------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def later():
    """A server of its own, whose clock is advanced: the clock is not set back."""
    running = AldabaUp.ephemeral("--no-app", name="test_autopush_later")
    yield running.ready
    assert running.stop() == 0


@pytest.mark.parametrize("times", [
    pytest.param([1], id="test_ttl_expired"),
    pytest.param([1] * 12 + [600], id="test_ttl_batch_expired_and_good_one"),
    pytest.param([600] * 6 + [1] * 6 + [600], id="test_ttl_batch_partly_expired_and_good_one"),
    pytest.param([1, 600] * 6, id="in turn"),
])
def test_what_has_expired_does_not_come_and_the_rest_comes_in_order(later, times):
    """all_rust: the names in the table, and test_topic_expired: the topic of the last one has expired."""
    uaid, subscription = absent(later)
    numbers = [subscription.pushed(str(at), ttl=each) for at, each in enumerate(times)]
    subscription.push("topic", ttl=1, headers={"topic": "test"})
    run_aldaba("clock", "advance", "2s", "--data", later["data"])
    good = [str(at) for at, each in enumerate(times) if each > 1]
    with Browser(later, uaid) as browser:
        assert browser.texts(subscription, len(good)) == good
        subscription.push("again", headers={"topic": "test"})
        assert browser.texts(subscription, 1) == ["again"]
    control = ControlClient(later["http"])
    for number, each in zip(numbers, times):
        end = "expired" if each == 1 else "presented"
        wait_until(lambda: end in control.states(number), f"{number} is {end}")
    control.close()


@pytest.mark.parametrize(("fields", "ttl"), [
    pytest.param({"ttl": "10"}, 10, id="valid_ttl"), pytest.param({"ttl": "-1"}, None, id="negative_ttl"),
    pytest.param({"ttl": str(60 * DAY + 1)}, LONGEST, id="maximum_ttl"),
    pytest.param({"ttl": None}, None, id="test_ttl_not_present_connected"),
    pytest.param({"ttl": "1.5"}, None, id="no whole number"), pytest.param({"ttl": "+5"}, None, id="with a sign"),
    pytest.param({"topic": "a-test-topic-which-is-just-right"}, 600, id="valid_topic"),
    pytest.param({"topic": "test-topic-which-is-too-long-1234"}, None, id="too_long_topic"),
    pytest.param({"topic": "asdf??asdf::;f"}, None, id="test_invalid_topic"),
    pytest.param({"topic": ""}, None, id="empty topic"), pytest.param({"topic": "abcd=="}, None, id="padded topic"),
])
def test_a_field_that_is_not_as_it_must_be_is_refused(browser, fields, ttl):
    """headers, validation and python: the names in the table.

    Without TTL only the older server takes a push (RFC 8030, 5.2), and autopush takes a topic with padding (5.4).
    """
    subscription = browser.subscribe()
    answer = subscription.post(**fields)
    assert answer.status_code == (400 if ttl is None else 201)
    if ttl is not None:
        assert answer.headers["ttl"] == str(ttl)
        assert ttl - 5 <= browser.notification()["ttl"] <= ttl
    nothing_waits(browser, subscription)


@pytest.mark.parametrize("fields", [
    pytest.param(dict.fromkeys(old_fields()), id="test_message_without_crypto_headers"),
    pytest.param({"content-encoding": None}, id="payload_without_content_encoding"),
    pytest.param({"content-encoding": "aesgcm128"}, id="invalid_header_combo"),
    pytest.param({"content-encoding": "aes128"}, id="invalid_crypto_key_header_content"),
    pytest.param({"encryption": None}, id="no Encryption"), pytest.param({"crypto-key": None}, id="no Crypto-Key"),
    pytest.param({"encryption": "dh=asdfjasidlfjaislf"}, id="missing_encryption_salt_04"),
    pytest.param({"crypto-key": "p256ecdsa=BA1Hxzyi1RUM1b5wjxsn7nGxAs"}, id="missing_crypto_key_dh"),
])
def test_a_body_without_what_opens_it_is_refused(browser, fields):
    """all_rust, headers and validation: the names in the table."""
    subscription = browser.subscribe()
    answer = subscription.post(b"x" * 30, **(old_fields() | fields))
    assert answer.status_code == 400
    assert ("Content-Encoding" if "content-encoding" in fields else "Crypto-Key") in answer.text
    nothing_waits(browser, subscription)


@pytest.mark.parametrize("fields", [{}, {"encryption": "notsalt=foo", "crypto-key": "notdh=bar"}], ids=repr)
def test_aes128gcm_has_no_other_fields_for_the_client(browser, fields):
    """headers: valid_06_encryption."""
    subscription = browser.subscribe()
    assert subscription.post(b"x" * 30, **fields).status_code == 201
    assert browser.notification()["headers"] == {"encoding": "aes128gcm"}


# --- the proof of the application server's key ----------------------------------------------------------------


def credential(path, vapid, form, claims):
    """A value of `Authorization`; a claim that is `None` is left out. `other` is another key's token."""
    own = {"sub": "mailto:admin@example.com", "aud": path["http"], "exp": int(time.time()) + 600} | claims
    own = {name: value for name, value in own.items() if value is not None}
    token, other = (jwt.encode(own, key.private_key, algorithm="ES256") for key in (vapid, new_vapid()))
    return form.format(token=token, cut=token[:-3], other=other, key=text(point(vapid.private_key)))


GOOD = "vapid t={token}, k={key}"


@pytest.mark.parametrize("restricted", [True, False], ids=["with key", "without key"])
@pytest.mark.parametrize(("form", "crypto_key"), [
    pytest.param(GOOD, None, id="parse_succeeds"), pytest.param("VAPID k={key},t={token}", None, id="in another order"),
    pytest.param("WebPush {token}", 'keyid="a1"; dh="foo";p256ecdsa="{key}"', id="valid_vapid_crypto_header_webpush"),
    pytest.param("Bearer {token}", "p256ecdsa={key}", id="valid_vapid_crypto_header"),
])
def test_each_form_of_the_proof_is_taken(browser, restricted, form, crypto_key):
    """vapid and validation: the names in the table; all_rust: test_basic_delivery_with_vapid."""
    vapid = new_vapid()
    subscription = browser.subscribe(vapid if restricted else None)
    fields = {} if crypto_key is None else {"crypto-key": crypto_key.format(key=text(point(vapid.private_key)))}
    number = number_of(subscription.post(authorization=credential(browser.path, vapid, form, {}), **fields))
    assert browser.notification()["version"] == number


@pytest.mark.parametrize("restricted", [True, False], ids=["with key", "without key"])
@pytest.mark.parametrize(("form", "claims"), [
    pytest.param("vapid t={token}, k=invalid", {}, id="test_basic_delivery_with_invalid_vapid"),
    pytest.param("WebPush {token}", {}, id="test_basic_delivery_with_invalid_vapid_ckey"),
    pytest.param(GOOD, {"exp": "@"}, id="test_basic_delivery_with_invalid_vapid_exp"),
    pytest.param("", {}, id="test_basic_delivery_with_invalid_vapid_auth"),
    pytest.param("vapid t={cut}bad, k={key}", {}, id="test_basic_delivery_with_invalid_signature"),
    pytest.param("vapid t={other}, k={key}", {}, id="the signature of another key"),
    pytest.param("vapid t={token}", {}, id="no key"), pytest.param("vapid k={key}", {}, id="no token"),
    pytest.param(GOOD, {"exp": 20}, id="expired_vapid_header"), pytest.param(GOOD, {"exp": None}, id="no exp"),
    pytest.param(GOOD, {"exp": int(time.time()) + 2 * DAY}, id="invalid_too_far_exp_vapid_crypto_header"),
    pytest.param("bogus {token}", {}, id="bogus_vapid_header"), pytest.param(GOOD, {"aud": None}, id="no aud"),
    pytest.param(GOOD, {"aud": "http://elsewhere.example"}, id="vapid_aud_invalid"),
])
def test_a_proof_that_does_not_count_is_refused(browser, restricted, form, claims):
    """all_rust, validation and subscription: the names in the table.

    autopush answers 401. Here that is for a proof that is missing, and 403 for one that does not count.
    """
    vapid = new_vapid()
    subscription = browser.subscribe(vapid if restricted else None)
    fields = {"crypto-key": "invalid|"} if form.startswith("WebPush") else {}
    answer = subscription.post(authorization=credential(browser.path, vapid, form, claims), **fields)
    assert answer.status_code == 403 and answer.json()["error"]["message"]
    nothing_waits(browser, subscription)


@pytest.mark.parametrize("prefix", ["/wpush/v3/", "/wpush/v1/", "/wpush/", "/m/", "/wpush/v2/x/"])
def test_an_address_of_another_kind_is_not_found(browser, prefix):
    """subscription: the version of the interface is 2 alone, with a key and without."""
    subscription = browser.subscribe()
    answer = subscription.post(endpoint=browser.path["http"] + prefix + subscription.component)
    assert answer.status_code == 404
    nothing_waits(browser, subscription)


@pytest.mark.parametrize("number", ["x", "0", "-1", "1" * 40, "%00"])
def test_a_message_that_never_was_cannot_be_taken_back(browser, number):
    """all_rust: test_delete_saved_notification, with an id that is none. autopush answers 400, RFC 9110 has 404."""
    location = browser.subscribe().push("kept").headers["location"]
    address = browser.path["http"] + location.rsplit("/", 1)[0] + "/" + number
    assert requests.delete(address, timeout=SECONDS).status_code == 404
    assert browser.notification()["version"] == location.rsplit("/", 1)[1]


@pytest.mark.parametrize("place", ["notif", "push"])
def test_nobody_but_the_server_reaches_a_client_by_its_id(path, browser, place):
    """all_rust: test_internal_endpoints."""
    subscription = browser.subscribe()
    assert requests.put(f"{path['http']}/{place}/{browser.uaid}", timeout=SECONDS).status_code == 404
    with pytest.raises(requests.ConnectionError):  # The port of the WebSocket answers GET alone.
        requests.put(f"http://{path['mcs'].split('//')[-1]}/{place}/{browser.uaid}", timeout=SECONDS)
    nothing_waits(browser, subscription)


def test_more_messages_than_may_wait_keep_the_client_and_drop_the_oldest(path, control):
    """all_rust: test_msg_limit. autopush gives such a client another id; here it keeps its id and subscriptions."""
    uaid, subscription = absent(path)
    numbers = [number_of(subscription.post()) for _ in range(LIMIT + 1)]
    control.wait_for_last_state(numbers[0], "dropped(overflow)")
    with Browser(path, uaid) as browser:
        assert browser.uaid == uaid
        for number in numbers[1:]:
            message = browser.notification()
            assert message["version"] == number
            browser.ack(message)
        browser.ping()
    with Browser(path, uaid) as again:
        assert again.uaid == uaid
        nothing_waits(again, subscription)
