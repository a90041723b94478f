"""Quotas behind keys that are in every copy of an app: what each face of the hub answers, and what stays possible."""

import json
import uuid

import pytest
import requests
from azure_notification_hub.auth import create_sas_token

from aldaba_process import SERVERS, run_aldaba
from hub_clients import OwnHub, backend

ATOM = """<entry xmlns="http://www.w3.org/2005/Atom"><content type="application/xml"><AppleRegistrationDescription
 xmlns="http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"><DeviceToken>{}</DeviceToken>
</AppleRegistrationDescription></content></entry>"""


class Phone:
    """An app with the key that is in every copy of it."""

    def __init__(self, path, name, connection):
        self.root = f"{path['http']}/{name}"
        key_name = connection.split("SharedAccessKeyName=")[1].split(";")[0]
        self.token = create_sas_token(key_name, connection.split("SharedAccessKey=")[1], self.root.lower() + "/")

    def ask(self, method, rest, body=None):
        return requests.request(
            method, f"{self.root}/{rest}?api-version=2020-06", data=body, timeout=20,
            headers={"Authorization": self.token})

    def put(self, name, **more):
        installation = {"installationId": name, "platform": "apns", "pushChannel": uuid.uuid4().hex} | more
        return self.ask("PUT", f"installations/{name}", json.dumps(installation))


@pytest.fixture
def made(path):
    name = "quota-" + uuid.uuid4().hex[:8]
    return name, json.loads(run_aldaba("hub", "create", name, "--json", "--data", path["data"]).stdout)


def limit(path, name, *options):
    return json.loads(run_aldaba("hub", "limit", name, "--json", *options, "--data", path["data"]).stdout)


def test_a_full_hub_refuses_new_installations_alone(path, control, made):
    name, told = made
    phone = Phone(path, name, told["listen"])
    assert limit(path, name)["mostInstallations"] == 1_000_000
    limit(path, name, "--installations", "3")
    assert [phone.put(f"p{number}").status_code for number in range(5)] == [200, 200, 200, 403, 403]
    refused = phone.put("more")
    assert "<Code>403</Code>" in refused.text and "QuotaExceeded" in refused.text
    assert "retry-after" not in refused.headers, "with it SDKs would try again and again"
    assert phone.ask("POST", "registrations", ATOM.format("AB" * 16)).status_code == 403
    assert phone.put("p0", tags=["new"]).status_code == 200
    status, problem = OwnHub({"hubName": name}, control).ask(
        "PUT", "/installations/more", {"platform": "apns", "pushChannel": "CDEF"})
    assert (status, problem["code"]) == (403, "quotaExceeded") and "aldaba hub limit" in problem["detail"]
    key = json.loads(run_aldaba(
        "hub", "key", "create", name, "app", "--backend", "--json", "--data", path["data"]).stdout)["apikey"]
    document = {"installationId": "more", "platform": "apns", "pushChannel": "CDEF"}
    assert backend(control, key, "PUT", "installations", document)[0] == 403
    assert limit(path, name)["installations"] == 3
    assert phone.ask("DELETE", "installations/p1").status_code == 204
    assert phone.put("more").status_code == 200


def test_new_tags_have_an_end(path, made):
    name, told = made
    phone = Phone(path, name, told["listen"])
    limit(path, name, "--tags", "100")
    answers = [phone.put(f"p{number}", tags=[f"t{number}-{each}" for each in range(60)]) for number in range(10)]
    assert [answer.status_code for answer in answers] == [200] + [403] * 9
    assert phone.put("p5", tags=["t0-1", "mine"]).status_code == 200
    assert phone.put("p6", tags=[str(each) for each in range(61)]).status_code == 400, "as Azure, 60 of one installation"
    full = requests.get(f"{path['http']}/v1/hubs/{name}", timeout=10).json()
    assert full["distinctTags"] == 61


def test_a_key_in_an_app_writes_so_often(path, made):
    name, told = made
    phone, own = Phone(path, name, told["listen"]), Phone(path, name, told["full"])
    assert limit(path, name, "--writes", "1")["writesPerSecond"] == 1
    answers = [phone.put("p0") for _ in range(60)]
    taken = [answer for answer in answers if answer.status_code == 200]
    refused = [answer for answer in answers if answer.status_code == 429]
    assert len(taken) + len(refused) == 60 and 30 // SERVERS <= len(taken) <= 45, len(taken)
    assert "Throttled" in refused[0].text and int(refused[0].headers["retry-after"]) >= 1
    assert phone.ask("GET", "installations/p0").status_code == 200, "only writes are counted"
    assert own.put("p1").status_code == 200, "the team's own key is not"
    scraped = requests.get(f"{path['metrics']}/metrics", timeout=10).text
    counted = next(line for line in scraped.splitlines() if line.startswith('aldaba_hub_refusals_total{quota="key"}'))
    assert float(counted.split()[-1]) >= len(refused)


@pytest.mark.parametrize("option", ["--installations", "--tags", "--writes"])
def test_a_quota_that_is_none_is_refused(path, made, option):
    for number in ("0", "-1", "100000001"):
        failed = run_aldaba("hub", "limit", made[0], f"{option}={number}", "--data", path["data"], check=False)
        assert failed.returncode != 0 and f"{option}: 1 to 100000000 would be right" in failed.stderr
