"""What a tap opens: the desktop's opener is a program of the test's that keeps what it is told."""

import json
import os
import uuid

import pytest

from aldaba_process import AldabaUp, clean_environment, run_aldaba
from provider import Provider
from waiting import wait_for_lines, wait_until

APP = "com.example.todo"


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """`aldaba up` where `xdg-open` writes its address into a file."""
    folder = tmp_path_factory.mktemp("desk")
    opener = folder / "xdg-open"
    opener.write_text(f'#!/bin/sh\necho "$1" >> "{folder}/opened"\n')
    opener.chmod(0o700)
    environment = clean_environment()
    running = AldabaUp.ephemeral(
        name="test_links", environment=environment | {"PATH": f"{folder}{os.pathsep}{environment['PATH']}"})
    running.opened = folder / "opened"
    yield running
    running.keep_logs()
    assert running.stop() == 0


def listed(desk, name):
    """The number of a notification in the list, and its actions."""
    def found():
        shown = json.loads(run_aldaba("notifications", "list", "--json", "--data", desk.data).stdout)
        return next((item for item in shown if item["content"]["title"] == name), None)

    item = wait_until(found, f"{name} is in the list")
    return str(item["notification"]["id"]), [action["identifier"] for action in item["actions"]]


def push(desk, payload, **aps):
    """Sends a notification with an own title; its number and actions."""
    name = str(uuid.uuid4())
    provider = Provider(desk.ready)
    answer = provider.post(desk.ready["deviceToken"], {"aps": {"alert": {"title": name}} | aps} | payload)
    provider.close()
    assert answer.status == 200
    return listed(desk, name)


def opened(desk, address):
    return wait_for_lines(desk.opened, lambda lines: lines[-1:] == [address], f"{address} is opened")


@pytest.mark.parametrize("member", ["link", "ab_uri"])
def test_a_tap_opens_the_address_of_the_payload(desk, member):
    number, _ = push(desk, {member: f"https://shop.example/{member}?a=1&b='2'"})
    run_aldaba("notifications", "open", number, "--data", desk.data)
    opened(desk, f"https://shop.example/{member}?a=1&b='2'")


def test_a_button_opens_its_own_address(desk):
    number, actions = push(desk, {
        "link": "https://shop.example/no", "action-links": {"ab_pb_yes": "https://shop.example/yes"}},
        category="ab_cat_yes_no")
    assert actions == ["ab_pb_yes", "ab_pb_no"]
    run_aldaba("notifications", "act", number, "--action", "ab_pb_yes", "--data", desk.data)
    opened(desk, "https://shop.example/yes")


def test_an_address_of_the_apps_own_scheme_comes_to_the_app(desk):
    number, _ = push(desk, {"ab_uri": "todo://list/4"})
    run_aldaba("notifications", "open", number, "--data", desk.data)
    wait_for_lines(desk.data / "log/app.log", lambda lines: "open todo://list/4" in lines, "the app opens it")


@pytest.mark.parametrize(("address", "why"), [
    ("file:///etc/passwd", "addresses of the scheme file are never opened"),
    ("mailto:ada@example.com", "addresses of the scheme mailto"),
    ("https://ada@shop.example/", "the address has a name in front of its host"),
])
def test_other_addresses_are_refused_with_the_reason(desk, address, why):
    number, _ = push(desk, {"link": address})
    log = desk.data / "log/app.log"
    refused = log.read_text().count("link not opened\n") if log.exists() else 0
    run_aldaba("notifications", "open", number, "--data", desk.data)
    wait_for_lines(log, lambda lines: any(why in line for line in lines), f"the app says why: {why}")
    wait_for_lines(log, lambda lines: lines.count("link not opened") > refused, "the app is answered")
    assert not desk.opened.exists() or address not in desk.opened.read_text()


def test_a_scheme_that_the_person_allows_is_opened(desk):
    run_aldaba("relay", "allow", "tel", "--data", desk.data)
    number, _ = push(desk, {"link": "tel:+34986000000"})
    run_aldaba("notifications", "open", number, "--data", desk.data)
    opened(desk, "tel:+34986000000")
