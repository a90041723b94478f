"""Messages to browsers over Mozilla's push protocol: what waits, what is acknowledged, and the end of subscriptions."""

import json
import os
import secrets
import string
import threading

import pytest
import requests

from aldaba_process import SERVERS
from autopush_client import (
    SECONDS, WINDOW, Browser, absent, data, new_channel, new_vapid, number_of, text, wait_until_sent)
from waiting import wait_until


@pytest.fixture
def browser(path):
    with Browser(path) as made:
        yield made


# --- messages -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("coding", ["aes128gcm", "aesgcm"])
@pytest.mark.parametrize("secured", [False, True], ids=["plain", "TLS"])
def test_a_message_comes_as_it_was_encrypted(path, coding, secured):
    with Browser(path, secured=secured) as browser:
        subscription = browser.subscribe(new_vapid())
        number = subscription.pushed("Milk – and bread", ttl=60, content_encoding=coding)
        message = browser.notification()
        assert subscription.opened(message) == "Milk – and bread"
        headers = {"encoding"} if coding == "aes128gcm" else {"encoding", "encryption", "crypto_key"}
        assert (message["version"], set(message["headers"])) == (number, headers)
        assert message["headers"]["encoding"] == coding
        assert set(message) == {"messageType", "channelID", "version", "ttl", "data", "headers"}
        assert 55 <= message["ttl"] <= 60
        assert "=" not in message["data"]


def test_a_push_without_content_comes_without_data(browser):
    subscription = browser.subscribe(new_vapid())
    subscription.push(None)
    message = browser.notification()
    assert set(message) == {"messageType", "channelID", "version", "ttl"}


def test_4096_bytes_fit_and_4097_do_not(browser):
    subscription, body = browser.subscribe(), os.urandom(4096)
    assert subscription.post(body + b"x").status_code == 413
    assert subscription.post(body).status_code == 201
    assert data(browser.notification()["data"]) == body


def test_the_largest_text_that_pywebpush_encrypts_comes(browser):
    subscription, longest = browser.subscribe(), "x" * (4096 - 86 - 17)
    subscription.push(longest)
    assert browser.texts(subscription, 1) == [longest]


def test_ttl_0_is_for_who_is_connected(path, control):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        number = subscription.pushed("now", ttl=0)
        message = browser.notification()
        assert (subscription.opened(message), message["ttl"]) == ("now", 0)
        browser.ack(message)
        control.wait_for_last_state(number, "presented")
    lost = subscription.pushed("now or never", ttl=0)
    control.wait_for_last_state(lost, "dropped(offline)")
    with Browser(path, browser.uaid) as again:
        subscription.push("later")
        assert again.texts(subscription, 1) == ["later"]
    assert control.states(lost)[-1] == "dropped(offline)"


def test_what_waits_comes_in_order_after_hello(path):
    uaid, subscription = absent(path)
    wanted = [f"number {each}" for each in range(20)]
    for each in wanted:
        subscription.push(each)
    with Browser(path, uaid, hello=False) as browser:
        browser.send(messageType="hello", use_webpush=True, uaid=uaid)
        assert json.loads(browser.socket.recv(SECONDS))["messageType"] == "hello"
        assert browser.texts(subscription, 20) == wanted


def test_messages_of_two_subscriptions_come_in_the_order_of_their_pushes(path):
    with Browser(path) as browser:
        both = [browser.subscribe(), browser.subscribe(new_vapid())]
    numbers = [both[each % 2].pushed(str(each)) for each in range(10)]
    with Browser(path, browser.uaid) as again:
        came = [again.notification() for _ in numbers]
    assert [each["version"] for each in came] == numbers
    assert [both[at % 2].opened(each) for at, each in enumerate(came)] == [str(each) for each in range(10)]


