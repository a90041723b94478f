"""The audit log: what command line, API and console change is in it with who did it, no secret is, and nothing leaves it."""

import getpass
import html
import json
import os
import sqlite3
import urllib.parse

import httpx
import pytest

from aldaba_process import run_aldaba
from own_server import TEAM, TOPIC, OwnServer

SECRET = "s3cret-4f1c9a72e85b"


def audit(data, *arguments):
    return json.loads(run_aldaba("audit", "--json", "--data", data, *arguments).stdout)


@pytest.fixture
def http(path):
    with httpx.Client(base_url=path["http"], timeout=20) as client:
        yield client


def test_the_command_line_says_who_and_what(path):
    data = path["data"]
    topic = "com.example.audited"
    run_aldaba("app", "create", topic, "--team", "AUDITTEAM1", "--data", data)
    run_aldaba("app", "update", topic, "--limit", "7", "--data", data)
    made = json.loads(run_aldaba("key", "create", "--team", "AUDITTEAM1", "--json", "--data", data).stdout)
    run_aldaba("key", "revoke", made["keyId"], "--data", data)
    run_aldaba("app", "remove", topic, "--data", data)
    assert run_aldaba("app", "remove", topic, "--data", data, check=False).returncode == 3
    apps = audit(data, "--action", "app", "--object", "AUDITED")
    assert [(one["action"], one["outcome"]) for one in apps] == [
        ("app.remove", "refused"), ("app.remove", "done"), ("app.update", "done"), ("app.add", "done")]
    for one in apps:
        assert one["origin"] == "command" and one["actor"]["kind"] == "user"
        assert one["actor"]["name"] == getpass.getuser() and one["actor"]["id"].isdigit()
    changed = apps[2]
    assert (changed["before"]["limit"], changed["after"]["limit"]) == (1000, 7)
    assert changed["team"] == "AUDITTEAM1"
    keys = audit(data, "--action", "key", "--object", made["keyId"])
    assert [one["action"] for one in keys] == ["key.revoke", "key.add"]


def test_what_up_makes_by_itself_is_there(path):
    actions = [one["action"] for one in audit(path["data"], "--limit", "1000")]
    for action in ("app.add", "key.add", "service-account.add", "hub.add"):
        assert action in actions


def test_a_request_of_the_api_has_its_object_before_and_after(path, http):
    added = http.post("/v1/faults", json={"interface": "apns", "status": 500}).json()
    number = added["id"]
    assert http.delete(f"/v1/faults/{number}").status_code == 204
    assert http.delete("/v1/faults/999999").status_code == 404
    faults = audit(path["data"], "--action", "fault", "--limit", "3")
    assert [(one["action"], one["object"], one["outcome"]) for one in faults] == [
        ("fault.remove", "999999", "refused"), ("fault.remove", str(number), "done"),
        ("fault.add", str(number), "done")]
    assert {one["origin"] for one in faults} == {"api"}
    assert {one["actor"]["kind"] for one in faults} == {"development"}
    assert faults[2]["after"]["interface"] == "apns"


def test_a_command_that_asks_the_server_is_told_from_the_api(path):
    run_aldaba("fault", "add", "--interface", "apns", "--status", "500", "--app", "com.example.nobody", "--data", path["data"])
    run_aldaba("fault", "remove", "--all", "--data", path["data"])
    faults = audit(path["data"], "--action", "fault", "--limit", "2")
    assert {(one["origin"], one["action"]) for one in faults} == {("command", "fault.add"), ("command", "fault.remove")}


def test_what_a_person_sends_by_the_console_is_there_without_its_text(path, http):
    device = http.get("/v1/devices").json()["devices"][0]["device"]
    form = {"token": path["deviceToken"], "title": "Audited", "body": "Seen by one"}
    sent = http.post(f"/console/devices/{device}/test", data=form, headers={"Sec-Fetch-Site": "same-origin"})
    assert sent.status_code == 303, sent.text
    entry = audit(path["data"], "--action", "notification.send", "--limit", "1")[0]
    assert (entry["origin"], entry["outcome"]) == ("console", "done")
    assert sent.headers["location"].endswith(entry["object"])
    assert "Seen by one" not in json.dumps(entry), "the log keeps what a person would read"


def test_a_page_of_the_console_is_told_from_the_api(path, http, send):
    answer = send(path["deviceToken"], {"aps": {"alert": "Read me"}})
    found = http.get("/v1/notifications", params={"limit": 1}).json()["notifications"][0]["id"]
    assert answer
    done = http.post(f"/console/notifications/{found}/withdraw", headers={"Sec-Fetch-Site": "same-origin"})
    assert done.status_code < 400
    entry = audit(path["data"], "--action", "notification.withdraw", "--limit", "1")[0]
    assert (entry["origin"], entry["actor"]["kind"], entry["object"]) == ("console", "console", found)
    assert "Read me" not in json.dumps(entry), "the log keeps what a person would read"


