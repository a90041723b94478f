"""A part of the other tests on PostgreSQL, and on three servers behind one port; all of them run there by hand (CONTRIBUTING.md)."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nats_server import PROGRAM
from postgres_server import PROGRAMS

HERE = Path(__file__).parent
PARTS = {
    "postgres": ("test_aioapns.py", "test_firebase_admin.py", "test_relay_documents.py"),
    "nodes": ("test_firebase_topics.py", "test_relay_resumption.py"),
}

pytestmark = [
    pytest.mark.skipif(PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed"),
    pytest.mark.skipif("ALDABA_TEST_STORE" in os.environ, reason="all tests run on another store"),
]


@pytest.mark.parametrize(("store", "file"), [(store, file) for store, files in PARTS.items() for file in files])
def test_a_part_of_the_tests_passes_on_another_store(store, file, tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "-p", "no:cacheprovider", f"--basetemp={tmp_path / 'own'}",
         str(HERE / file)],
        env=os.environ | {"ALDABA_TEST_STORE": store}, capture_output=True, text=True, timeout=170, check=False)
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout[-8000:] + done.stderr[-2000:]
