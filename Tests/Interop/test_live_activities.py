"""Live Activities on a device: pushes that start, update and end them, and what the desktop's agent keeps."""

import json
import time
import uuid

import pytest

from aldaba_process import clean_environment
from live_activity_app import LiveActivityApp, state
from screen import Screen
from waiting import wait_until


def payload(event, seconds=0, **members):
    return {"aps": {"timestamp": int(time.time()) + seconds, "event": event, **members}}


@pytest.fixture(scope="module")
def app(up):
    made = LiveActivityApp(up, "test_live_activities")
    yield made
    made.stop()


@pytest.fixture
def connection(app):
    with app.connect() as opened:
        yield opened
        listed = app.observe(opened)["activities"]
        app.end(opened, *[one["id"] for one in listed if one["state"] in ("active", "stale")])


@pytest.fixture
def push(app, provider):
    """`push(token, payload, **headers)`: a push of type liveactivity to the app."""

    def send(token, sent, **headers):
        usual = {"apns_topic": app.id + ".push-type.liveactivity", "apns_push_type": "liveactivity"} | headers
        return provider.post(token, sent, **usual)

    return send


def started(app, connection, content=None, **attributes):
    """An activity with a token of its own."""
    activity = app.start(connection, content or {"minutes": 30}, **attributes)
    assert isinstance(activity, str), activity
    listed = {one["id"]: one for one in app.observe(connection)["activities"]}
    return activity, listed[activity]["pushToken"]


def test_each_activity_has_a_token_of_its_own(app, connection):
    told = app.observe(connection)
    assert told["activities"] == [] and told["startToken"] == app.token + "0" * 32
    tokens = {started(app, connection)[1] for _ in range(3)}
    assert len(tokens) == 3 and all(token.startswith(app.token) and len(token) == 96 for token in tokens)


def test_pushes_update_and_end_an_activity(app, connection, push, control):
    activity, token = started(app, connection, order="7")
    answer = push(token, payload("update", **{"content-state": {"minutes": 12}, "relevance-score": 50}))
    assert answer.status == 200
    changed = app.changed(connection, lambda one: state(one) == {"minutes": 12})
    assert (changed["id"], changed["content"]["relevanceScore"], changed["state"]) == (activity, 50, "active")
    control.wait_for_last_state(answer.apns_id, "presented")
    answer = push(token, payload("end", **{"content-state": {"minutes": 0}, "dismissal-date": 1}))
    ended = app.changed(connection, lambda one: one["state"] == "dismissed")
    assert (ended["id"], state(ended)) == (activity, {"minutes": 0})
    control.wait_for_last_state(answer.apns_id, "presented")
    answer = push(token, payload("update", 1, **{"content-state": {"minutes": 5}}))
    control.wait_for_last_state(answer.apns_id, "failed(noActivity)")


def test_a_push_starts_an_activity_and_the_app_gets_its_token(app, connection, push):
    answer = push(
        app.observe(connection)["startToken"],
        payload("start", **{
            "attributes-type": "Delivery", "attributes": {"order": "8"}, "content-state": {"minutes": 40},
            "input-push-token": 1, "alert": {"title": "On its way", "body": "Order 8"}}))
    assert answer.status == 200
    began = app.changed(connection, lambda one: True)
    assert json.loads(began["attributes"]) == {"order": "8"} and state(began) == {"minutes": 40}
    assert push(began["pushToken"], payload("update", 1, **{"content-state": {"minutes": 39}})).status == 200
    assert app.changed(connection, lambda one: state(one) == {"minutes": 39})["id"] == began["id"]


def test_an_older_push_changes_nothing(app, connection, push, control):
    _, token = started(app, connection)
    push(token, payload("update", **{"content-state": {"minutes": 2}}))
    app.changed(connection, lambda one: state(one) == {"minutes": 2})
    answer = push(token, payload("update", -60, **{"content-state": {"minutes": 9}}))
    control.wait_for_last_state(answer.apns_id, "failed(outdated)")
    assert [state(one) for one in app.observe(connection)["activities"]] == [{"minutes": 2}]


