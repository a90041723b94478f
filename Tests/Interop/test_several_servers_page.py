"""The page on several servers, as somebody follows it, and the files for Prometheus and Grafana."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
import yaml

from aldaba_process import BINARY, clean_environment
from nats_server import PROGRAM
from pages import blocks
from postgres_server import PROGRAMS
from waiting import wait_until

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.skipif(PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed")
def test_the_page_s_commands(tmp_path):
    up, status, _bucket = blocks("several-servers.md", "sh")
    [shown] = blocks("several-servers.md", "text")
    (programs := tmp_path / "bin").mkdir()
    (programs / "aldaba").symlink_to(BINARY)
    ports = {f"ALDABA_{name}_PORT": "0" for name in ("APNS", "DEVICE", "CONTROL", "HTTP", "METRICS")}
    environment = clean_environment(PATH=f"{programs}:{os.environ['PATH']}", **ports)
    running = subprocess.Popen(
        ["sh", "-eux", "-c", up], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
        start_new_session=True)

    def told():
        done = subprocess.run(
            ["sh", "-eux", "-c", status], cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False)
        return re.sub(r"version \S+", "version", done.stdout).strip().splitlines()

    wanted = re.sub(r"version \S+", "version", shown).replace("1 devices", "N devices").replace("0 devices", "N devices")
    try:
        wait_until(
            lambda: [re.sub(r"\d devices", "N devices", line) for line in told()] == wanted.strip().splitlines(),
            "all servers run", 60)
        wait_until(lambda: sum("  1 devices" in line for line in told()) == 1, "one of them has the device", 30)
    finally:
        os.killpg(running.pid, signal.SIGTERM)
        running.wait(30)
        subprocess.run(["rm", "-rf", *Path("/var/tmp").glob("aldaba-nodes-*")], check=True)


def test_alarms_and_dashboard_use_metrics_that_exist():
    families = (ROOT / "Sources/aldaba/Monitoring/MetricFamilies.swift").read_text()
    known = set(re.findall(r'"(aldaba_\w+)"', families))
    rules = yaml.safe_load((ROOT / "Packaging/monitoring/alarms.yaml").read_text())["groups"][0]["rules"]
    board = json.loads((ROOT / "Packaging/monitoring/dashboard.json").read_text())
    expressions = [rule["expr"] for rule in rules] + [panel["targets"][0]["expr"] for panel in board["panels"]]
    for expression in expressions:
        for name in re.findall(r"aldaba_\w+", expression):
            assert name.removesuffix("_bucket") in known, f"{expression}: {name}"
    assert all(rule["annotations"]["summary"] for rule in rules) and len({rule["alert"] for rule in rules}) == len(rules)
