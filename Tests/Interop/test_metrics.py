"""What a server and an agent tell those who watch them, as Prometheus' own client for Python reads it."""

import json
import time
import urllib.request
from pathlib import Path

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families as read_openmetrics
from prometheus_client.parser import text_string_to_metric_families as read_text

from mcs_client import RECEIPTS, Device, Identity, encode
from own_agent import OwnAgent
from own_server import ENROLMENT_KEY, TEAM, TOPIC, OwnServer
from aldaba_process import clean_environment
from waiting import wait_until

HOST = "127.0.0.2"  # an address that is not the usual one
OPENMETRICS = "application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2"


def fetch(url, accept=None):
    request = urllib.request.Request(url, headers={"accept": accept} if accept else {})
    with urllib.request.urlopen(request, timeout=10) as answer:
        return answer.headers["content-type"], answer.read().decode()


class Scrape:
    def __init__(self, url):
        kind, text = fetch(url)
        assert kind == "text/plain; version=0.0.4; charset=utf-8"
        self.families = {family.name: family for family in read_text(text)}
        self.samples = {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in self.families.values() for sample in family.samples}

    def __call__(self, name, **labels):
        return self.samples.get((name, tuple(sorted(labels.items()))))


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    made = OwnServer(
        tmp_path_factory.mktemp("metrics"), "test_metrics", "--metrics-host", HOST, "--log-format", "json")
    made.add_app()
    made.key()
    with made as running:
        yield running


@pytest.fixture(scope="module")
def address(server):
    assert server.addresses["metricsHost"] == HOST
    return f"http://{HOST}:{server.addresses['metricsPort']}"


@pytest.fixture
def scrape(address):
    return lambda: Scrape(f"{address}/metrics")


@pytest.fixture
def identity(server):
    return Identity(*server.control().enrol())


@pytest.fixture
def token(server, identity):
    return server.control().token((identity.device, identity.secret), TOPIC, TEAM, "production")


def push(server, token):
    with_provider = server.provider()
    try:
        answer = with_provider.post(token, b'{"aps":{"alert":"x","mutable-content":1}}')
        assert answer.status == 200, answer
    finally:
        with_provider.close()
    return answer.apns_id


def test_every_family_has_its_help_and_both_formats_say_the_same(address, scrape):
    families = scrape().families
    assert len(families) > 40
    assert [name for name, family in families.items() if not family.documentation] == []
    kind, text = fetch(f"{address}/metrics", OPENMETRICS)
    assert kind == "application/openmetrics-text; version=1.0.0; charset=utf-8"
    opened = {family.name: family for family in read_openmetrics(text)}
    assert set(opened) == set(families)
    assert all(opened[name].type == family.type for name, family in families.items())
    assert all(opened[name].documentation == family.documentation for name, family in families.items())


def test_the_process_the_version_and_the_store_are_told(server, address, scrape):
    read = scrape()
    (version,) = [labels for name, labels in read.samples if name == "aldaba_build_info"]
    status = Path(f"/proc/{server.process.pid}/status").read_text().splitlines()
    (resident,) = [int(line.split()[1]) * 1024 for line in status if line.startswith("VmRSS:")]
    assert read("process_resident_memory_bytes") == pytest.approx(resident, rel=0.5)
    assert abs(read("process_open_fds") - server.open_descriptors()) < 8
    assert 0 < read("process_cpu_seconds_total") <= server.processor_seconds()
    assert 0 <= time.time() - read("process_start_time_seconds") < 600
    assert read("aldaba_store_bytes", file="database") > 0 and read("aldaba_store_bytes", file="log") is not None
    health, ready = json.loads(fetch(f"{address}/health")[1]), json.loads(fetch(f"{address}/ready")[1])
    assert health == {"status": "ok", **dict(version)} and ready == {"status": "ready", **dict(version)}
    assert json.loads(server.control().request("GET", "/ready")[1]) == ready


