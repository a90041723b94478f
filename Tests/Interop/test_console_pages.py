"""Every page of the console, as everybody must be able to use it: in each language, light and dark, narrow, enlarged, by
keyboard alone, and for assistive technology (WCAG 2.2 AA, judged by axe)."""

import re
import shutil
from html import unescape

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe

from console_browser import Pages, chromium, screenshots_folder, without_motion  # noqa: F401
from console_judge import SIGHTS, faults_of, keyboard_faults, tidy_faults
from console_world import make_world

@pytest.fixture(scope="module")
def world(path, provider):
    return make_world(path, provider)


@pytest.fixture(scope="module")
def screenshots(tmp_path_factory):
    return screenshots_folder(tmp_path_factory)


@pytest.fixture(scope="module")
def opened(chromium, path):
    made = Pages(chromium, path["http"])
    yield made
    made.close()


@pytest.mark.parametrize("language, scheme, width, zoom, is_judged", SIGHTS)
def test_every_page_is_accessible(opened, world, screenshots, language, scheme, width, zoom, is_judged):
    page, axe, found = opened(language, scheme, width, zoom), Axe() if is_judged else None, []
    without_motion(page)
    for name, path in world.pages().items():
        page.goto(path)
        found += faults_of(page, axe, name, language)
        if width > 320 and zoom == 1:
            page.screenshot(path=screenshots / f"{name}-{language}-{scheme}.png", full_page=True)
    assert not found, "\n".join(found)


@pytest.mark.skipif(not shutil.which("tidy"), reason="tidy is not installed")
@pytest.mark.parametrize("language", ["en", "es"])
def test_every_page_is_well_formed(world, language):
    found = []
    with httpx.Client(base_url=world.address, headers={"accept-language": language}) as client:
        for name, path in world.pages().items():
            found += tidy_faults(name, client.get(path).text)
    assert not found, "\n".join(found)


def test_the_keyboard_reaches_everything(opened, world):
    page, found = opened(), []
    for name, path in world.pages().items():
        page.goto(path)
        found += keyboard_faults(page, name)
    assert not found, "\n".join(found)


def test_the_first_stop_skips_to_the_content(opened):
    page = opened()
    page.goto("/console/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_every_form_has_its_own_address(opened, world):
    """A link or a form never leaves the console, except for the pages of Apple and the product that open elsewhere."""
    page, found = opened(), []
    for name, path in world.pages().items():
        page.goto(path)
        for address in page.evaluate("[...document.forms].map(form => new URL(form.getAttribute('action'), location).href)"):
            if not address.startswith(f"{world.address}/console/"):
                found.append(f"{name}: a form goes to {address}")
        for address in page.evaluate("[...document.links].map(link => link.href)"):
            if not address.startswith((f"{world.address}/", "https://developer.apple.com/")):
                found.append(f"{name}: a link goes to {address}")
    assert not found, "\n".join(found)


def test_every_link_of_the_console_leads_to_a_page(world):
    """Follows each link of each page once."""
    found, seen = [], set()
    with httpx.Client(base_url=world.address) as client:
        for name, path in world.pages().items():
            for link in map(unescape, re.findall(r'href="(/[^"]*)"', client.get(path).text)):
                if link in seen or link.startswith("/console/language"):
                    continue
                seen.add(link)
                answer = client.get(link, follow_redirects=True)
                if answer.status_code >= 400:
                    found.append(f"{name}: {link} answers {answer.status_code}")
    assert not found, "\n".join(found)