def test_what_is_not_acknowledged_comes_again(path):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        numbers = [subscription.pushed(each) for each in ("a", "b", "c")]
        first = [browser.notification() for _ in numbers]
        browser.ack(first[1])
        browser.ping()
    for _ in range(2):
        with Browser(path, browser.uaid) as again:
            assert [again.notification()["version"] for _ in range(2)] == [numbers[0], numbers[2]]
            again.ping()
            assert again.kept() == []
    with Browser(path, browser.uaid) as last:
        last.ack(first[0])  # As the client says of what it read from an earlier connection.
        found = [last.notification() for _ in range(2)]
        last.ack(found[1])
        last.ping()
    subscription.push("d")
    with Browser(path, browser.uaid) as end:
        assert end.texts(subscription, 1) == ["d"]


def test_ttl_0_that_is_not_acknowledged_does_not_come_again(path, control):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        number = subscription.pushed("once", ttl=0)
        assert browser.notification()["version"] == number
    wait_until(
        lambda: (states := control.states(number)) and states[-1].startswith(("dropped", "failed")),
        f"{number} has an end; {control.states(number)}")
    with Browser(path, browser.uaid) as again:
        subscription.push("later")
        assert again.texts(subscription, 1) == ["later"]


@pytest.mark.parametrize(("code", "state"), [
    (100, "presented"), (101, "undecryptable(browser)"), (102, "failed(NotDelivered)")])
@pytest.mark.parametrize("ttl", [600, 0])
def test_the_code_of_an_acknowledgement_is_in_the_timeline(browser, control, code, state, ttl):
    subscription = browser.subscribe()
    number = subscription.pushed("x", ttl=ttl)
    browser.ack(browser.notification(), code=code)
    found = control.wait_for_last_state(number, state)
    stored = ["stored"] if ttl else []
    assert [each["state"] for each in found["timeline"]] == ["accepted", *stored, "sent", "acked", state]


def test_an_acknowledgement_without_code_is_one_of_delivery(browser, control):
    subscription = browser.subscribe()
    number = subscription.pushed("x")
    browser.send(messageType="ack", updates=[
        {"channelID": subscription.channel, "version": browser.notification()["version"]}])
    control.wait_for_last_state(number, "presented")


@pytest.mark.parametrize("code", [301, 302, 303])
def test_a_service_worker_that_fails_is_in_the_timeline(path, control, code):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        number = subscription.pushed("x")
        message = browser.notification()
        browser.send(messageType="nack", version=message["version"], code=code)
        entry = control.wait_for_last_state(number, "failed(ServiceWorker)")["timeline"][-1]
        assert str(code) in entry["note"]
        browser.ack(message)
        wait_until(lambda: "acked" in control.states(number), "it is acknowledged")
    subscription.push("later")
    with Browser(path, browser.uaid) as again:
        assert again.texts(subscription, 1) == ["later"]


def test_a_client_acknowledges_its_own_messages_alone(path, browser, control):
    uaid, subscription = absent(path)
    number = subscription.pushed("not for you")
    browser.subscribe()
    for version in (number, "0", "x", "", "1" * 30, "-1"):
        browser.send(messageType="ack", updates=[
            {"channelID": subscription.channel, "version": version, "code": 101}])
        browser.send(messageType="nack", version=version, code=301)
    browser.ping()
    with Browser(path, uaid) as owner:
        message = owner.notification()
        assert message["version"] == number
        owner.ack(message)
        control.wait_for_last_state(number, "presented")
    states = control.states(number)
    assert "undecryptable(browser)" not in states and "failed(ServiceWorker)" not in states
    assert states.count("acked") == 1


def test_an_acknowledgement_that_is_repeated_counts_once(browser, control):
    subscription = browser.subscribe()
    number = subscription.pushed("x")
    message = browser.notification()
    for _ in range(3):
        browser.ack(message, message)
        later = subscription.pushed("later")
        browser.ack(browser.notification())
        control.wait_for_last_state(later, "presented")
    assert control.states(number) == ["accepted", "stored", "sent", "acked", "presented"]


