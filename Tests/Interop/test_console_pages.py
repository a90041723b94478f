"""Every page of the console, as everybody must be able to use it: in each language, light and dark, narrow, enlarged, by
keyboard alone, and for assistive technology (WCAG 2.2 AA, judged by axe)."""

import re
import shutil
import subprocess
from html import unescape

import httpx
import pytest
from axe_playwright_python.sync_playwright import Axe

from console_browser import Pages, chromium, screenshots_folder, without_motion  # noqa: F401
from console_world import make_world

RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "rules": {"target-size": {"enabled": True}}}
# Language, colours, width, zoom (2 is 200 %), and whether axe looks at it.
SIGHTS = [
    ("en", "light", 1280, 1, True), ("es", "dark", 1280, 1, True), ("es", "light", 320, 1, True),
    ("en", "dark", 1280, 1, False), ("es", "light", 1280, 1, False), ("en", "dark", 320, 1, False),
    ("es", "dark", 1280, 2, False),
]
# What tidy knows only in part: ARIA, SVG within HTML, and attributes of forms that are newer than it.
UNKNOWN_TO_TIDY = re.compile(r'proprietary attribute "(aria-current|inputmode|autocapitalize|enterkeyhint)"|<(svg|title)> proprietary')
FOCUSABLE = "a[href], button:not([disabled]), input:not([disabled]):not([type=hidden]), select, textarea, summary, [tabindex='0']"


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


def faults_of(page, axe, name, language):
    """What is wrong with the page that the browser shows."""
    found = list(page.faults)
    page.faults.clear()
    if page.locator("html").get_attribute("lang") != language:
        found.append("lang is not the page's language")
    wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    if wide > 0:
        found.append(f"it scrolls sideways by {wide} px")
    for violation in axe.run(page, options=RULES).response["violations"] if axe else []:
        nodes = ", ".join(str(node["target"][0]) for node in violation["nodes"][:3])
        found.append(f"{violation['id']}: {violation['help']} ({nodes})")
    return [f"{name}: {fault}" for fault in found]


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
            answer = client.get(path)
            done = subprocess.run(
                ["tidy", "-errors", "-quiet", "-utf8", "--drop-empty-elements", "no"], input=answer.text,
                capture_output=True, text=True, timeout=20)
            found += [f"{name}: {line}" for line in done.stderr.splitlines() if not UNKNOWN_TO_TIDY.search(line)]
    assert not found, "\n".join(found)


def tab_stops(page):
    """Presses Tab until the focus leaves the page; the numbers of the elements that had it, and those without a sign of it."""
    count = page.evaluate("""selector => {
        const isReachable = each => each.checkVisibility({visibilityProperty: true})
            && !(each.type === "radio" && !each.checked && document.querySelector(`[name="${each.name}"]:checked`));
        const all = [...document.querySelectorAll(selector)].filter(isReachable);
        all.forEach((each, number) => each.dataset.tabStop = number);
        return all.length;
    }""", FOCUSABLE)
    reached, unseen, last = [], [], None
    for _ in range(8 * count + 8):
        page.keyboard.press("Tab")
        stop = page.evaluate("""() => {
            const focused = document.activeElement;
            if (focused === document.body) return null;
            const style = getComputedStyle(focused), place = focused.getClientRects()[0];
            const middle = (from, to, end) => (Math.max(from, 0) + Math.min(to, end)) / 2;
            const over = place && document.elementFromPoint(
                middle(place.left, place.right, innerWidth), middle(place.top, place.bottom, innerHeight));
            return {
                number: Number(focused.dataset.tabStop ?? -1), text: focused.outerHTML.slice(0, 120),
                isSeen: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0
                    && Boolean(over) && (focused.contains(over) || over.contains(focused)),
            };
        }""")
        if stop is None or (reached and stop["number"] == reached[0] and last != stop["number"]):
            break
        last = stop["number"]
        if last not in reached:
            reached.append(last)
            if not stop["isSeen"]:
                unseen.append(stop["text"])
    return count, reached, unseen


def test_the_keyboard_reaches_everything(opened, world):
    page, found = opened(), []
    for name, path in world.pages().items():
        page.goto(path)
        count, reached, unseen = tab_stops(page)
        reached = [number for number in reached if number >= 0]
        missing = set(range(count)) - set(reached)
        for number in sorted(missing):
            text = page.evaluate(f"document.querySelector('[data-tab-stop=\"{number}\"]')?.outerHTML.slice(0, 120)")
            # A live part of the page has been replaced meanwhile.
            if text:
                found.append(f"{name}: Tab does not reach {text}")
        if reached != sorted(reached):
            found.append(f"{name}: the order of the focus is not that of the page: {reached}")
        found += [f"{name}: the focus is not to be seen at {text}" for text in unseen]
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
