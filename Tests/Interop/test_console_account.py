"""The console's pages of the account: what the course does in Apple's member centre, in its order, and revoking what leaked."""

import asyncio
import base64
import json
import re
import ssl
import subprocess
from html import unescape
from urllib.parse import urlsplit

import httpx
import pytest
from aioapns import NotificationRequest, PushType

from aldaba_process import AldabaUp, run_aldaba
from provider import Provider
from provider_tokens import ProviderKey
from test_aioapns import send_all
from test_console_campaigns import Console, rows
from waiting import wait_for_lines

TEAM = "ALDABADEMO"
APP = "com.example.todo"
# The pages of the account with a list, and the command that each shows.
LISTS = {
    "teams": "team list", "apps": "app list", "certificates": "certificate list", "keys": "key list",
    "service-accounts": "service-account list", "enrolment-keys": "enrolment-key list", "hubs": "hub list",
}


@pytest.fixture(scope="module")
def console(path):
    made = Console(path["http"])
    yield made
    made.client.close()


def saved(text):
    """The files that the page offers, by their names."""
    found = re.findall(r'href="data:application/octet-stream;base64,([^"]+)" download="([^"]+)"', text)
    return {name: base64.b64decode(unescape(content)) for content, name in found}


def made_key(console):
    """A new key of the demo app's team, as its page gives it: the id and the file."""
    form = console.form(console.get("/console/account/keys"), "/account/keys")
    page = console.send(form, 200, team=TEAM).text
    [(name, pem)] = saved(page).items()
    return re.fullmatch(r"AuthKey_([A-Z0-9]{10})\.p8", name).group(1), pem


def push(provider, token, text):
    answer = provider.post(token, {"aps": {"alert": text}})
    return answer.status, answer.reason


def test_the_overview_has_the_order_of_the_member_centre(console):
    names = re.findall(r'<h2><a href="[^"]*">([^<]+)</a>', console.get("/console/account"))
    assert names == [
        "Teams", "Apps", "Certificates", "Keys", "Devices", "Service accounts", "Enrolment keys", "Hubs"]


@pytest.mark.parametrize("part, command", LISTS.items())
@pytest.mark.parametrize("language", ["en", "es"])
def test_each_list_shows_the_same_request(console, path, part, command, language):
    text = unescape(httpx.get(f"{path['http']}/console/account/{part}", headers={"accept-language": language}).text)
    assert f'lang="{language}"' in text and f"/v1/{part}'" in text and f"aldaba {command}" in text
    assert not re.findall(r"\baccount\.[a-z-]+\.[a-z]", text), "a text is missing"
    assert httpx.get(f"{path['http']}/v1/{part}").status_code == 200


def test_a_team_an_app_and_a_key_are_made_and_the_key_sends_until_it_is_revoked(console, path, tmp_path):
    form = console.form(console.get("/console/account/teams"), "/teams")
    told = console.get(console.send(form, name="Harbour", id="HARBOUR001").headers["location"])
    assert "The team HARBOUR001 was added." in told

    form = console.form(console.get("/console/account/apps"), "/apps")
    page = console.send(form, topic="com.example.harbour", team="HARBOUR001", name="Harbour").headers["location"]
    assert "Harbour" in console.get(page)

    key_id, pem = made_key(console)
    (tmp_path / "key.p8").write_bytes(pem)
    request = NotificationRequest(
        device_token=path["deviceToken"], message={"aps": {"alert": "by a new key"}}, push_type=PushType.ALERT)
    [result] = asyncio.run(send_all({**path, "key": str(tmp_path / "key.p8"), "keyId": key_id}, [request]))
    assert result.status == "200"
    wait_for_lines(path["appLog"], lambda lines: request.notification_id in lines, "the app is handed it")

    kept = Provider(path, ProviderKey(pem, key_id, TEAM))
    assert push(kept, path["deviceToken"], "before")[0] == 200
    ask = console.get(f"/console/account/keys/{key_id}/revoke")
    form = console.form(ask, "/revoke")
    refused = console.send(form, 400, typed=key_id.lower())
    assert "nothing was changed" in refused.text
    assert push(kept, path["deviceToken"], "still valid")[0] == 200
    told = console.get(console.send(form, typed=key_id).headers["location"])
    assert f"The key {key_id} was revoked." in told and [key_id] not in [row[:1] for row in rows(told)]
    assert push(kept, path["deviceToken"], "after") == (403, "InvalidProviderToken")
    kept.close()


def test_a_spanish_operator_revokes_a_leaked_key(path):
    operator = Console(path["http"])
    operator.client.headers["accept-language"] = "es-ES,es;q=0.9"
    key_id, pem = made_key(operator)
    assert "Claves" in operator.get("/console/account")
    text = operator.get("/console/account/keys")
    assert f'aria-label="Revocar {key_id}"' in text
    ask = operator.get(f"/console/account/keys/{key_id}/revoke")
    assert f"¿Revocar la clave {key_id}?" in ask and "No se puede deshacer." in ask
    told = operator.get(operator.send(operator.form(ask, "/revoke"), typed=key_id).headers["location"])
    assert f"Se ha revocado la clave {key_id}." in told
    leaked = Provider(path, ProviderKey(pem, key_id, TEAM))
    assert push(leaked, path["deviceToken"], "leaked") == (403, "InvalidProviderToken")
    leaked.close()
    entry = next(row for row in rows(operator.get("/console/audit")) if key_id in " ".join(row))
    assert "key.revoke" in " ".join(entry), "the log has who did it, and when"
    operator.client.close()


