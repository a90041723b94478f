"""Four libraries of PyPI that send to APNs: what each of them tells of a push, and what the device gets of it."""

import json
import secrets
import subprocess
import sys
import time
from urllib.parse import urlsplit

import pytest

from aldaba_process import HERE, clean_environment
from apns_peers import FOLDER, PACKAGES, lines, marked, sent
from course import Course
from live_activity_app import LiveActivityApp, state

COLLAPSE = "order-7"
ARRIVE = ["alert", "silent", "collapsed", "unstored"]
REFUSED = ["dead token", "bad token", "wrong topic", "too large"]
REASONS = ["Unregistered", "BadDeviceToken", "TopicDisallowed", "PayloadTooLarge"]
# What each library raises for the four. aapns lacks one of Apple's reasons, and counts a payload's bytes by itself.
ERRORS = {
    "kalyke": REASONS, "mopyapns": REASONS, "pyapns_client": [f"{reason}Exception" for reason in REASONS],
    "aapns": [*REASONS[:2], "UnknownResponseError", "ValueError"],
}
by_each = pytest.mark.parametrize("told", [marked(peer) for peer in PACKAGES], indirect=True)


@pytest.fixture(scope="module")
def settings(path, tmp_path_factory):
    """The credentials that the server made, and the place of its own that a library is to send to."""
    certificate, _ = Course(tmp_path_factory.mktemp("course"), path["data"]).certificate(path["topic"])
    address = urlsplit(path["apns"])
    return {
        "key": path["key"], "key_id": path["keyId"], "team": path["teamId"], "certificate": str(certificate),
        "host": address.hostname, "port": address.port, "authority": path["ca"]}


@pytest.fixture(scope="module")
def pushes(path, control):
    """One push of each kind. The dead token's app was removed from its device."""
    topic, device = path["topic"], control.enrol()
    dead = control.token(device, topic, path["teamId"])
    control.register(device, topic, path["teamId"], delete=True)
    usual = {"token": path["deviceToken"], "topic": topic}
    further = {
        "alert": {"title": "Hello"}, "silent": {}, "collapsed": {"title": "One", "collapse": COLLAPSE},
        "unstored": {"title": "Now", "expiration": 0}, "dead token": {"title": "x", "token": dead},
        "bad token": {"title": "x", "token": secrets.token_hex(32)},
        "wrong topic": {"title": "x", "topic": "com.example.nobody"},
        "too large": {"title": "x", "padding": "x" * 4100}}
    assert list(further) == ARRIVE + REFUSED
    return [usual | each for each in further.values()]


@pytest.fixture(scope="module")
def told(request, settings, pushes):
    """The outcome of each push of one library."""
    made = sent(request.param, settings, pushes, settings["authority"])
    return dict(zip(ARRIVE + REFUSED, made, strict=True)) | {"peer": request.param}


@pytest.fixture
def content(told, control):
    """`content(name)`: what the server knows of a push that arrived."""
    return lambda name: control.wait_for_last_state(told[name]["id"], "handed")["content"]


@by_each
def test_an_alert_arrives(told, content):
    assert told["alert"]["result"] == "200"
    found = content("alert")
    assert (found["pushType"], found["priority"], found["payload"]["aps"]["alert"]["title"]) == ("alert", 10, "Hello")


@by_each
def test_a_silent_push_arrives(told, content):
    assert told["silent"]["result"] == "200"
    found = content("silent")
    assert (found["pushType"], found["priority"], found["payload"]["aps"]["content-available"]) == ("background", 5, 1)


@by_each
def test_a_push_arrives_with_its_collapse_id(told, content):
    assert told["collapsed"]["result"] == "200"
    assert content("collapsed")["collapseId"] == COLLAPSE


@by_each
def test_a_push_that_expires_at_once_arrives(told, control):
    assert told["unstored"]["result"] == "200"
    control.wait_for_last_state(told["unstored"]["id"], "handed")
    # aapns leaves the header out for a zero, so the server stores the push as it stores any.
    assert ("stored" in control.states(told["unstored"]["id"])) == (told["peer"] == "aapns")


@pytest.mark.parametrize("name", REFUSED)
@by_each
def test_a_refusal_is_told_by_the_library_s_error(told, name):
    assert told[name] == {"result": ERRORS[told["peer"]][REFUSED.index(name)], "id": None}


@pytest.fixture
def app(up):
    made = LiveActivityApp(up, "test_apns_peers")
    yield made
    made.stop()


@pytest.mark.parametrize("peer", [marked("kalyke")])
def test_kalyke_updates_and_ends_a_live_activity(app, settings, control, peer):
    with app.connect() as connection:
        app.observe(connection)
        activity, now = app.start(connection, {"minutes": 30}), int(time.time())
        [listed] = app.observe(connection)["activities"]
        usual = {"token": listed["pushToken"], "topic": app.id + ".push-type.liveactivity"}
        pushes = [
            usual | {"timestamp": now + minutes, "event": event, "state": {"minutes": minutes}}
            for event, minutes in [("UPDATE", 1), ("UPDATE", 2), ("END", 3)]]
        made = settings | {"address": f"https://{settings['host']}:{settings['port']}"}
        done = subprocess.run(
            [sys.executable, str(HERE / "peers/activity_by_kalyke.py"), json.dumps(made)], input=lines(pushes),
            capture_output=True, text=True, timeout=60, check=False,
            env=clean_environment(PYTHONPATH=str(FOLDER), SSL_CERT_FILE=settings["authority"]))
        assert done.returncode == 0, done.stderr
        for name in done.stdout.split():
            control.wait_for_last_state(name, "presented")
        ended = app.changed(connection, lambda one: one["state"] == "ended")
        assert (ended["id"], state(ended)) == (activity, {"minutes": 3})