def test_a_topic_replaces_what_waits_of_the_same_channel(path, control):
    with Browser(path) as browser:
        one, two = browser.subscribe(), browser.subscribe()
    topic = {"topic": "score"}
    first = one.pushed("1", headers=topic)
    kept = [two.pushed("2", headers=topic), one.pushed("3", headers={"topic": "other"}), one.pushed("4")]
    last = one.pushed("5", headers=topic)
    control.wait_for_last_state(first, "replaced")
    with Browser(path, browser.uaid) as again:
        assert [again.notification()["version"] for _ in range(4)] == [*kept, last]
        again.ping()
        assert again.kept() == []


def test_a_topic_replaces_what_was_not_acknowledged(path, control):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        first = subscription.pushed("1", headers={"topic": "score"})
        assert browser.notification()["version"] == first
        second = subscription.pushed("2", headers={"topic": "score"})
        assert browser.notification()["version"] == second
    with Browser(path, browser.uaid) as again:
        assert again.texts(subscription, 1) == ["2"]
        again.ping()
        assert again.kept() == []
    control.wait_for_last_state(second, "presented")


def test_after_150_messages_that_are_not_acknowledged_the_rest_waits(path, control):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        numbers = [number_of(subscription.post()) for _ in range(150)]
        came = [browser.notification() for _ in range(WINDOW)]
        wait_until_sent(control, numbers[WINDOW - 1])
        browser.ping()
        assert browser.kept() == []
        assert "sent" not in control.states(numbers[WINDOW])
        browser.ack(came[0])
        came.append(browser.notification())
        browser.ping()
        assert browser.kept() == []
        browser.ack(*came[1:])
        came += [browser.notification() for _ in range(49)]
        assert [each["version"] for each in came] == numbers
        browser.ack(*came[101:])
        browser.ping()
    with Browser(path, browser.uaid) as again:
        number = number_of(subscription.post())
        assert again.notification()["version"] == number


def test_150_messages_that_wait_come_as_they_are_acknowledged(path):
    uaid, subscription = absent(path)
    numbers = [number_of(subscription.post()) for _ in range(150)]
    with Browser(path, uaid) as browser:
        came = [browser.notification() for _ in range(WINDOW)]
        browser.ping()
        assert browser.kept() == []
        for each in came:
            browser.ack(each)
        came += [browser.notification() for _ in range(50)]
    assert [each["version"] for each in came] == numbers


def test_while_a_client_comes_and_goes_every_message_comes_in_order(path, control):
    with Browser(path) as browser:
        subscription = browser.subscribe()
    numbers, came = [], []

    def push():
        numbers.extend(number_of(subscription.post()) for _ in range(300))

    pusher = threading.Thread(target=push)
    pusher.start()
    while len(came) < 300:
        with Browser(path, browser.uaid) as again:
            for _ in range(min(20, 300 - len(came))):
                message = again.notification()
                # Another server may send once more what was acknowledged to the last one just before it ended.
                while SERVERS > 1 and message["version"] in came:
                    again.ack(message)
                    message = again.notification()
                came.append(message["version"])
                again.ack(message)
            if len(came) < 300:
                again.notification()  # It is not acknowledged, and comes again.
            again.ping()
    pusher.join()
    assert came == numbers
    control.wait_for_last_state(numbers[-1], "presented")


def test_ttl_0_behind_a_full_window_is_dropped(path, control):
    with Browser(path) as browser:
        subscription = browser.subscribe()
        for _ in range(WINDOW):
            assert subscription.post().status_code == 201
        came = [browser.notification() for _ in range(WINDOW)]
        number = subscription.pushed("now", ttl=0)
        wait_until(
            lambda: (states := control.states(number)) and states[-1].startswith("dropped"), f"{number} is dropped")
        browser.ack(*came)
        subscription.push("later")
        assert browser.texts(subscription, 1) == ["later"]


# --- the end of a subscription --------------------------------------------------------------------------------