def test_a_secret_is_shown_once(console, path):
    """Neither a list of a page nor one of the API has a private half or a secret again."""
    key_id, pem = made_key(console)
    form = console.form(console.get("/console/account/service-accounts"), "/service-accounts")
    [file] = saved(console.send(form, 200, team=TEAM).text).values()
    account = json.loads(file)
    form = console.form(console.get("/console/account/enrolment-keys"), "/enrolment-keys")
    page = console.send(form, 200, id="fleet", quota="3", hours="2").text
    enrolment = re.search(r"<pre[^>]*><code>([^<]+)</code>", page).group(1).strip()
    form = console.form(console.get("/console/account/hubs"), "/hubs")
    page = console.send(form, 200, name="harbour", topic=APP).text
    strings = [unescape(text) for text in re.findall(r"<code>(Endpoint=[^<]+)</code>", page)]
    assert len(strings) == 2

    hidden = [
        "PRIVATE KEY", pem.decode().splitlines()[1], account["private_key"].splitlines()[1], enrolment,
        *(text.partition("SharedAccessKey=")[2] for text in strings)]
    for part in [*LISTS, "hubs/harbour"]:
        shown = unescape(console.get(f"/console/account/{part}"))
        assert not [secret for secret in hidden if secret in shown], part
    for part in [*LISTS, "hubs/harbour/keys", "audit"]:
        told = httpx.get(f"{path['http']}/v1/{part}").text
        assert not [secret for secret in hidden if secret in told], part


def test_a_certificate_is_signed_renewed_and_revoked(console, path, tmp_path):
    request = tmp_path / "push.csr"
    subprocess.run(
        ["openssl", "req", "-new", "-newkey", "rsa:2048", "-nodes", "-keyout", tmp_path / "push.key", "-out", request,
         "-subj", "/CN=push"], check=True, capture_output=True)
    text = console.get("/console/account/certificates")
    assert "365 days left" not in text and "Certificate of this server" in text
    form = console.form(text, "/certificates")
    refused = console.send(form, 400, app=APP, request="nothing", days="20")
    assert "the request" in refused.text and "nothing" in refused.text
    [(name, pem)] = saved(console.send(form, 200, app=APP, request=request.read_text(), days="20").text).items()
    (tmp_path / name).write_bytes(pem)
    shown = subprocess.run(
        ["openssl", "x509", "-in", tmp_path / name, "-noout", "-checkend", str(21 * 86_400)], capture_output=True)
    assert shown.returncode == 1, "it ends within 21 days"

    text = console.get("/console/account/certificates")
    assert re.search(r'<span class="warn-text">.*? (?:19|20) days left</span>', text), "marked with a sign and in words"
    [entry] = httpx.get(f"{path['http']}/v1/certificates").json()["certificates"]
    assert "1 ends soon" in console.get("/console/account")
    console.send(console.form(text, f"/{entry['id']}/renew"), 200)
    ask = console.get(f"/console/account/certificates/{entry['id']}/revoke")
    told = console.get(console.send(console.form(ask, "/revoke")).headers["location"])
    assert f"The certificate {entry['id']} was revoked." in told
    states = [item["state"] for item in httpx.get(f"{path['http']}/v1/certificates").json()["certificates"]]
    assert sorted(states) == ["revoked", "valid"]


def test_what_the_page_makes_the_command_lists(console, path):
    form = console.form(console.get("/console/account/apps"), "/apps")
    console.send(form, topic="com.example.listed", team=TEAM)
    listed = json.loads(run_aldaba("app", "list", "--json", "--data", path["data"]).stdout)
    assert "com.example.listed" in [app["topic"] for app in listed]
    again = console.send(form, 409, topic="com.example.listed", team=TEAM)
    assert "already belongs to team" in again.text
    ask = console.get("/console/account/apps/com.example.listed/remove")
    told = console.send(console.form(ask, "/remove"), typed="com.example.listed")
    assert urlsplit(told.headers["location"]).path == "/console/account/apps"
    listed = json.loads(run_aldaba("app", "list", "--json", "--data", path["data"]).stdout)
    assert "com.example.listed" not in [app["topic"] for app in listed]


def test_a_webhook_shows_its_last_answers(console, path):
    page = f"/console/account/apps/{APP}"
    form = console.form(console.get(page), f"/{APP}/webhook")
    assert "whsec_" in console.send(form, 200, url="https://127.0.0.1:1/hook").text
    text = console.get(page)
    assert "whsec_" not in text and "was not called since the server started" in text
    refused = console.send(form, 400, url="ftp://example.com")
    assert 'aria-invalid="true"' in refused.text
    console.send(console.form(text, "/webhook/remove"))
    assert httpx.get(f"{path['http']}/v1/apps/{APP}/webhook").status_code == 404


def test_a_teams_provider_token_gets_none_of_these_routes():
    """The secured listener has no route that changes the register, whatever the credential is."""
    running = AldabaUp.ephemeral(name="console_account_secured")
    try:
        path = running.ready
        token = ProviderKey(open(path["key"], "rb").read(), path["keyId"], path["teamId"]).token()
        trust = ssl.create_default_context(cafile=path["ca"])
        with httpx.Client(base_url=path["control"], verify=trust, headers={"authorization": f"bearer {token}"}) as client:
            for part in ["teams", "keys", "certificates", "service-accounts", "enrolment-keys", "hubs", "hubs/todo/keys"]:
                assert client.get(f"/v1/{part}").status_code == 404, part
                assert client.post(f"/v1/{part}", json={"team": TEAM}).status_code in (404, 405), part
            assert client.get("/v1/apps").status_code == 200
    finally:
        running.stop()
        running.drop_logs()
