"""The hub's own API: its description, keys with rights, pages, export, the live report, and webhooks."""

import csv
import hashlib
import hmac
import http.client
import io
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from aldaba_process import run_aldaba
from h2_client import verified_context
from hub_clients import OwnHub
from push_service import PushService
from secured_control import SecuredControl
from waiting import wait_until


@pytest.fixture
def own(path, control):
    return OwnHub(path, control)


@pytest.fixture(scope="module")
def document(path):
    address = urlsplit(path["http"])
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)
    connection.request("GET", "/v1/openapi.json")
    return json.loads(connection.getresponse().read())


def put(own, count, tag, platform="aldaba"):
    for number in range(count):
        status, told = own.ask("PUT", f"/installations/{tag}-{number}", {
            "platform": platform, "pushChannel": f"{tag} token {number}", "tags": [tag], "locale": "de"})
        assert status in (200, 201), told


def send(own, expression, **more):
    status, begun = own.ask("POST", "/campaigns", {"audience": expression, "content": {"body": "x"}} | more)
    assert status == 201, begun
    return begun["id"]


def test_the_description_is_openapi(document):
    validate(document)
    assert document["openapi"].startswith("3.1")


def test_answers_are_as_the_description_says(own, document, path):
    """Each operation that reads is asked, and its answer judged by its schema."""
    put(own, 3, "schema")
    assert own.ask("PUT", "/webhook", {"url": "https://example.com/a"})[0] == 200
    campaign = send(own, "schema")
    own.wait_for_campaign(campaign, "Completed")
    asked = 0
    for template, operations in document["paths"].items():
        operation = operations.get("get")
        if operation is None:
            continue
        [schema] = [
            each["schema"] for each in operation["responses"]["200"]["content"].values()]
        if schema["$ref"].endswith("/Text"):
            continue
        if not template.startswith("/v1/hubs/{hub}"):
            continue
        rest = template.removeprefix("/v1/hubs/{hub}")
        rest = rest.replace("{id}", "schema-0" if "installations" in rest else campaign)
        status, answer = own.ask("GET", rest)
        assert status == 200, (rest, answer)
        validator = Draft202012Validator({"$ref": schema["$ref"], "components": document["components"]})
        validator.validate(answer)
        asked += 1
    assert asked >= 12
    status, problem = own.ask("GET", "/campaigns/none")
    assert status == 404
    Draft202012Validator(
        {"$ref": "#/components/schemas/Problem", "components": document["components"]}).validate(problem)
    assert own.ask("DELETE", "/webhook")[0] == 204
    assert own.ask("GET", "/webhook")[0] == 404


SOURCES = Path(__file__).parents[2] / "Sources"


def test_every_route_of_v1_is_described_and_no_other(document):
    """What the server's sources add to the router, but for hubs: those are compared in the process itself."""
    served = set()
    for file in SOURCES.rglob("*.swift"):
        for method, template in re.findall(r'router\.(get|put|post|patch|delete)\(\s*"(v1/[^"]+)"', file.read_text()):
            if not template.startswith("v1/hubs"):
                served.add((method, "/" + re.sub(r"/:(\w+)", r"/{\1}", template)))
    described = {
        (method, template) for template, operations in document["paths"].items() for method in operations
        if not template.startswith("/v1/hubs")}
    assert described == served


def by_http(path, method, where, body=None):
    address = urlsplit(path["http"])
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=10)
    connection.request(method, where, body)
    answer = connection.getresponse()
    return answer.status, answer.headers["content-type"], json.loads(answer.read())


def test_lists_outside_hubs_are_as_the_description_says(path, document):
    asked = 0
    for template in ["notifications", "devices", "apps", "media", "reports"]:
        operation = document["paths"][f"/v1/{template}"]["get"]
        [schema] = [each["schema"] for each in operation["responses"]["200"]["content"].values()]
        status, _, answer = by_http(path, "GET", f"/v1/{template}")
        assert status == 200, answer
        Draft202012Validator({"$ref": schema["$ref"], "components": document["components"]}).validate(answer)
        asked += 1
    assert asked == 5


