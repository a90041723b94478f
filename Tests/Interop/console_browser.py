"""Chromium with the console's pages, by Playwright: pages by language, colours, width and zoom, and what goes wrong in them."""

import os
import shutil
from contextlib import contextmanager
from pathlib import Path

import pytest

CHROMIUM = shutil.which("chromium")
HEIGHT = 800
# A fault of a browser that pages cannot avoid: a page of a refusal is an answer with its status.
STATUS_OF_A_PAGE = "Failed to load resource: the server responded with a status of"

playwright = pytest.importorskip("playwright.sync_api", reason="Playwright is not installed")


@contextmanager
def open_chromium():
    """A Chromium without a window."""
    if not CHROMIUM:
        pytest.skip("Chromium is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"])
        yield browser
        browser.close()


class Pages:
    """Makes pages, each in a context of its own, and closes what it made."""

    def __init__(self, browser, address):
        self._browser, self._contexts = browser, []
        self.address = address

    def __call__(self, language="en", scheme="light", width=1280, zoom=1, **options):
        """A page whose faults are in `page.faults`. A zoom makes the page as narrow as a browser's zoom does."""
        context = self._browser.new_context(
            base_url=self.address, locale=language, color_scheme=scheme, device_scale_factor=zoom,
            viewport={"width": width // zoom, "height": HEIGHT // zoom}, **options)
        self._contexts.append(context)
        context.set_default_timeout(15_000)
        page = context.new_page()
        page.faults = []
        page.on("console", lambda message: note(page, message))
        page.on("pageerror", lambda error: page.faults.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (page.faults.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        return page

    def close(self):
        for context in self._contexts:
            context.close()
        self._contexts.clear()


def note(page, message):
    """Keeps an error of the browser's console; a breach of the policy is one."""
    if message.type == "error" and not message.text.startswith(STATUS_OF_A_PAGE):
        page.faults.append(f"{message.type}: {message.text}")


def screenshots_folder(tmp_path_factory):
    """Where screenshots go: the folder that ALDABA_SCREENSHOTS names, or a temporary one."""
    named = os.environ.get("ALDABA_SCREENSHOTS")
    folder = Path(named) if named else tmp_path_factory.mktemp("screenshots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def without_motion(page):
    """Ends transitions, which would make a screenshot or a contrast depend on the moment."""
    page.emulate_media(reduced_motion="reduce")


@pytest.fixture(scope="module")
def chromium():
    with open_chromium() as browser:
        yield browser


@pytest.fixture
def pages(chromium, path):
    """`pages(language="en", scheme="light", width=1280, zoom=1)` opens a page of the console."""
    made = Pages(chromium, path["http"])
    yield made
    made.close()
