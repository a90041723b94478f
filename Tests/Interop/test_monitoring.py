"""The rules and the dashboard for those who watch several servers, in Debian's Prometheus: the rules' own tests, and a
Prometheus that watches two servers whose faults it must tell.
"""

import json
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path
from urllib.parse import urlencode

import pytest
import yaml

from aldaba_process import REPOSITORY
from nats_server import PROGRAM
from postgres_server import PROGRAMS
from test_nodes import Nodes, accept, alert, metric
from waiting import kill, wait_until

PROMETHEUS, PROMTOOL = shutil.which("prometheus"), shutil.which("promtool")
FILES = REPOSITORY / "Packaging/monitoring"

pytestmark = pytest.mark.skipif(
    PROMETHEUS is None or PROMTOOL is None, reason="Debian's prometheus is not installed")
needs_servers = pytest.mark.skipif(
    PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed")


def promtool(*arguments):
    return subprocess.run(
        [PROMTOOL, *map(str, arguments)], cwd=FILES, capture_output=True, text=True, timeout=60, check=False)


def alarms():
    return yaml.safe_load((FILES / "alarms.yaml").read_text())


def queries():
    """The dashboard's expressions, with the title of the panel of each, and the interval that Grafana puts in."""
    board = json.loads((FILES / "dashboard.json").read_text())
    return [
        (f"{panel['title']}, {target['refId']}", target["expr"].replace("$__rate_interval", "1m"))
        for panel in board["panels"] for target in panel["targets"]]


class Prometheus:
    """A Prometheus of a test's own on loopback, which looks at servers every second."""

    def __init__(self, servers, rules):
        self.folder = Path(tempfile.mkdtemp(prefix="aldaba-prometheus-"))
        (self.folder / "rules.yaml").write_text(yaml.safe_dump(rules))
        addresses = [server.ready["metrics"].removeprefix("http://") for server in servers]
        (self.folder / "prometheus.yaml").write_text(yaml.safe_dump({
            "global": {"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
            "rule_files": ["rules.yaml"],
            "scrape_configs": [{"job_name": "aldaba", "static_configs": [{"targets": addresses}]}],
        }))
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            self.address = "127.0.0.1:%d" % listener.getsockname()[1]
        with open(self.folder / "log", "wb") as log:
            self.process = subprocess.Popen(
                [PROMETHEUS, f"--config.file={self.folder}/prometheus.yaml", f"--storage.tsdb.path={self.folder}/data",
                 f"--web.listen-address={self.address}"], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        wait_until(self._is_ready, "Prometheus is ready")

    def _is_ready(self):
        assert self.process.poll() is None, (self.folder / "log").read_text()
        try:
            with urllib.request.urlopen(f"http://{self.address}/-/ready", timeout=5) as answer:
                return answer.status == 200
        except (OSError, urllib.error.HTTPError):
            return False

    def ask(self, path, **parameters):
        url = f"http://{self.address}/api/v1/{path}?{urlencode(parameters)}"
        with urllib.request.urlopen(url, timeout=10) as answer:
            return json.load(answer)["data"]

    def values(self, expression):
        """The values of an expression now, without those that are not a number."""
        found = self.ask("query", query=expression)["result"]
        return [float(each["value"][1]) for each in found if each["value"][1] != "NaN"]

    def rules(self):
        return {rule["name"]: rule for group in self.ask("rules")["groups"] for rule in group["rules"]}

    def raised(self):
        """The names of the alarms that are pending or firing."""
        return {name for name, rule in self.rules().items() if rule["state"] != "inactive"}

    def targets(self):
        """How many servers were found the last time."""
        return sum(target["health"] == "up" for target in self.ask("targets")["activeTargets"])

    def end(self):
        self.process.terminate()
        self.process.wait(20)
        shutil.rmtree(self.folder)


def test_prometheus_takes_the_rules_and_each_fires_when_it_should():
    checked = promtool("check", "rules", "alarms.yaml")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    tested = promtool("test", "rules", "alarms_test.yaml")
    assert tested.returncode == 0, tested.stdout + tested.stderr


def test_each_rule_has_series_by_which_it_fires_and_by_which_it_does_not():
    cases = [
        case for test in yaml.safe_load((FILES / "alarms_test.yaml").read_text())["tests"]
        for case in test["alert_rule_test"]]
    names = {rule["alert"] for rule in alarms()["groups"][0]["rules"]}
    assert {case["alertname"] for case in cases if case.get("exp_alerts")} == names
    assert {case["alertname"] for case in cases if not case.get("exp_alerts")} == names


def test_prometheus_takes_every_expression_of_the_dashboard(tmp_path):
    assert not [expression for _, expression in queries() if "$" in expression], "a variable that is not replaced"
    rules = [{"record": f"panel:{number}", "expr": expression} for number, (_, expression) in enumerate(queries())]
    (tmp_path / "board.yaml").write_text(yaml.safe_dump({"groups": [{"name": "board", "rules": rules}]}))
    checked = promtool("check", "rules", tmp_path / "board.yaml")
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.fixture
def nodes(tmp_path):
    made = Nodes(tmp_path, "test_monitoring", 2)
    yield made
    for server in made.servers:
        server.kill()
    made.nats.remove()
    made.database.remove()


@pytest.fixture
def prometheus(nodes):
    """A Prometheus with the rules, whose patience is taken away."""
    rules = alarms()
    for rule in rules["groups"][0]["rules"]:
        rule["for"] = "0s"
    made = Prometheus(nodes.servers, rules)
    yield made
    made.end()


def send_foreign_message(nodes):
    """Somebody else publishes to the subject of the first server."""
    cluster = nodes.database.query("SELECT content FROM shared_secret WHERE name = 'cluster'")
    with socket.create_connection(("127.0.0.1", nodes.nats.port), 10) as connection:
        connection.sendall(f"CONNECT {{}}\r\nPUB aldaba.{cluster}.0 5\r\nhello\r\nPING\r\n".encode())
        received = b""
        while b"PONG" not in received:
            piece = connection.recv(65536)
            assert piece, received
            received += piece


@needs_servers
def test_prometheus_tells_the_faults_of_two_servers_and_the_dashboard_has_data(nodes, prometheus):
    first, second = nodes.servers
    wait_until(lambda: prometheus.targets() == 2 and prometheus.values("max(aldaba_nodes)") == [2], "it watches both")
    wait_until(lambda: all(rule["health"] == "ok" for rule in prometheus.rules().values()), "it evaluates the rules")
    assert set(prometheus.rules()) == {rule["alert"] for rule in alarms()["groups"][0]["rules"]}

    device, token = nodes.enrol(1)
    provider = nodes.provider(0)
    with nodes.connected(1, device) as channel:
        wait_until(lambda: provider.post(token, {"aps": {"alert": "0"}}).status == 200, "the key is known")
        empty = {title: expression for title, expression in queries()}

        def push():
            accept(provider, token, "x")
            channel.acknowledge_selectively([channel.notification().persistent_id])
            for title in [title for title, expression in empty.items() if prometheus.values(expression)]:
                del empty[title]
            return not empty

        try:
            wait_until(push, "each panel has data", 30)
        finally:
            assert not empty, "these panels show nothing"
        wait_until(lambda: prometheus.raised() == set(), "no alarm is raised of servers without faults")

        send_foreign_message(nodes)
        wait_until(lambda: prometheus.raised() == {"AldabaForeignMessages"}, "the one foreign message is told")

        nodes.nats.kill()
        wait_until(lambda: "AldabaWithoutNATS" in prometheus.raised(), "that NATS is gone is told")
        nodes.nats.start()
        wait_until(lambda: "AldabaWithoutNATS" not in prometheus.raised(), "that NATS is back is told")

        nodes.database.end(signal.SIGQUIT)
        assert provider.post(token, {"aps": {"alert": "refused"}}).status == 503
        wait_until(lambda: "AldabaStoreFails" in prometheus.raised(), "that the store fails is told")
        nodes.database.start()
        wait_until(lambda: provider.post(token, {"aps": {"alert": "after"}}).status == 200, "the store works again")
        while alert(channel.notification()) != "after":
            pass
    wait_until(nodes.know_each_other, "the nodes know each other")

    kill(second.process.pid)
    second.process.wait(10)
    wait_until(lambda: "AldabaServerIsGone" in prometheus.raised(), "that a server is gone is told", 30)
    second.start()
    wait_until(nodes.know_each_other, "the nodes know each other")
    wait_until(lambda: "AldabaServerIsGone" not in prometheus.raised(), "that it is back is told")
    assert prometheus.values("max(max_over_time(aldaba_nodes[1h]))") == [2], "it was never counted twice"

    first.stop()
    second.stop()
    wait_until(lambda: "AldabaNoServer" in prometheus.raised(), "that none is left is told")
    provider.close()


@needs_servers
def test_what_waits_is_told_by_the_one_server_that_counts_it(nodes):
    """The first server counts; while it is away the second one does, and forgets the number afterwards."""
    def waiting():
        running = [server for server in nodes.servers if server.process.poll() is None]
        return [metric(server, "aldaba_notifications_waiting") for server in running]

    first = nodes.servers[0]
    device, token = nodes.enrol(0)
    provider = nodes.provider(0)
    wait_until(lambda: provider.post(token, {"aps": {"alert": "x"}}).status == 200, "the key is known")
    provider.close()
    wait_until(lambda: waiting() == [1, 0], "the first server has counted")
    first.stop()
    wait_until(lambda: waiting() == [1], "the second server has counted")
    first.start()
    with nodes.connected(0, device) as channel:
        channel.acknowledge_selectively([channel.notification().persistent_id])
        wait_until(lambda: waiting() == [0, 0], "no server says that something waits")
