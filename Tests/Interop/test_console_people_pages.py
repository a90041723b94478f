"""The pages of a console with people, as everybody must be able to use them: judged as `test_console_pages` judges the others."""

import shutil
import sqlite3

import pytest
from axe_playwright_python.sync_playwright import Axe

from console_browser import Pages, chromium, screenshots_folder, without_motion  # noqa: F401
from console_judge import SIGHTS, faults_of, keyboard_faults, tidy_faults
from console_people import PASSWORD, Visitor
from own_server import OwnServer

# Each page by its name: its path, and the person who opens it. `{link}` is an unused link for a password.
PAGES = {
    "login": ("/console/login?next=%2Fconsole%2Fdevices", None),
    "setup": ("/console/setup?link={link}", None),
    "setup-ended": ("/console/setup?link=ended", None),
    "sessions": ("/console/sessions", "ada"),
    "accounts": ("/console/accounts", "ada"),
    "confirm": ("/console/confirm?next=%2Fconsole%2Faccounts", "ada"),
    "audit-of-people": ("/console/audit", "ada"),
    "inbox-of-a-person": ("/console/", "rita"),
    "role-refused": ("/console/compose", "rita"),
    "no-such-page": ("/console/none", "rita"),
}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with an owner, a reader, and a person who has no password yet."""
    running = OwnServer(tmp_path_factory.mktemp("people"), "test_console_people_pages")
    with running:
        owner, reader = Visitor(running), Visitor(running)
        assert owner.set_up((running.data / "console-setup.txt").read_text().strip(), "ada").status_code == 303
        link = running.aldaba("person", "add", "rita", "--role", "reader").stdout.strip()
        assert reader.set_up(link, "rita").status_code == 303
        link = running.aldaba("person", "add", "bea", "--role", "sender").stdout.strip()
        running.link = link.rsplit("link=", 1)[1]
        with sqlite3.connect(running.data / "server.sqlite", timeout=10) as database:
            running.people = dict(database.execute("SELECT name, id FROM person"))
        yield running


@pytest.fixture(scope="module")
def opened(chromium, server):
    made = Pages(chromium, server.ready["control"])
    yield made
    made.close()


def log_in(page, name):
    page.goto("/console/login")
    page.locator("[name=name]").fill(name)
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("main form button").click()
    page.wait_for_url("**/console/")


def pages(server, person):
    """The pages that a person opens, by their names."""
    return {name: path.format(link=server.link) for name, (path, who) in PAGES.items() if who == person}


@pytest.mark.parametrize("person", [None, "ada", "rita"])
@pytest.mark.parametrize("language, scheme, width, zoom, is_judged", SIGHTS)
def test_every_page_is_accessible(opened, server, tmp_path_factory, person, language, scheme, width, zoom, is_judged):
    page, axe, found = opened(language, scheme, width, zoom, ignore_https_errors=True), Axe() if is_judged else None, []
    without_motion(page)
    if person:
        log_in(page, person)
    folder = screenshots_folder(tmp_path_factory)
    for name, path in pages(server, person).items():
        page.goto(path)
        found += faults_of(page, axe, name, language)
        if width > 320 and zoom == 1:
            page.screenshot(path=folder / f"{name}-{language}-{scheme}.png", full_page=True)
    assert not found, "\n".join(found)


@pytest.mark.parametrize("person", [None, "ada", "rita"])
def test_the_keyboard_reaches_everything(opened, server, person):
    page, found = opened(ignore_https_errors=True), []
    if person:
        log_in(page, person)
    for name, path in pages(server, person).items():
        page.goto(path)
        found += keyboard_faults(page, name)
    assert not found, "\n".join(found)


@pytest.mark.skipif(not shutil.which("tidy"), reason="tidy is not installed")
@pytest.mark.parametrize("language", ["en", "es"])
@pytest.mark.parametrize("person", [None, "ada", "rita"])
def test_every_page_is_well_formed(server, person, language):
    visitor, found = Visitor(server, headers={"accept-language": language}), []
    if person:
        assert visitor.log_in(person).status_code == 303
    for name, path in pages(server, person).items():
        found += tidy_faults(name, visitor.get(path).text)
    visitor.close()
    assert not found, "\n".join(found)


def forms(server):
    """What an owner does, by its name: the action of the form on the page of people, and the fields to fill in."""
    return {
        "link-made": (f"/accounts/{server.people['rita']}/link", {}),
        "name-taken": ("/console/accounts", {"name": "rita"}),
        "name-refused": ("/console/accounts", {"name": "no name"}),
        "last-owner": (f"/accounts/{server.people['ada']}/remove", {}),
        "device-refused": (f"/accounts/{server.people['rita']}/roles", {"device": "no number"}),
    }


@pytest.mark.parametrize("language, scheme, width", [("en", "light", 1280), ("es", "dark", 320)])
def test_the_answers_to_forms_are_accessible(opened, server, language, scheme, width):
    page, found = opened(language, scheme, width, 1, ignore_https_errors=True), []
    without_motion(page)
    log_in(page, "ada")
    for name, (action, fields) in forms(server).items():
        page.goto("/console/accounts")
        form = page.locator(f"form[action$='{action}']").last
        for field, text in fields.items():
            form.locator(f"[name={field}]").fill(text)
        if "device" in fields:
            form.locator("[name=role]").select_option("support")
        form.evaluate("form => { form.noValidate = true; form.requestSubmit(); }")
        page.wait_for_load_state()
        page.locator("[role=alert], [role=status], .invalid").first.wait_for()
        found += faults_of(page, Axe(), name, language)
        found += keyboard_faults(page, name)
    assert not found, "\n".join(found)


def test_what_is_dangerous_asks_for_the_password_and_goes_on(opened, server):
    page = opened("es", ignore_https_errors=True)
    log_in(page, "ada")
    with sqlite3.connect(server.data / "server.sqlite", timeout=10) as database:
        database.execute("UPDATE console_session SET confirmed_at = 0")
    page.goto("/console/accounts")
    page.locator(f"form[action$='/accounts/{server.people['rita']}/link'] button").click()
    page.wait_for_url("**/console/confirm?**")
    assert not (found := faults_of(page, Axe(), "confirm", "es") + keyboard_faults(page, "confirm")), "\n".join(found)
    page.locator("[name=password]").fill("not the password")
    page.locator("main form button").click()
    page.get_by_role("alert").wait_for()
    assert not (found := faults_of(page, Axe(), "confirm-refused", "es")), "\n".join(found)
    page.locator("[name=password]").fill(PASSWORD)
    page.locator("main form button").click()
    page.wait_for_url("**/console/accounts")


def test_a_short_password_is_refused_at_its_field(opened, server):
    page = opened(ignore_https_errors=True)
    page.goto(f"/console/setup?link={server.link}")
    page.locator("[name=password]").fill("short")
    page.locator("main form").evaluate("form => { form.noValidate = true; form.requestSubmit(); }")
    page.locator("#password-fault").wait_for()
    assert not (found := faults_of(page, Axe(), "setup-refused", "en")), "\n".join(found)


def test_a_person_logs_in_by_the_keyboard_alone(opened):
    page = opened(ignore_https_errors=True)
    page.goto("/console/login?next=%2Fconsole%2Fsessions")
    # The first field has the focus, or Tab leads there.
    for _ in range(12):
        if page.evaluate("document.activeElement.name") == "name":
            break
        page.keyboard.press("Tab")
    page.keyboard.type("ada")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url("**/console/sessions")
    assert page.faults == []


def test_a_refused_log_in_says_so_at_its_field(opened):
    page = opened("es", ignore_https_errors=True)
    page.goto("/console/login")
    page.locator("[name=name]").fill("ada")
    page.locator("[name=password]").fill("not the password")
    page.locator("main form button").click()
    assert not (found := faults_of(page, Axe(), "login-refused", "es")), "\n".join(found)
    assert page.get_by_role("alert").is_visible()