def test_a_subscription_that_ended_is_gone(path, browser):
    subscription, other = browser.subscribe(new_vapid()), browser.subscribe()
    assert browser.unregister(subscription.channel) == {
        "messageType": "unregister", "channelID": subscription.channel, "status": 200}
    assert subscription.refused() == 410
    assert subscription.post().status_code == 410
    other.push("still here")
    assert browser.texts(other, 1) == ["still here"]
    with Browser(path, browser.uaid) as again:
        assert again.uaid == browser.uaid
        assert subscription.refused() == 410


@pytest.mark.parametrize("channel", [new_channel(), "x", ""], ids=["a UUID", "none", "empty"])
def test_the_end_of_what_never_was_is_confirmed(browser, channel):
    for _ in range(2):
        answer = browser.unregister(channel)
        assert (answer["status"], answer["channelID"]) == (200, channel)
        browser.subscribe()


def test_a_client_ends_its_own_subscriptions_alone(path, browser):
    uaid, subscription = absent(path)
    browser.subscribe()
    assert browser.unregister(subscription.channel)["status"] == 200
    assert subscription.refused() == 201


def test_what_waited_for_a_subscription_that_ended_does_not_come(path, control):
    with Browser(path) as browser:
        ended, other = browser.subscribe(), browser.subscribe()
        seen = ended.pushed("seen")
        assert browser.notification()["version"] == seen
        for _ in range(WINDOW - 1):
            assert other.post().status_code == 201
        came = [browser.notification() for _ in range(WINDOW - 1)]
        behind = ended.pushed("behind a full window")
        assert browser.unregister(ended.channel)["status"] == 200
        browser.ack(*came)
        last = other.pushed("last")
        assert browser.notification()["version"] == last
        control.wait_for_last_state(behind, "withdrawn")
    with Browser(path, browser.uaid) as again:
        assert again.notification()["version"] == last
        again.ping()
        assert again.kept() == []
        control.wait_for_last_state(seen, "withdrawn")


def test_a_subscription_that_ends_right_after_hello_brings_nothing_more(path, control):
    with Browser(path) as browser:
        ended, other = browser.subscribe(), browser.subscribe()
    waits = ended.pushed("waits")
    kept = other.pushed("kept")
    with Browser(path, hello=False) as again:
        again.send(messageType="hello", use_webpush=True, uaid=browser.uaid)
        again.send(messageType="unregister", channelID=ended.channel, code=200)
        assert again.receive("hello")["uaid"] == browser.uaid
        assert again.receive("unregister")["status"] == 200
        # It may have been sent before the server read that; then the client has it and drops it.
        while (message := again.notification())["version"] != kept:
            assert message["version"] == waits
    with Browser(path, browser.uaid) as third:
        assert third.notification()["version"] == kept
        control.wait_for_last_state(waits, "withdrawn")


def test_a_channel_that_ended_can_be_registered_again(browser):
    subscription = browser.subscribe()
    browser.unregister(subscription.channel)
    again = browser.subscribe(channel=subscription.channel)
    again.push("again")
    assert browser.texts(again, 1) == ["again"]


@pytest.mark.parametrize("vapid", [None, new_vapid()], ids=["without key", "with key"])
def test_a_message_is_taken_back_at_its_location(path, control, vapid):
    with Browser(path) as browser:
        subscription = browser.subscribe(vapid)
    answer = subscription.push("wrong")
    where, number = path["http"] + answer.headers["location"], number_of(answer)
    proof = {}
    if vapid is not None:
        assert requests.delete(where, timeout=SECONDS).status_code == 401
        proof = vapid.sign({"sub": "mailto:a@example.org", "aud": path["http"]})
    assert requests.delete(where, headers=proof, timeout=SECONDS).status_code == 204
    assert requests.delete(where, headers=proof, timeout=SECONDS).status_code == 404
    control.wait_for_last_state(number, "withdrawn")
    subscription.push("right")
    with Browser(path, browser.uaid) as again:
        assert again.texts(subscription, 1) == ["right"]


