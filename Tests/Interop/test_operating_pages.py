"""The pages on libraries and on an app of one's own, run as they stand."""

import pytest

from aldaba_process import AldabaUp
from pages import blocks, run_python, run_shell

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
    done = run_python(lines[0] + lines[number], folder)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith(LIBRARIES[library]), done.stdout
    if library == "firebase-admin":
        assert done.stdout.splitlines()[1:] == ["subscribed: 1"]


@pytest.mark.parametrize("left_out", ["FCM_URL =", "_fcm_topic_url ="])
def test_without_a_line_of_the_page_firebase_admin_would_go_elsewhere(pointed, left_out):
    """Shows that the connections are shut, and that each line is needed."""
    folder, _ = pointed
    lines = blocks("point-your-library.md", "python")
    number = list(LIBRARIES).index("firebase-admin") + 1
    shortened = "\n".join(line for line in lines[number].splitlines() if left_out not in line)
    assert shortened != lines[number].rstrip("\n")
    # Without the proxy that answers nothing the library asks Google itself.
    with pytest.raises(AssertionError, match="connections elsewhere: .*googleapis.com"):
        run_python(lines[0] + "del os.environ['HTTPS_PROXY']\n" + shortened, folder)


def test_an_app_of_ones_own(everything, tmp_path):
    done = run_shell("run-your-own-app.md", tmp_path, everything["data"])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "handed" in done.stdout and "com.example.mine" in done.stdout