@pytest.mark.parametrize("sent, note", [
    ({"aps": {"event": "update", "content-state": {}}}, "timestamp"),
    (payload("update"), "content-state"), (payload("begin", **{"content-state": {}}), "event"),
    ({"a": 1}, "no aps"),
])
def test_a_wrong_payload_ends_with_its_reason(app, connection, push, control, sent, note):
    _, token = started(app, connection)
    answer = push(token, sent)
    found = control.wait_for_last_state(answer.apns_id, "failed(badPayload)")
    assert note in found["timeline"][-1]["note"]


def test_a_token_takes_the_pushes_of_its_kind_alone(app, connection, push, provider):
    _, token = started(app, connection)
    update = payload("update", **{"content-state": {}})
    assert push(app.token, update).reason == "DeviceTokenNotForTopic"
    assert provider.post(token, {"aps": {"alert": "x"}}, apns_topic=app.id).reason == "DeviceTokenNotForTopic"
    assert push(token[:-1] + "g", update).reason == "BadDeviceToken"
    assert push(token + "0", update).reason == "BadDeviceToken"
    assert push(uuid.uuid4().hex * 3, update).reason == "BadDeviceToken"
    assert push(token, update, apns_topic=app.id).reason == "InvalidPushType"
    assert push(token.upper(), update).status == 200


def test_a_start_for_an_activity_and_an_update_for_none_end_with_the_reason(app, connection, push, control):
    told = app.observe(connection)
    answer = push(told["startToken"], payload("update", **{"content-state": {}}))
    control.wait_for_last_state(answer.apns_id, "failed(wrongToken)")
    _, token = started(app, connection)
    answer = push(
        token, payload("start", **{"attributes-type": "Delivery", "attributes": {}, "content-state": {}}))
    control.wait_for_last_state(answer.apns_id, "failed(wrongToken)")


def test_an_app_has_at_most_eight_activities(app, connection):
    made = [app.start(connection, {"n": n}) for n in range(8)]
    refused = app.start(connection, {"n": 8})
    assert (refused["event"], refused["code"]) == ("refused", "tooManyActivities")
    app.end(connection, made[0])
    assert isinstance(app.start(connection, {"n": 9}), str)


@pytest.mark.parametrize("members, code", [
    ({"id": "x"}, "invalid"), ({"attributes": "[]"}, "invalid"), ({"attributes": "{"}, "invalid"),
    ({"content": {"state": "{", "relevanceScore": 0}}, "invalid"),
    ({"content": {"state": json.dumps({"a": "x" * 4090}), "relevanceScore": 0}}, "contentTooLarge"),
])
def test_a_wrong_activity_is_refused_with_its_reason(app, connection, members, code):
    activity = {
        "id": uuid.uuid4().hex, "attributesType": "Delivery", "attributes": "{}",
        "content": {"state": "{}", "relevanceScore": 0}, "state": "active"}
    answer = app.command(connection, "start", activity=activity | members, pushes="none")
    assert (answer["event"], answer["code"]) == ("refused", code)


def test_only_the_newest_of_several_updates_reaches_an_agent_that_was_away(app, push, control):
    with app.connect() as connection:
        activity, token = started(app, connection)
    app.end_agent()
    ids = [push(token, payload("update", n, **{"content-state": {"n": n}})).apns_id for n in range(3)]
    app.agent.start()
    control.wait_for_last_state(ids[-1], "presented")
    assert [control.states(one)[-1] for one in ids[:-1]] == ["replaced"] * 2
    with app.connect() as connection:
        assert [(one["id"], state(one)) for one in app.observe(connection)["activities"]] == [(activity, {"n": 2})]
        app.end(connection, activity)


def test_activities_survive_the_death_of_the_agent(app, control):
    with app.connect() as connection:
        activity, token = started(app, connection, {"n": 1}, order="9")
    app.end_agent()
    app.agent.start()
    with app.connect() as connection:
        [kept] = app.observe(connection)["activities"]
        assert (kept["id"], kept["pushToken"], json.loads(kept["attributes"])) == (activity, token, {"order": "9"})
        app.end(connection, activity)
        wait_until(lambda: app.observe(connection)["activities"] == [], "it is dismissed")


