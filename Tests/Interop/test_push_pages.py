"""The pages about Firefox, UnifiedPush and iPhones: their commands and lines, run as they stand, without a browser."""

import json
import os
import re
import shlex
import subprocess

import pytest

from aldaba_process import clean_environment, run_aldaba
from autopush_client import Browser, Subscription, new_vapid, point, text
from own_agent import OwnAgent
from pages import REPOSITORY, blocks, in_a_fresh_root, run_python, run_shell
from test_unified_push import DISTRIBUTOR, App, SessionBus
from waiting import wait_until

STAMP = re.compile(r"\d{4}-[\d-]+T[\d:.]+Z")
# The numbers of a message and a campaign, and a public key.
NUMBER = re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b\d{15,}\b|\b[0-9a-f]{32}\b|\bB[\w-]{86}(?![\w-])")


def shape(output):
    """What a command printed, without the times and numbers that differ between runs."""
    return NUMBER.sub("NUMBER", STAMP.sub("TIME", output))


def commands(page):
    """The commands that stand in the sentences of a page."""
    return re.findall(r"`(aldaba [^`]+)`", (REPOSITORY / "Docs" / page).read_text())


def command(page, beginning, **values):
    """The words of the page's command that begins so, with values in the place of its words in capitals."""
    [found] = {each for each in commands(page) if each.startswith(beginning)}
    return [values.get(word, word) for word in shlex.split(found)][1:]


def send(lines, call, folder, **variables):
    """Runs the page's lines of Python, and returns the number of the message that they sent."""
    given = "import json, os\nglobals().update(json.loads(os.environ['GIVEN']))\n"
    assert lines.count(call) == 1
    told = "print(answer.headers['location'].rsplit('/', 1)[-1])\n"
    done = run_python(
        given + lines.replace(call, f"answer = {call}") + told, folder, GIVEN=json.dumps(variables))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout.strip()


def test_the_page_about_firefox(path, control, tmp_path):
    vapid = new_vapid()
    (tmp_path / "key.pem").write_bytes(vapid.private_pem())
    [lines] = blocks("firefox.md", "python")
    example, printed, *_ = blocks("firefox.md", "text")
    with Browser(path) as browser:
        subscription = browser.subscribe(vapid)
        assert subscription.endpoint.startswith(f"{path['http']}/wpush/v2/") and "/wpush/v2/" in example
        keys = {"p256dh": text(point(subscription.private)), "auth": text(subscription.secret)}
        number = send(
            lines, "webpush(subscription", tmp_path, subscription={"endpoint": subscription.endpoint, "keys": keys})
        assert browser.texts(subscription, 1) == ["Milk"]
        device = control.wait_for_last_state(number, "presented")["device"]
        asked = command("firefox.md", "aldaba get", NUMBER=number)
        assert shape(run_aldaba(*asked, "--data", path["data"]).stdout) == shape(printed)
        assert device in run_aldaba(*command("firefox.md", "aldaba device list"), "--data", path["data"]).stdout
        run_aldaba(*command("firefox.md", "aldaba device revoke", ID=device), "--data", path["data"])
        wait_until(lambda: subscription.post().status_code == 410, "the subscription has ended")
    key = run_aldaba(
        *command("firefox.md", "aldaba enrolment-key", NAME="office"), "--data", path["data"]).stdout.strip()
    # The page's address with a key, at this server.
    with Browser(path, query=f"?key={key}") as browser:
        assert isinstance(browser.subscribe(), Subscription)


@pytest.fixture
def bus():
    made = SessionBus()
    yield made
    made.stop()


def call(block, bus):
    """Runs the page's call of D-Bus; the command and what it printed."""
    asked, _, _ = block.partition("\n(")
    asked = asked.removeprefix("$ ")
    done = subprocess.run(
        ["sh", "-euc", asked], capture_output=True, text=True, timeout=30,
        env={"PATH": "/usr/bin:/bin", **bus.environment})
    assert done.returncode == 0, done.stderr
    return asked, done.stdout