@pytest.mark.parametrize("method, where, status", [
    ("GET", "/v1/notifications/none", 404), ("DELETE", "/v1/notifications/none", 404), ("GET", "/v1/none", 404),
    ("GET", "/v1/notifications?limit=0", 400), ("GET", "/v1/devices?state=x", 400), ("GET", "/v1/apps?no=1", 400),
    ("GET", "/v1/media?limit=x", 400), ("DELETE", "/v1/media/none", 404), ("POST", "/v1/media", 400),
    ("POST", "/v1/broadcasts", 400), ("GET", "/v1/reports?from=x", 400), ("GET", "/v1/reports/messages/none", 404),
    ("GET", "/v1/events?format=x", 400), ("GET", "/v1/upstream?topic=none", 404), ("POST", "/v1/upstream/ack", 400),
    ("GET", "/v1/upstream/messages/x", 400), ("GET", "/v1/registrations/none/encryption-key", 404),
    ("GET", "/v1/hubs/none", 404),
])
def test_every_refusal_of_v1_is_a_problem(path, document, method, where, status):
    told, media, problem = by_http(path, method, where)
    assert (told, media, problem["status"]) == (status, "application/problem+json", status)
    Draft202012Validator(
        {"$ref": "#/components/schemas/Problem", "components": document["components"]}).validate(problem)
    assert problem["detail"]


def test_keys_have_their_rights_alone(path):
    def key(name, rights, *more):
        done = run_aldaba(
            "hub", "key", "create", path["hubName"], name, "--api", "--rights", rights, *more, "--json", "--data",
            path["data"])
        return json.loads(done.stdout)["bearer"]

    # The listener of the control API, which asks who one is, is in the connection string.
    secured = re.search(r"Endpoint=\w+://([^/;]+)", path["hub"]).group(1)
    api = SecuredControl(f"https://{secured}", path["ca"])

    def ask(method, rest, token, document=None):
        return api.request(
            method, f"/v1/hubs/{path['hubName']}{rest}", json.dumps(document) if document else None,
            {"authorization": f"Bearer {token}"} if token else {})

    reader, writer = key("reader", "Report", "--days", "1"), key("writer", "Listen")
    assert ask("GET", "/campaigns", reader)[0] == 200
    assert ask("GET", "/campaigns", writer)[0] == 403
    assert ask("POST", "/campaigns", reader, {"content": {"body": "x"}})[0] == 403
    assert ask("GET", "/installations", reader)[0] == 403
    made = {"platform": "aldaba", "pushChannel": "by key"}
    assert ask("PUT", "/installations/by-key", writer, made)[0] == 201
    assert ask("GET", "/campaigns", reader[:-1] + "x")[0] == 401
    assert ask("GET", "/campaigns", None)[0] == 401
    other = run_aldaba("hub", "create", "keyless", "--json", "--data", path["data"])
    assert json.loads(other.stdout)["hub"] == "keyless"
    assert api.request("GET", "/v1/hubs/keyless/campaigns", None, {"authorization": f"Bearer {reader}"})[0] == 401
    listed = run_aldaba("hub", "key", "list", path["hubName"], "--data", path["data"]).stdout
    assert "reader  Report of the API until " in listed and reader not in listed
    run_aldaba("hub", "key", "revoke", path["hubName"], "reader", "--data", path["data"])
    assert ask("GET", "/campaigns", reader)[0] == 401
    run_aldaba("hub", "key", "revoke", path["hubName"], "writer", "--data", path["data"])


def test_pages_and_export_have_every_recipient_once(own, path, control):
    put(own, 1203, "many")
    campaign = send(own, "many")
    own.wait_for_campaign(campaign, "Completed")
    names, cursor = [], ""
    while cursor is not None:
        _, page = own.ask("GET", f"/campaigns/{campaign}/recipients?limit=500&cursor={cursor}")
        names += [each["installationId"] for each in page["recipients"]]
        cursor = page.get("next")
    assert len(names) == len(set(names)) == 1203
    status, told = control.request("GET", f"/v1/hubs/{path['hubName']}/campaigns/{campaign}/export?format=csv")
    rows = list(csv.DictReader(io.StringIO(told.decode())))
    assert status == 200 and [each["installationId"] for each in rows] == names
    assert {each["end"] for each in rows} == {"refused"} and {each["reason"] for each in rows} == {"BadChannel"}
    _, told = control.request("GET", f"/v1/hubs/{path['hubName']}/campaigns/{campaign}/export")
    assert [json.loads(line)["installationId"] for line in told.splitlines()] == names
    report = own.ask("GET", f"/campaigns/{campaign}/report")[1]
    assert report["ends"] == {"refused": 1203}
    assert report["parts"]["platform"]["aldaba"]["targeted"] == 1203
    assert own.ask("GET", f"/campaigns/{campaign}/recipients?cursor=!")[0] == 400


