"""A database that is damaged, and disks that take nothing: a start says what is wrong and what to do."""

import os
import subprocess
from pathlib import Path

import pytest

from aldaba_process import run_aldaba
from own_server import OwnServer
from small_disk import SmallDisk

PAGE = 4096


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    server = OwnServer(tmp_path_factory.mktemp("damaged"), "damaged_store")
    server.add_app()
    server.start().stop()
    return server


@pytest.mark.parametrize(("damage", "reason"), [
    (lambda good: good[:PAGE] + os.urandom(len(good) - PAGE), "malformed"),
    (lambda good: good[: len(good) // 2] + os.urandom(len(good) - len(good) // 2), "malformed"),
    (lambda good: good[: len(good) // 2 // PAGE * PAGE], "malformed"),
    (lambda good: b"x" * len(good), "file is not a database"),
], ids=["all but the first page", "the second half", "cut", "something else"])
def test_a_start_on_a_damaged_database_says_what_to_do_and_changes_nothing(server, damage, reason):
    path = server.data / "server.sqlite"
    good = path.read_bytes()
    try:
        path.write_bytes(bad := damage(good))
        with pytest.raises(AssertionError) as refused:
            server.start()
        assert f"aldaba: the database {path} is damaged: " in str(refused.value)
        assert reason in str(refused.value) and "aldaba restore" in str(refused.value)
        assert path.read_bytes() == bad, "it is left for whoever saves what can be saved"
        told = run_aldaba("doctor", "--data", server.data, check=False)
        assert told.returncode == 1 and f"the database {path} is damaged" in told.stdout
    finally:
        path.write_bytes(good)
    assert f"database {path}: in order" in run_aldaba("doctor", "--data", server.data, check=False).stdout


@pytest.fixture
def disk(tmp_path):
    small = SmallDisk(tmp_path)
    yield small
    small.end()


def serve(server, disk):
    """A server's run that must end by itself; what it said."""
    done = run_aldaba(
        "serve", "--data", disk.folder / "data", "--certificate", server.certificates.server, "--certificate-key",
        server.certificates.key, *(f"--{name}-port=0" for name in ("apns", "device", "control", "metrics")),
        prefix=disk.prefix, check=False)
    assert done.returncode == 1, done
    return done.stderr


def test_a_start_on_a_disk_that_takes_nothing_says_so(server, disk):
    data = disk.folder / "data"
    Path(disk.outside(data)).mkdir(mode=0o700)
    run_aldaba("app", "create", "com.example.small", "--team", "ALDABADEMO", "--data", data, prefix=disk.prefix)

    def doctor():
        return run_aldaba("doctor", "--data", data, prefix=disk.prefix, check=False).stdout

    disk.fill()
    assert "database or disk is full; free some space" in serve(server, disk)
    assert "the disk is full" in doctor()
    disk.free()
    remount = [*disk.prefix, "mount", "-o"]
    subprocess.run([*remount, "remount,ro", disk.folder], check=True)
    assert f"cannot write into {data}: Read-only file system" in serve(server, disk)
    assert "mounted read-only" in doctor()
    subprocess.run([*remount, "remount,rw", disk.folder], check=True)
    assert "problem  space" not in doctor()
