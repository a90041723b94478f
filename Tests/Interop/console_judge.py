"""The judgement of a page of the console: axe for WCAG 2.2 AA, tidy for its HTML, and the stops of the Tab key."""

import re
import shutil
import subprocess

RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"], "rules": {"target-size": {"enabled": True}}}
# Language, colours, width, zoom (2 is 200 %), and whether axe looks at it.
SIGHTS = [
    ("en", "light", 1280, 1, True), ("es", "dark", 1280, 1, True), ("es", "light", 320, 1, True),
    ("en", "dark", 1280, 1, False), ("es", "light", 1280, 1, False), ("en", "dark", 320, 1, False),
    ("es", "dark", 1280, 2, False),
]
# What tidy knows only in part: ARIA, SVG within HTML, and attributes of forms that are newer than it.
UNKNOWN_TO_TIDY = re.compile(r'proprietary attribute "(aria-current|inputmode|autocapitalize|enterkeyhint|minlength)"|<(svg|title)> proprietary')
FOCUSABLE = "a[href], button:not([disabled]), input:not([disabled]):not([type=hidden]), select, textarea, summary, [tabindex='0']"


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


def tidy_faults(name, html):
    """What tidy says against a page; nothing where tidy is not installed."""
    if not shutil.which("tidy"):
        return []
    done = subprocess.run(
        ["tidy", "-errors", "-quiet", "-utf8", "--drop-empty-elements", "no"], input=html, capture_output=True, text=True,
        timeout=20)
    return [f"{name}: {line}" for line in done.stderr.splitlines() if not UNKNOWN_TO_TIDY.search(line)]


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


def keyboard_faults(page, name):
    """What the keyboard does not reach on the page that the browser shows, and where the focus is not to be seen."""
    found = []
    count, reached, unseen = tab_stops(page)
    reached = [number for number in reached if number >= 0]
    for number in sorted(set(range(count)) - set(reached)):
        text = page.evaluate(f"document.querySelector('[data-tab-stop=\"{number}\"]')?.outerHTML.slice(0, 120)")
        # A live part of the page has been replaced meanwhile.
        if text:
            found.append(f"{name}: Tab does not reach {text}")
    if reached != sorted(reached):
        found.append(f"{name}: the order of the focus is not that of the page: {reached}")
    return found + [f"{name}: the focus is not to be seen at {text}" for text in unseen]