def test_the_report_is_told_as_it_grows(own, path):
    put(own, 40, "live")
    campaign = send(own, "live", rate=20)
    address = urlsplit(path["http"])
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=30)
    connection.request("GET", f"/v1/hubs/{path['hubName']}/campaigns/{campaign}/live")
    answer = connection.getresponse()
    assert answer.getheader("content-type").startswith("text/event-stream")
    # The stream ends by itself, since nothing more can become known.
    reports = [
        json.loads(line.removeprefix(b"data: ")) for line in answer.read().splitlines() if line.startswith(b"data: ")]
    assert len(reports) >= 2
    for report in reports:
        if report["state"] != "Enqueued":
            assert sum(report["ends"].values()) == report["funnel"][0]["count"] == 40
    assert (reports[-1]["state"], reports[-1]["ends"]) == ("Completed", {"refused": 40})


def test_a_key_that_is_revoked_reads_its_live_report_no_longer(own, path):
    put(own, 60, "revoked")
    campaign = send(own, "revoked", rate=1)
    bearer = json.loads(run_aldaba(
        "hub", "key", "create", path["hubName"], "watcher", "--api", "--rights", "Report", "--json", "--data",
        path["data"]).stdout)["bearer"]
    secured = urlsplit("https://" + re.search(r"Endpoint=\w+://([^/;]+)", path["hub"]).group(1))
    connection = http.client.HTTPSConnection(
        secured.hostname, secured.port, timeout=20, context=verified_context(path["ca"]))
    connection.request(
        "GET", f"/v1/hubs/{path['hubName']}/campaigns/{campaign}/live", headers={"authorization": f"Bearer {bearer}"})
    answer = connection.getresponse()
    assert answer.status == 200 and answer.readline() == b"retry: 2000\n"
    run_aldaba("hub", "key", "revoke", path["hubName"], "watcher", "--data", path["data"])
    reports = [line for line in answer.read().splitlines() if line.startswith(b"data: ")]
    assert all(b"Completed" not in report for report in reports), "the stream ends with the key, not with the send"
    assert own.ask("GET", f"/campaigns/{campaign}/report")[1]["state"] != "Completed"
    assert own.ask("POST", f"/campaigns/{campaign}/withdraw")[0] == 200


def test_the_webhook_is_told_and_its_signature_holds(own, path):
    answers = iter([503])

    def is_report(asked):
        """Whether it is the numbers of a campaign that still runs, of some other test."""
        return json.loads(asked.body)["type"] == "campaign.report"

    with PushService(lambda asked: (204 if is_report(asked) else next(answers, 204), {}, b"")) as receiver:
        status, made = own.ask("PUT", "/webhook", {"url": receiver.url + "/events"})
        assert status == 200 and made["secret"].startswith("whsec_")
        assert "secret" not in own.ask("GET", "/webhook")[1]
        put(own, 1, "hook")
        campaign = send(own, "hook")
        own.wait_for_campaign(campaign, "Completed")
        wait_until(
            lambda: any(json.loads(each.body)["type"] == "send.ended" for each in receiver.asked[1:]),
            "the end is told")
        own.ask("DELETE", "/webhook")
    asked = [each for each in receiver.asked if not is_report(each)]
    # What was answered with 503 came again.
    assert json.loads(asked[0].body) == json.loads(asked[1].body)
    told = [json.loads(each.body) for each in asked[1:]]
    assert {each["type"] for each in told} == {"channel.dead", "send.ended"}
    [end] = [each for each in told if each["type"] == "send.ended"]
    assert end["data"]["send"] == campaign and end["hub"] == path["hubName"]
    report = own.ask("GET", f"/campaigns/{campaign}/report")[1]
    assert (end["data"]["funnel"], end["data"]["ends"]) == (report["funnel"], report["ends"])
    [dead] = [each for each in told if each["type"] == "channel.dead"]
    assert dead["data"]["installationId"] == "hook-0"
    for each in receiver.asked:
        seconds, digest = re.fullmatch(r"t=(\d+),v1=([0-9a-f]{64})", each.headers["aldaba-signature"]).groups()
        wanted = hmac.new(made["secret"].encode(), seconds.encode() + b"." + each.body, hashlib.sha256).hexdigest()
        assert hmac.compare_digest(digest, wanted)


def test_an_address_that_is_none_is_refused(own):
    status, problem = own.ask("PUT", "/webhook", {"url": "gopher://example.com"})
    assert (status, problem["pointer"]) == (400, "/url")