def test_a_message_is_known_at_its_own_location_alone(path, browser):
    """Neither another client's subscription nor another one of the same client finds it, whose senders could compare notes."""
    with Browser(path) as made:
        uaid, subscription, beside = made.uaid, made.subscribe(), made.subscribe()
    answer = subscription.push("kept")
    others = [browser.subscribe().component, beside.component, subscription.component]
    others.append(beside.push("other").headers["location"].split("/")[2])
    for component in others:
        where = f"{path['http']}/wp/{component}/messages/{number_of(answer)}"
        assert requests.delete(where, timeout=SECONDS).status_code == 404
        assert requests.get(where, timeout=SECONDS).status_code == 404
    assert requests.get(path["http"] + answer.headers["location"], timeout=SECONDS).status_code == 202
    with Browser(path, uaid) as again:
        messages = {each["channelID"]: each for each in (again.notification(), again.notification())}
        assert subscription.opened(messages[subscription.channel]) == "kept"


def test_what_is_taken_back_before_it_is_acknowledged_does_not_come_again(path, control):
    """More of them than the server sends at once: what it knows of them does not keep the next message back."""
    with Browser(path) as browser:
        subscription = browser.subscribe()
        answers = [subscription.post() for _ in range(WINDOW + 20)]
        numbers = [number_of(each) for each in answers]
        assert [browser.notification()["version"] for _ in range(WINDOW)] == numbers[:WINDOW]
    for each in answers:
        assert requests.delete(path["http"] + each.headers["location"], timeout=SECONDS).status_code == 204
    subscription.push("right")
    for _ in range(2):
        with Browser(path, browser.uaid) as again:
            assert subscription.opened(again.notification()) == "right"
            again.ping()
            assert again.kept() == []
    control.wait_for_last_state(numbers[0], "withdrawn")
    control.wait_for_last_state(numbers[-1], "withdrawn")


@pytest.mark.parametrize("component", [
    "x", "A" * 54, secrets.token_urlsafe(40), secrets.token_urlsafe(39), secrets.token_urlsafe(41), "0" * 64,
    "A" * 5000, "%00" * 54, "é", "..", "A" * 53 + "="],
    ids=["short", "zeros", "drawn", "shorter", "longer", "a token", "long", "NUL", "no ASCII", "dots", "padding"])
def test_an_endpoint_that_never_was_is_not_found(path, browser, component):
    subscription = browser.subscribe()
    assert subscription.post(endpoint=f"{path['http']}/wpush/v2/{component}").status_code == 404


def test_an_endpoint_with_a_byte_changed_is_not_found(browser):
    subscription = browser.subscribe()
    root, real = subscription.endpoint.removesuffix(subscription.component), data(subscription.component)
    for at in range(len(real)):
        changed = text(real[:at] + bytes([real[at] ^ 1]) + real[at + 1:])
        assert subscription.post(endpoint=root + changed).status_code == 404, at
    assert subscription.post().status_code == 201


def test_an_endpoint_with_a_character_changed_is_not_found(browser):
    """Of the last character all others are tried, since it has bits that no byte needs."""
    subscription = browser.subscribe()
    root = subscription.endpoint.removesuffix(subscription.component)
    letters = string.ascii_letters + string.digits + "-_"
    for at, real in enumerate(subscription.component):
        for letter in letters if at == len(subscription.component) - 1 else "AB":
            if letter != real:
                changed = subscription.component[:at] + letter + subscription.component[at + 1:]
                assert subscription.post(endpoint=root + changed).status_code == 404, (at, real, letter)
    assert subscription.post().status_code == 201



@pytest.mark.parametrize(("code", "status"), [(100, 204), (101, 410), (102, 410)])
def test_a_receipt_has_what_the_browser_acknowledged(path, browser, code, status):
    answer = browser.subscribe().push(headers={"Prefer": "respond-async"})
    assert answer.status_code == 202
    where = path["http"] + answer.headers["location"]
    browser.ack(browser.notification(), code=code)
    wait_until(lambda: requests.get(where, timeout=SECONDS).status_code == status, f"the receipt has {status}")