def test_the_page_filters_and_exports(path, http):
    topic = "com.example.shown"
    run_aldaba("app", "create", topic, "--data", path["data"])
    page = http.get("/console/audit", params={"object": topic, "action": "app"})
    assert page.status_code == 200 and topic in page.text and "app.add" in page.text
    assert f'value="{topic}"' in page.text and "<details>" in page.text
    query = urllib.parse.urlencode({"action": "app", "object": topic})
    assert f"/console/audit/export?{query}&format=csv" in html.unescape(page.text)
    spanish = http.get("/console/audit", headers={"Accept-Language": "es"})
    assert "Registro de auditoría" in spanish.text
    lines = http.get("/console/audit/export", params={"object": topic, "format": "jsonl"})
    assert json.loads(lines.text)["object"] == topic
    table = http.get("/console/audit/export", params={"object": topic, "format": "csv"})
    assert table.text.startswith("number,at,origin,") and topic in table.text
    assert "attachment" in table.headers["content-disposition"]
    assert http.get("/console/audit/export", params={"format": "xml"}).status_code == 400
    assert http.get("/console/audit", params={"from": "yesterday"}).status_code == 400
    assert "No entry fits" in http.get("/console/audit", params={"object": "no such object"}).text


def test_pages_of_the_api_hold_each_entry_once(http):
    whole = [one["number"] for one in http.get("/v1/audit", params={"limit": 1000}).json()["entries"]]
    found, query = [], {"limit": 2}
    while True:
        page = http.get("/v1/audit", params=query).json()
        found += [one["number"] for one in page["entries"]]
        if "next" not in page:
            break
        query["after"] = page["next"]
    assert found == whole == sorted(whole, reverse=True)
    assert http.get("/v1/audit", params={"verb": "x"}).status_code == 400


def test_no_secret_is_in_the_log(path, http, tmp_path):
    data = path["data"]
    secrets = [
        run_aldaba("enrolment-key", "create", "audited", "--data", data).stdout.strip(),
        run_aldaba("hub", "key", "create", "todo", "audited", "--api", "--data", data).stdout.strip(),
        json.loads(run_aldaba(
            "app", "webhook", "set", path["topic"], "--url", f"https://me:{SECRET}@example.com/x?key={SECRET}",
            "--json", "--data", data, check=False).stdout or '{"secret": "none was made"}')["secret"],
        SECRET,
    ]
    connection = json.loads(run_aldaba(
        "hub", "key", "create", "todo", "sas", "--rights", "Send", "--json", "--data", data).stdout)
    secrets.append(connection["connectionString"].split("SharedAccessKey=")[1])
    account = tmp_path / "account.json"
    run_aldaba("service-account", "create", "--url", "http://127.0.0.1:1", "--output", account, "--data", data)
    secrets += json.loads(account.read_text())["private_key"].splitlines()[1:3]
    told = json.dumps(audit(data, "--limit", "1000")) + http.get("/v1/audit/export?format=csv").text
    for secret in secrets:
        assert secret and secret not in told
    assert "PRIVATE KEY" not in told


@pytest.mark.skipif("ALDABA_TEST_STORE" in os.environ, reason="it changes the file; the store's tests try PostgreSQL")
def test_nothing_changes_or_deletes_an_entry(path):
    before = audit(path["data"], "--limit", "1000")
    database = sqlite3.connect(f"{path['data']}/server.sqlite")
    for statement in (
            "UPDATE audit SET actor = 'somebody'", "DELETE FROM audit", "UPDATE audit_end SET outcome = 'refused'",
            "DELETE FROM audit_end", "REPLACE INTO audit SELECT * FROM audit",
            "REPLACE INTO audit_end SELECT * FROM audit_end"):
        with pytest.raises(sqlite3.DatabaseError, match="append-only"):
            database.execute(statement)
        database.rollback()
    database.close()
    assert audit(path["data"], "--limit", "1000") == before


@pytest.mark.parametrize(("since", "count"), [("1h", True), ("2020-01-01T00:00:00Z", True), ("2999-01-01T00:00:00Z", False)])
def test_since_is_a_time_or_how_long_ago(path, since, count):
    assert bool(audit(path["data"], "--since", since)) is count


def test_a_wrong_since_says_what_is_right(path):
    done = run_aldaba("audit", "--since", "yesterday", "--data", path["data"], check=False)
    assert done.returncode == 3 and "7d" in done.stderr


def test_a_provider_is_named_by_its_team_and_key_and_a_stranger_leaves_nothing(tmp_path, request):
    server = OwnServer(tmp_path, request.node.name)
    server.add_app(TOPIC, TEAM)
    key = server.key()
    server.start()
    try:
        with httpx.Client(base_url=server.ready["control"], verify=str(server.certificates.ca)) as client:
            assert client.delete("/v1/notifications/77").status_code == 401
            assert client.get("/v1/audit").status_code == 404
            authorization = {"authorization": f"bearer {key.token()}"}
            assert client.delete("/v1/notifications/77", headers=authorization).status_code == 404
    finally:
        server.stop()
    found = audit(server.data, "--action", "notification")
    assert len(found) == 1 and found[0]["outcome"] == "refused"
    assert found[0]["actor"] == {"kind": "credential", "name": TEAM, "id": key.key_id}
