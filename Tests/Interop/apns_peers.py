"""Libraries for APNs that others wrote, each in a program of `peers/`: what they tell of pushes, and what arrives."""

import json
import os
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from aldaba_process import BINARY, HERE, clean_environment

# A name of a program in `peers/`, and the package that it needs. ALDABA_PEERS names another folder with the packages.
PACKAGES = {"kalyke": "kalyke", "mopyapns": "apns2", "pyapns_client": "pyapns_client", "aapns": "aapns"}
FOLDER = Path(os.environ.get("ALDABA_PEERS", Path(sys.prefix) / "peers"))
TOPIC = "com.example.App"
# The program with its pushes, then a wait until so many are with their devices, then what came.
SCRIPT = """
acked=$1 && shift
[ ! -s faults ] || while read -r fault; do aldaba fault add $fault >&2; done < faults
"$@" < pushes > output || exit 1
aldaba received --state acked --wait "$acked" --timeout 30 --json > devices
aldaba received --limit 1000 --json > received
"""


def program(peer, how, settings):
    """The command that sends pushes by a peer: `each` of them in turn, or `many` as the library's users do."""
    return [sys.executable, "-W", "ignore", str(HERE / "peers" / f"by_{peer}.py"), how, json.dumps(settings)]


def lines(pushes):
    return "".join(json.dumps(push) + "\n" for push in pushes)


def outcomes(text):
    return [json.loads(line) for line in text.splitlines()]


def marked(peer, *values):
    """A parameter of a test that is skipped where the peer is not installed."""
    missing = not (FOLDER / PACKAGES[peer]).is_dir()
    return pytest.param(peer, *values, marks=pytest.mark.skipif(missing, reason=f"no {peer} in {FOLDER}"), id=peer)


def sent(peer, settings, pushes, authority):
    """The outcomes of pushes that a peer sends to the server that the settings name, one after the other."""
    done = subprocess.run(
        program(peer, "each", settings), input=lines(pushes), capture_output=True, text=True, timeout=60, check=False,
        env=clean_environment(PYTHONPATH=str(FOLDER), SSL_CERT_FILE=authority))
    assert done.returncode == 0, done.stderr
    return outcomes(done.stdout)


@dataclass(frozen=True)
class Burst:
    """`told` counts the outcomes that the library told; `arrived` how often each push got to its device, by title."""

    told: Counter
    arrived: Counter
    connections: int


def burst(folder, peer, pushes, acked, flags=(), faults=()):
    """Many pushes to Apple's own host, under `aldaba run`; waits until so many are with their devices."""
    settings = {"key": "AuthKey_ABC123DEFG.p8", "key_id": "ABC123DEFG", "team": "DEF123GHIJ", "certificate": "ck.pem"}
    (folder / "pushes").write_text(lines(pushes))
    (folder / "faults").write_text("".join(fault + "\n" for fault in faults))
    done = subprocess.run(
        [str(BINARY), "run", "--quiet", *flags, "--", "sh", "-c", SCRIPT, "sh", str(acked),
         *program(peer, "many", settings)],
        cwd=folder, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
        env=clean_environment(PYTHONPATH=str(FOLDER)))
    assert done.returncode == 0, done.stderr
    received = outcomes((folder / "received").read_text())
    return Burst(
        Counter(each["result"] for each in outcomes((folder / "output").read_text())),
        Counter(each["title"] for each in received if each["state"] == "acked"),
        len({each["connection"] for each in received}))
