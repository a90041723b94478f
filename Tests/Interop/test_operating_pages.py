"""The pages on libraries and on an app of one's own, run as they stand."""

import subprocess
import sys

import pytest

from aldaba_process import AldabaUp, clean_environment
from pages import blocks, run_shell

# What each example in Python prints when the server took its notification.
LIBRARIES = {
    "aioapns": "aioapns: 200", "pushjack": "pushjack: []",
    "firebase-admin": "firebase-admin: projects/aldabademo/messages/", "pyfcm": "pyfcm: projects/aldabademo/messages/",
    "async-firebase": "async-firebase: projects/aldabademo/messages/", "azure": "azure-notification-hub: ",
    "notificationhubs": "notificationhubs: 201",
}


@pytest.fixture(scope="module")
def everything():
    """A run with the old binary interface too."""
    running = AldabaUp.ephemeral("--legacy-port", "0", "--legacy-feedback-port", "0", name="operating_pages")
    yield running.ready
    assert running.stop() == 0
    running.drop_logs()


@pytest.fixture(scope="module")
def pointed(everything, tmp_path_factory):
    """The folder in which the page's commands have run, and what they printed."""
    folder = tmp_path_factory.mktemp("libraries")
    return folder, run_shell("point-your-library.md", folder, everything["data"])


def test_command_lines_are_pointed_here(pointed):
    _, done = pointed
    assert done.returncode == 0, done.stdout + done.stderr
    assert ":status: 200" in done.stdout and "PHP: sent" in done.stdout


def test_every_example_is_tried():
    assert len(blocks("point-your-library.md", "python")) == len(LIBRARIES) + 1


@pytest.mark.parametrize("number, library", list(enumerate(LIBRARIES, 1)), ids=list(LIBRARIES))
def test_libraries_are_pointed_here(pointed, number, library):
    """Each in a process of its own, since some keep their addresses in the module."""
    folder, _ = pointed
    lines = blocks("point-your-library.md", "python")
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", lines[0] + lines[number]], cwd=folder, capture_output=True, text=True,
        timeout=60, env=clean_environment())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(LIBRARIES[library]), done.stdout


def test_an_app_of_ones_own(everything, tmp_path):
    done = run_shell("run-your-own-app.md", tmp_path, everything["data"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "handed" in done.stdout and "com.example.mine" in done.stdout