def test_the_notification_of_an_activity_is_in_no_list_of_the_app(app, connection):
    started(app, connection)
    assert connection.delivered() == []


@pytest.fixture(scope="module")
def screen():
    made = Screen(clean_environment(), server="mock")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def desktop(up, screen):
    """An app whose agent has a screen, and whose manifest states the texts of its activities."""
    made = LiveActivityApp(
        up, "test_live_activities_desktop", environment=screen.environment, liveActivities={"Delivery": {
            "title": "Order {order}", "body": "{state.driver} arrives in {state.minutes} min {unknown}",
            "progress": "state.progress"}})
    yield made
    made.stop()


def shown(screen, body):
    """The newest `Notify` with a text."""
    wait_until(lambda: [each for each in screen.notified() if each[4] == body], f"{body!r} is on the screen")
    return [each for each in screen.notified() if each[4] == body][-1]


@pytest.mark.desktop
def test_the_desktop_shows_one_notification_that_is_replaced_in_place(desktop, screen, provider):
    with desktop.connect() as connection:
        activity = desktop.start(connection, {"driver": "Ada", "minutes": 30, "progress": 0.25}, order="7")
        first = shown(screen, "Ada arrives in 30 min {unknown}")
        assert (first[1], first[3]) == (0, "Order 7")
        hints = first[6]
        assert (hints["value"], hints["resident"], hints["suppress-sound"]) == (25, True, True)
        [number] = screen.numbers("Order 7")
        token = {one["id"]: one for one in desktop.observe(connection)["activities"]}[activity]["pushToken"]
        sent = payload("update", **{
            "content-state": {"driver": "Ada", "minutes": 5, "progress": 7},
            "alert": {"title": "Almost there", "body": "Come down", "sound": "default"}})
        provider.post(
            token, sent, apns_topic=desktop.id + ".push-type.liveactivity", apns_push_type="liveactivity")
        second = shown(screen, "Come down\nAda arrives in 5 min {unknown}")
        assert (second[1], second[3], second[6]["value"]) == (number, "Almost there", 100)
        desktop.end(connection, activity)
        wait_until(lambda: number in screen.closed(), "it leaves the screen")


@pytest.mark.desktop
def test_a_person_dismisses_an_activity(desktop, screen):
    with desktop.connect() as connection:
        desktop.observe(connection)
        activity = desktop.start(connection, {"driver": "Eve", "minutes": 1, "progress": 1}, order="8")
        shown(screen, "Eve arrives in 1 min {unknown}")
        wait_until(lambda: screen.numbers("Order 8"), "it has a number")
        screen.close(screen.numbers("Order 8")[-1], 2)
        assert desktop.changed(connection, lambda one: one["state"] == "dismissed")["id"] == activity
        assert desktop.observe(connection)["activities"] == []


@pytest.mark.desktop
def test_neither_a_tap_nor_the_removal_of_the_list_takes_an_activity_off_the_screen(desktop, screen):
    body = "Bob arrives in 9 min {unknown}"

    def times():
        return len([each for each in screen.notified() if each[4] == body])

    with desktop.connect() as connection:
        activity = desktop.start(connection, {"driver": "Bob", "minutes": 9, "progress": 0}, order="9")
        shown(screen, body)
        wait_until(lambda: screen.numbers("Order 9"), "it has a number")
        screen.open(screen.numbers("Order 9")[-1])
        assert connection.wait_for_response(20)["action"] == "com.apple.UNNotificationDefaultActionIdentifier"
        wait_until(lambda: times() == 2, "it is shown again")
        connection.remove_delivered()
        wait_until(lambda: times() == 3, "it is shown again")
        desktop.end(connection, activity)


@pytest.mark.desktop
def test_an_activity_without_texts_shows_its_content(desktop, screen):
    with desktop.connect() as connection:
        activity = desktop.start(connection, {"score": "2:1", "progress": 0.5}, attributes_type="Match")
        assert shown(screen, "score: 2:1\nprogress: 0.5")[6]["value"] == 50
        desktop.end(connection, activity)