def test_the_page_about_unified_push(path, up, bus, control, tmp_path, monkeypatch):
    """The app of the page has registered; an app that runs receives what the page's lines send."""
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", path["ca"])
    agent = OwnAgent(up, "unified-push-page", clean_environment(**bus.environment))
    agent.start()
    app = App(bus, tmp_path)
    try:
        bus.wait_for_name(DISTRIBUTOR)
        block, line = blocks("unified-push.md", "text")
        asked, printed = call(block, bus)
        assert f"{asked}\n{printed}" == block.removeprefix("$ ")
        listed = command("unified-push.md", "aldaba agent apps")
        columns = line.split("  ")

        def registered():
            told = agent.aldaba(*listed).stdout.split("  ")
            return told[::2] == columns[::2] and "/wpush/v2/" in told[1]

        wait_until(registered, "the app has its endpoint")
        assert len(columns) == 3 and "/wpush/v2/" in columns[1]
        gone = asked.replace("Distributor2.Register", "Distributor2.Unregister")
        arguments = re.search(r"`Unregister` with `({[^`]+})`", (REPOSITORY / "Docs/unified-push.md").read_text())[1]
        call(gone[:gone.index('"{')] + f'"{arguments}"', bus)
        wait_until(lambda: columns[0] not in agent.aldaba(*listed).stdout, "the registration has ended")
        app.register()
        [lines] = blocks("unified-push.md", "python")
        keys = {"p256dh": text(point(app.private)), "auth": text(app.secret)}
        number = send(lines, "WebPusher(", tmp_path, endpoint=app.endpoint, **keys)
        app.wait_for("message")
        assert app.texts() == ["Milk"]
        control.wait_for_last_state(number, "handed")
        printed = run_aldaba(*command("unified-push.md", "aldaba get", NUMBER=number), "--data", path["data"]).stdout
        states = [each.split()[1] for each in printed.splitlines()[1:]]
        assert f"`{', '.join(states)}`" in (REPOSITORY / "Docs/unified-push.md").read_text()
    finally:
        if app.process:
            app.stop()
        agent.stop()


def test_the_page_about_iphones(path, tmp_path):
    """A page on a home screen is registered; nothing is sent to it, since that would go to Apple."""
    data = ("--data", path["data"])
    done = run_shell("iphones.md", tmp_path, path["data"])
    assert done.returncode == 0, done.stdout + done.stderr
    printed, outcome, request, answer = blocks("iphones.md", "text")
    assert shape(done.stdout) == shape(printed)
    listed = [*command("iphones.md", "aldaba hub campaign list"), *data]
    wait_until(
        lambda: shape(run_aldaba(*listed).stdout).split() == shape(outcome).split(), "the campaign reached nobody")
    keys = new_vapid()
    for value in ("QGuQyavXutnMH", text(point(keys.private_key)), text(os.urandom(16))):
        request = request.replace("…", value, 1)
    done = subprocess.run(
        ["sh", "-euc", request], capture_output=True, text=True, timeout=30,
        env=in_a_fresh_root(tmp_path, path["data"]) | {"HTTP": path["http"]})
    assert done.returncode == 0, done.stderr
    places = answer.strip().split("…")
    found = [done.stdout.find(place) for place in places]
    assert -1 not in found and found == sorted(found), (places, done.stdout)
    (tmp_path / "inbox-data").mkdir()
    (tmp_path / "inbox-data/vapid.pem").write_bytes(keys.private_pem())
    run_aldaba("hub", "create", "inbox", *data)
    values = {"HUB": "inbox", "…": "mailto:push@example.org"}
    done = run_aldaba(*command("iphones.md", "aldaba hub credential", **values), *data, cwd=tmp_path)
    assert text(point(keys.private_key)) in done.stdout