def test_what_waits_is_counted_and_how_long_everything_took(server, scrape, identity, token):
    before = scrape()
    push(server, token)
    wait_until(lambda: scrape()("aldaba_notifications_waiting") == 1, "the sweep has passed it", 30)
    wait_until(lambda: scrape()("aldaba_oldest_waiting_seconds") > 1, "it grows older", 30)
    with Device(server.ready["mcs"], server.ready["ca"]) as device:
        device.login(identity)
        assert scrape()("aldaba_connections", listener="device") >= 1
        device.notification()
        device.acknowledge_stream(device.received_count)
        wait_until(lambda: scrape()("aldaba_notifications_waiting") == 0, "nothing waits", 30)
    read = scrape()
    for name in ("acceptance", "commit", "delivery"):
        assert read(f"aldaba_{name}_seconds_count") > before(f"aldaba_{name}_seconds_count"), name
    assert read("aldaba_delivery_seconds_sum") - before("aldaba_delivery_seconds_sum") > 1
    assert read("aldaba_oldest_waiting_seconds") == 0
    wait_until(
        lambda: scrape()("aldaba_notification_ends_total", reason="delivered")
        == before("aldaba_notification_ends_total", reason="delivered") + 1, "its end is counted")
    assert read("aldaba_notification_ends_total", reason="expired") == 0


def test_providers_connections_are_counted(server, scrape, token):
    wait_until(lambda: scrape()("aldaba_connections", listener="apns") == 0, "none is open")
    provider = server.provider()
    try:
        assert provider.post(token, b'{"aps":{"alert":"x"}}').status == 200
        assert scrape()("aldaba_connections", listener="apns") == 1
    finally:
        provider.close()
    wait_until(lambda: scrape()("aldaba_connections", listener="apns") == 0, "it is closed")


def test_extensions_are_counted_by_app_and_version_once_each(server, scrape, identity, token):
    def told(version, outcome):
        return scrape()("aldaba_app_extensions_total", app=TOPIC, version=version, outcome=outcome)

    push(server, token)
    with Device(server.ready["mcs"], server.ready["ca"]) as device:
        device.login(identity)
        got = device.notification()
        now = int(time.time() * 1000)
        for name, state, note in (
                ("r1", "extended(crashed, 5 ms)", "exit code 3; version 2.1"),
                ("r2", "extended(crashed, 5 ms)", "exit code 3; version 2.1"),
                *((f"v{number}", f"extended(changed, {number} ms)", f"version 9.{number}") for number in range(9))):
            receipt = encode((1, int(got.persistent_id)), (2, state), (3, now), (4, "agent"), (5, note))
            device.send_upstream(name, RECEIPTS, encode((1, receipt)))
            device.wait_confirmed(device.sent_count)
    assert told("2.1", "crashed") == 1, "the second time it is the same receipt"
    assert [told(f"9.{number}", "changed") for number in range(7)] == [1] * 7
    assert told("9.7", "changed") is None and told("other", "changed") == 2


def test_the_log_is_json_and_says_where_providers_are_heard(server):
    lines = [json.loads(line) for line in server.log_lines()]
    assert all({"time", "level", "logger", "message"} <= set(line) for line in lines)
    listening = [line["metadata"]["aldaba.address"] for line in lines if line["message"] == "listening for providers"]
    assert listening == [f"127.0.0.1:{server.addresses['apnsPort']}"]


def test_an_agent_tells_its_own(server, tmp_path):
    environment = clean_environment() | {
        "ALDABA_ENROLMENT_KEY": ENROLMENT_KEY, "ALDABA_PRESENTER": "headless", "ALDABA_AGENT_METRICS_PORT": "0",
        "ALDABA_LOG_FORMAT": "json"}
    agent = OwnAgent(server, "test_metrics", environment)
    agent.start()
    try:
        def port():
            lines = [json.loads(line) for line in agent.log.read_text().splitlines() if line.startswith("{")]
            found = [line for line in lines if line["message"] == "metrics are served"]
            return int(found[0]["metadata"]["aldaba.address"].rsplit(":", 1)[1]) if found else None

        wait_until(port, "the agent says where its metrics are")
        scrape = lambda: Scrape(f"http://127.0.0.1:{port()}/metrics")  # noqa: E731
        wait_until(lambda: scrape()("aldaba_agent_connected") == 1, "it is logged in", 60)
        read = scrape()
        assert (read("aldaba_agent_sessions_total"), read("aldaba_agent_has_screen")) == (1, 0)
        assert [name for name, family in read.families.items() if not family.documentation] == []
        assert read("process_resident_memory_bytes") > 0
    finally:
        agent.stop()
