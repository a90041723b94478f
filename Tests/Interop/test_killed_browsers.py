"""Debian's Firefox and Chromium, ended by `kill -9`: what becomes of subscriptions, messages and timelines."""

import json
import signal
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import pytest
from pywebpush import webpush

import page_server
from page_server import PageServer
from test_chromium import CHROMIUM, page_app  # noqa: F401
from test_chromium_permissions import Chromium, Seen
from test_firefox import FIREFOX, Firefox
from waiting import wait_until

CLAIMS = {"sub": "mailto:shop@example.org"}
TEXTS = [f"message {number}" for number in range(12)]

pytestmark = pytest.mark.timeout(90)


class FirefoxAtPage:
    """A Firefox with a page that has subscribed."""

    # The last state of a message that the browser has taken, and of one that it does not show when it comes again.
    TAKEN, REPEATED = "presented", "failed(NotDelivered)"
    OUTCOMES = {TAKEN, REPEATED}

    def __init__(self, path, folder):
        self.page = PageServer()
        self.page.browser = "Firefox"
        address = f"http://localhost:{self.page.port}/"
        self._browser = Firefox(folder, f"ws://{path['mcs'].split('//')[-1]}/", address)
        self._browser.start()
        self.subscription = self.page.next("subscribed")["subscription"]

    def wait_for_profile(self):
        """Returns at once: Firefox writes a subscription to its profile before the page has it."""

    def kill(self):
        self._browser.end(signal.SIGKILL)

    def start(self):
        self._browser.start()

    def end(self):
        self._browser.end()
        self.page.close()


class ChromiumAtPage:
    """A Chromium with a page that has subscribed; it is started again without the page."""

    TAKEN = REPEATED = "acked"
    OUTCOMES = {TAKEN}

    def __init__(self, path, folder):
        self.page = Seen(path)
        self._browser = Chromium(path, self.page, folder)
        self._browser.start(self._browser.origin + "/")
        made = self.page.next("subscribed")["subscription"]
        self.subscription = made | {"endpoint": path["http"] + urlsplit(made["endpoint"]).path}

    def wait_for_profile(self):
        """Waits until the profile has the subscription: Chromium writes it some seconds after it was made."""
        file = self._browser.profile / "Default" / "Preferences"

        def written():
            return json.loads(file.read_text()).get("gcm", {}).get("push_messaging_application_id_map")

        wait_until(written, "the profile has the subscription", 30, folder=file.parent)

    def kill(self):
        self._browser.kill()

    def start(self):
        self._browser.start()

    def end(self):
        self._browser.end()
        self.page.close()


BROWSERS = {
    "Firefox": pytest.param(
        FirefoxAtPage, marks=pytest.mark.skipif(FIREFOX is None, reason="firefox-esr is not installed"), id="Firefox"),
    "Chromium": pytest.param(
        ChromiumAtPage, marks=pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"), id="Chromium"),
}


@pytest.fixture(params=BROWSERS.values())
def browser(request, path, page_app, monkeypatch, tmp_path):  # noqa: F811
    if request.param is ChromiumAtPage:
        # A page that asks again while Chromium registers has two subscriptions; the later one ends the earlier one.
        monkeypatch.setattr(page_server, "PAGE", page_server.PAGE.replace("resolve, 3000", "resolve, 60000"))
    made = request.param(path, tmp_path)
    yield made
    made.end()


def push(browser, text):
    answer = webpush(
        browser.subscription, text, vapid_private_key=browser.page.vapid, vapid_claims=dict(CLAIMS), ttl=600)
    assert answer.status_code == 201
    return answer.headers["location"].rsplit("/", 1)[-1]


def shown_until(browser, text):
    """What the page's worker was woken for, in its order, up to a text."""
    shown = [browser.page.next("push")["text"]]
    while shown[-1] != text:
        shown.append(browser.page.next("push")["text"])
    return shown


@pytest.fixture
def written(browser):
    """The browser, which has shown a message, and whose profile has the subscription."""
    push(browser, "first")
    assert shown_until(browser, "first") == ["first"]
    browser.wait_for_profile()
    return browser


def timeline(browser, control, number):
    """The states of a message that the browser has answered."""

    def answered():
        states = control.states(number)
        return states if states[-1] in browser.OUTCOMES else None

    return wait_until(answered, f"{number} is answered")


def test_a_killed_browser_shows_what_was_sent_while_it_was_away(written, control):
    written.kill()
    number = push(written, "while the browser was away")
    assert control.states(number) == ["accepted", "stored"]
    written.start()
    assert shown_until(written, "while the browser was away") == ["while the browser was away"]
    assert timeline(written, control, number)[-1] == written.TAKEN


def test_a_browser_killed_in_the_middle_of_messages_shows_none_twice_and_loses_only_what_it_had(written, control):
    """Both acknowledge a message before the page's worker has shown it, so the last ones may not be shown.

    Firefox says so of those that come again, since it had not acknowledged them; Chromium never does.
    """
    with ThreadPoolExecutor(1) as sender:
        sending = sender.map(lambda text: push(written, text), TEXTS)
        shown = [written.page.next("push")["text"]]
        written.kill()
        numbers = dict(zip(TEXTS, sending))
    numbers["while the browser was away"] = push(written, "while the browser was away")
    unsent = {text for text, number in numbers.items() if control.states(number) == ["accepted", "stored"]}
    assert "while the browser was away" in unsent
    written.start()
    push(written, "afterwards")
    shown += shown_until(written, "afterwards")
    # What came before the end and was not acknowledged comes again, and is answered then.
    timelines = {text: timeline(written, control, number) for text, number in numbers.items()}
    push(written, "the last")
    shown += shown_until(written, "the last")
    assert [text for text, count in Counter(shown).items() if count > 1] == []
    missing = {text: timelines[text] for text in numbers if text not in shown}
    assert unsent.isdisjoint(missing), missing
    repeated = [states for states in missing.values() if states.count("sent") > 1]
    assert all(states[-1] == written.REPEATED for states in repeated), missing
