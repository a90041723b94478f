"""The people of the console: `aldaba serve` over TLS, with log-ins, roles, forms and sessions."""

import json
import re
import stat
import statistics
import time
import uuid
from html import unescape

import httpx
import pytest

from console_browser import open_chromium
from console_people import COOKIE, PASSWORD, Visitor
from oidc_provider import OpenIDProvider
from own_server import TEAM, TOPIC, OwnServer

OTHER_TEAM = "OTHERTEAM1"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A server with an app of two teams each, and nobody who can log in."""
    running = OwnServer(tmp_path_factory.mktemp("people"), "test_console_people")
    running.add_app()
    running.add_app("com.example.other", OTHER_TEAM)
    with running:
        yield running


@pytest.fixture(scope="module")
def owner(server):
    """The first owner, who was set up by the link of the first start."""
    file = server.data / "console-setup.txt"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    link = file.read_text().strip()
    assert link.startswith(server.ready["control"] + "/console/setup?link=")
    assert link not in server.log.read_text(), "the log has the link"
    visitor = Visitor(server)
    before = visitor.get("/console/devices", headers={"Accept": "text/html"})
    assert (before.status_code, before.headers["location"]) == (303, "/console/login?next=%2Fconsole%2Fdevices")
    done = visitor.set_up(link, "ada")
    assert (done.status_code, done.headers["location"]) == (303, "/console/"), done.text
    assert visitor.get(link).status_code == 410
    yield visitor
    visitor.close()


def push(server, owner):
    """Sends a notification to a device that is not connected; its id."""
    tokens = server.data / "tokens"
    if not tokens.exists():
        server.aldaba(
            "device", "simulate", "1", "--offline", "--topic", TOPIC, "--team", TEAM, "--tokens", str(tokens),
            "--server", server.ready["control"].removeprefix("https://"), "--ca", server.ready["ca"], "--device-port",
            str(server.addresses["devicePort"]), env={"ALDABA_ENROLMENT_KEY": server.enrolment_key, "PATH": "/usr/bin"})
    provider = server.provider()
    assert provider.post(tokens.read_text().strip(), {"aps": {"alert": "Waits"}}).status == 200
    provider.close()
    return re.search(r"/console/notifications/(\d+)", owner.get("/console/").text)[1]


def visitor_of(server, name, *role):
    """A person who was added by the command, and has set a password."""
    link = server.aldaba("person", "add", name, *role).stdout.strip()
    visitor = Visitor(server)
    assert visitor.set_up(link, name).status_code == 303
    return visitor


# Logging in


def test_the_owner_is_in(server, owner):
    page = owner.get("/console/")
    assert page.status_code == 200 and "Log out" in page.text and ">ada<" in page.text
    people = json.loads(server.aldaba("person", "list", "--json").stdout)
    assert [person["name"] for person in people][:1] == ["ada"] and people[0]["roles"] == [{"role": "owner"}]


def test_the_cookie_is_for_this_host_alone(server, owner):
    visitor = Visitor(server)
    field = visitor.log_in("ada").headers["set-cookie"]
    assert field.startswith(f"{COOKIE}=")
    assert {part.strip() for part in field.split(";")[1:]} == {"Path=/", "Secure", "HttpOnly", "SameSite=Lax"}


def test_a_log_in_leads_to_the_page_that_was_asked_for(server, owner):
    visitor = Visitor(server)
    assert visitor.log_in("ada", next="/console/devices?app=a").headers["location"] == "/console/devices?app=a"
    for elsewhere in ("https://evil.example/", "//evil.example", "/\\evil.example", "/v1/reset", "/console\\..", "javascript:1"):
        assert Visitor(server).log_in("ada", next=elsewhere).headers["location"] == "/console/", elsewhere


def test_the_session_of_before_a_log_in_ends(server, owner):
    visitor = Visitor(server)


    visitor.log_in("ada")
    first = visitor.cookie
    visitor.log_in("ada")
    assert visitor.cookie != first
    old = Visitor(server, cookies={COOKIE: first})
    assert old.get("/console/").status_code == 303


def test_who_guesses_waits(server, owner):
    visitor = Visitor(server)
    name = f"nobody-{uuid.uuid4().hex[:8]}"
    answers = []
    # A pause begins when the guess came; a slow machine answers after the first ones are over.
    while len(answers) < 12 and (not answers or answers[-1].status_code != 429):
        answers.append(visitor.log_in(name, "wrong password 1"))
    assert [answer.status_code for answer in answers][:5] == [401] * 5
    assert answers[-1].status_code == 429 and int(answers[-1].headers["retry-after"]) >= 1
    # Others at the same address are not kept out, and the name's own networks are not either.
    assert Visitor(server).log_in("ada").status_code == 303


def test_a_name_that_nobody_has_takes_as_long(server, owner):
    def seconds(name):
        visitor = Visitor(server)
        visitor.get("/console/login")
        begun = time.monotonic()
        visitor.log_in(name, "wrong password 2")
        return time.monotonic() - begun

    known, unknown = [], []
    for number in range(3):
        unknown.append(seconds(f"unknown{number}"))
        known.append(seconds("ada"))
    ratio = statistics.median(known) / statistics.median(unknown)
    assert 0.3 < ratio < 3, (known, unknown)
    Visitor(server).log_in("ada")


# Forms


def test_a_form_without_the_token_of_the_session_is_refused(server, owner):
    assert owner.post("/console/sessions/end").status_code == 403
    other = Visitor(server)
    other.log_in("ada")
    wrong = owner.post("/console/sessions/end", {"token": other.token("/console/sessions")})
    assert wrong.status_code == 403
    assert owner.post("/console/team", {"team": ""}, page="/console/sessions").status_code == 303


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_a_form_of_another_site_is_refused(owner, site):
    token = owner.token("/console/sessions")
    answer = owner.http.post("/console/team", data={"team": "", "token": token}, headers={"Sec-Fetch-Site": site})
    assert answer.status_code == 403


def test_a_form_of_another_origin_is_refused(server, owner):
    token = owner.token("/console/sessions")
    for origin in ("https://evil.example", "null"):
        answer = owner.http.post("/console/team", data={"team": "", "token": token}, headers={"Origin": origin})
        assert answer.status_code == 403, origin
    answer = owner.http.post(
        "/console/team", data={"team": "", "token": token}, headers={"Origin": server.ready["control"]})
    assert answer.status_code == 303


def test_every_form_that_is_posted_has_the_token(owner):
    for page in ("/console/", "/console/sessions", "/console/accounts", "/console/compose", "/console/devices"):
        text = owner.get(page).text
        forms = re.findall(r'<form[^>]*method="post".*?</form>', text, re.DOTALL)
        assert forms, page
        for form in forms:
            assert 'name="token"' in form, f"{page}: {form[:200]}"


# Roles


def test_a_reader_reads_alone(server, owner):
    reader = visitor_of(server, "rita", "--role", "reader")
    assert reader.get("/console/").status_code == 200
    assert reader.get("/console/compose").status_code == 403
    assert reader.get("/console/accounts").status_code == 403
    spanish = reader.get("/console/compose", headers={"accept-language": "es"}).text
    assert "Su rol no incluye esto." in spanish and 'href="/console/devices"' in spanish, "the page keeps its navigation"
    refused = reader.post("/console/notifications/1/withdraw", page="/console/sessions")
    assert refused.status_code == 403


def test_no_page_shows_a_form_that_the_role_refuses(server, owner):
    """A reader's pages have forms for the person's own session and preferences alone."""
    notification = push(server, owner)
    reader = visitor_of(server, "rob", "--role", "reader")
    own = re.compile("/console/(logout|team|sessions|confirm|preferences)")
    for page in ("", "campaigns", "reports", "installations", "devices", "audiences", f"notifications/{notification}"):
        text = reader.get(f"/console/{page}").text
        actions = re.findall(r'<form[^>]*method="post"[^>]*action="([^"]*)"', text)
        assert actions and all(own.match(action) for action in actions), f"{page}: {actions}"
        links = re.findall(r'href="(/console/(?:compose|campaigns/new)[^"]*)"', text)
        assert not links, f"{page}: {links}"
    assert "/withdraw" in owner.get(f"/console/notifications/{notification}").text


def test_a_notification_has_the_fields_of_its_request(server, owner):
    page = unescape(owner.get(f"/console/notifications/{push(server, owner)}").text)
    assert f"apns-topic: {TOPIC}" in page and "200\napns-id: " in page


def test_a_live_list_ends_with_its_session(server, owner):
    reader = visitor_of(server, "lia", "--role", "reader")
    with reader.http.stream("GET", "/console/inbox/events", headers={"Accept": "text/event-stream"}) as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("retry:")
        server.aldaba("person", "remove", "lia")
        push(server, owner)
        assert not [line for line in lines if line.startswith("data:")], "a row came after the session had ended"
    assert reader.get("/console/inbox/events", headers={"Accept": "text/event-stream"}).status_code == 401


def test_a_person_of_a_team_sees_its_apps_alone(server, owner):
    visitor = visitor_of(server, "tom", "--role", "admin", "--team", TEAM)
    page = visitor.get("/console/").text
    assert "com.example.own" in page and "com.example.other" not in page
    assert visitor.get("/console/health").status_code == 403
    everything = owner.get("/console/").text
    assert "com.example.own" in everything and "com.example.other" in everything


def test_a_person_in_support_sees_one_device(server, owner):
    visitor = visitor_of(server, "sue", "--role", "support", "--device", "4242")
    first = visitor.get("/console/")
    assert (first.status_code, first.headers["location"]) == (303, "/console/devices/4242")
    assert visitor.get("/console/devices/4243").status_code == 403
    assert visitor.get("/console/devices").status_code == 403
    assert visitor.get("/console/notifications/12345").status_code in (403, 404)


def test_the_owner_adds_and_removes_a_person(server, owner):
    data = {"name": "bea", "role": "sender", "team": TEAM}
    page = owner.post("/console/accounts", data, page="/console/accounts")
    assert page.status_code == 200, page.text
    link = re.search(r"https://[^<\s]+/console/setup\?link=[\w-]+", page.text)[0]
    bea = Visitor(server)
    assert bea.set_up(link, "ignored").status_code == 303
    assert bea.get("/console/compose").status_code == 200
    bea_id = re.search(r"<td>bea.*?/console/accounts/([\w-]+)/remove", owner.get("/console/accounts").text, re.DOTALL)[1]
    assert owner.post(f"/console/accounts/{bea_id}/remove", page="/console/accounts").status_code == 303
    assert bea.get("/console/compose", headers={"Accept": "text/html"}).status_code == 303


def test_the_last_owner_stays(server, owner):
    own = re.search(r"<td>ada.*?/console/accounts/([\w-]+)/remove", owner.get("/console/accounts").text, re.DOTALL)[1]
    assert owner.post(f"/console/accounts/{own}/remove", page="/console/accounts").status_code == 409
    refused = server.aldaba("person", "remove", "ada", check=False)
    assert refused.returncode == 1 and "owner" in refused.stderr


def test_an_admin_makes_nobody_owner(server, owner):
    admin = visitor_of(server, "max", "--role", "admin", "--team", TEAM)
    for data in ({"name": "eve", "role": "owner"}, {"name": "eve", "role": "reader", "team": OTHER_TEAM}):
        assert admin.post("/console/accounts", data, page="/console/accounts").status_code == 403
    assert "rita" not in admin.get("/console/accounts").text


# Sessions


def test_sessions_are_listed_and_ended(server, owner):
    first, second = Visitor(server), Visitor(server)
    first.log_in("ada")
    second.log_in("ada")
    assert first.post("/console/sessions/end", page="/console/sessions").status_code == 303
    assert second.get("/console/").status_code == 303 and first.get("/console/").status_code == 200
    assert first.post("/console/logout", page="/console/sessions").status_code == 303
    assert first.get("/console/").status_code == 303
    owner.log_in("ada")


def test_log_ins_and_changes_are_in_the_audit_log(server, owner):
    page = owner.get("/console/audit").text
    assert "session.begin" in page and "person.add" in page and ">ada<" in page


# A browser


def test_the_first_owner_in_a_browser(tmp_path):
    server = OwnServer(tmp_path, "test_console_people_browser")
    with server, open_chromium() as browser:
        link = (server.data / "console-setup.txt").read_text().strip()
        context = browser.new_context(ignore_https_errors=True, locale="en")
        page = context.new_page()
        page.goto(link)
        page.get_by_label("Name").fill("grace")
        page.get_by_label("New password").fill(PASSWORD)
        page.get_by_role("button", name="Save and log in").click()
        page.get_by_role("button", name="Log out").click()
        assert page.url.endswith("/console/login")
        page.goto(server.ready["control"] + "/console/sessions")
        page.get_by_label("Name").fill("grace")
        page.get_by_label("Password").fill(PASSWORD)
        page.get_by_role("button", name="Log in").click()
        page.wait_for_url("**/console/sessions")
        assert page.get_by_role("heading", level=1).inner_text() == "Sessions"
        page.goto(server.ready["control"] + "/")
        assert page.url.endswith("/console/")
        context.close()


# Payloads


def test_payloads_are_hidden_below_the_role_of_the_setting(tmp_path):
    server = OwnServer(tmp_path, "test_console_people_payloads", "--console-payloads", "sender")
    with server:
        reader, sender = visitor_of(server, "rob", "--role", "reader"), visitor_of(server, "sam", "--role", "sender")
        assert "does not see what notifications say" in reader.get("/console/").text
        assert reader.get("/console/?text=secret").status_code == 403
        assert "does not see what notifications say" not in sender.get("/console/").text
        assert sender.get("/console/?text=secret").status_code == 200


# An OpenID provider


@pytest.fixture
def provided(tmp_path, request):
    """A development server whose people log in by a provider on this machine."""
    with OpenIDProvider("console", getattr(request, "param", "RS256")) as provider:
        secret = tmp_path / "secret"
        secret.write_text(provider.secret + "\n")
        secret.chmod(0o600)
        server = OwnServer(
            tmp_path, "test_console_people_provider", "--development", "--http-port=0", "--console-oidc-issuer",
            provider.issuer, "--console-oidc-client-id", "console", "--console-oidc-client-secret-file", secret)
        with server:
            yield server, provider


def come_back(visitor, provider, path):
    """Goes to the provider, which answers at once, and comes back."""
    there = visitor.get(path)
    assert there.status_code == 303, there.text
    back = httpx.get(there.headers["location"])
    return visitor.get(back.headers["location"])


@pytest.mark.parametrize("provided", ["RS256", "ES256"], indirect=True)
def test_a_person_logs_in_by_a_provider(provided):
    server, provider = provided
    link = server.aldaba("person", "add", "olga", "--role", "owner").stdout.strip()
    provider.subject = "subject-1"
    visitor = Visitor(server)
    secret = httpx.URL(link).params["link"]
    unknown = come_back(visitor, provider, "/console/login/provider")
    assert unknown.status_code == 403 and "subject-1" in unknown.text
    assert come_back(visitor, provider, f"/console/login/provider?for=link&link={secret}").status_code == 303
    assert visitor.get("/console/").status_code == 200
    other = Visitor(server)
    done = come_back(other, provider, "/console/login/provider?next=/console/devices")
    assert (done.status_code, done.headers["location"]) == (303, "/console/devices")
    assert other.get("/console/devices").status_code == 200


def test_a_log_in_of_another_browser_is_refused(provided):
    server, provider = provided
    visitor, other = Visitor(server), Visitor(server)
    back = httpx.get(visitor.get("/console/login/provider").headers["location"]).headers["location"]
    assert other.get(back).status_code == 403
    other.get("/console/login/provider")
    assert other.get(back).status_code == 403


@pytest.mark.parametrize("fault", ["nonce", "aud", "iss", "exp", "signature", "none", "symmetric"])
def test_a_wrong_token_is_refused(provided, fault):
    server, provider = provided
    provider.fault = fault
    answer = come_back(Visitor(server), provider, "/console/login/provider")
    assert answer.status_code == 502
