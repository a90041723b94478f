"""Scripts written for libnotify's notify-send, with `aldaba notify` in place of it: Debian's notify-send is beside it."""

import shutil
import subprocess

import pytest

from aldaba_process import BINARY, clean_environment, run_aldaba
from own_agent import OwnAgent
from screen import Screen
from waiting import wait_until

NOTIFY_SEND = shutil.which("notify-send")
pytestmark = pytest.mark.desktop


@pytest.fixture(scope="module")
def screen():
    made = Screen(clean_environment(), server="mock")
    yield made
    made.stop()


@pytest.fixture(scope="module")
def agent(up, screen):
    made = OwnAgent(up, "notify-send", screen.environment)
    made.start()
    yield made
    made.stop()


def notified(screen, title):
    """The arguments of the newest `Notify` with a title, and its number."""
    wait_until(lambda: screen.numbers(title), f"{title} is on the bus")
    return [each for each in screen.notified() if each[3] == title][-1], screen.numbers(title)[-1]


def both(screen, agent, title, *options):
    """What a desktop is asked to show by notify-send and by `aldaba notify`, with the same options."""
    shown = []
    for command in ([NOTIFY_SEND], [BINARY, "notify"]):
        name = f"{title} by {command[0].rsplit('/', 1)[-1] if isinstance(command[0], str) else 'aldaba'}"
        socket = [] if command == [NOTIFY_SEND] else ["--agent-socket", agent.socket]
        done = subprocess.run(
            [*map(str, command), *options, name, "Its text", *socket], env=screen.environment, capture_output=True,
            text=True, timeout=30)
        assert done.returncode == 0, done.stderr
        shown.append((notified(screen, name)[0], done.stdout))
    return shown


@pytest.mark.parametrize("options, level", [
    (["-u", "low"], 0), (["--urgency=normal"], 1), (["-h", "byte:urgency:0"], 0), ([], 1),
    (["--hint=string:desktop-entry:gimp", "-c", "device.added", "-e", "-t", "3000"], 1),
])
def test_the_same_options_show_the_same(screen, agent, options, level):
    (theirs, _), (ours, _) = both(screen, agent, f"Options {' '.join(options)}", *options)
    assert ours[4] == theirs[4] == "Its text"
    # Nothing of a terminal's is less urgent than normal: it would be in the list alone.
    assert (theirs[6].get("urgency", 1), ours[6].get("urgency", 1)) == (level, 1)


def test_a_printed_id_replaces(screen, agent):
    def ours(*options):
        return agent.aldaba("notify", *options).stdout.strip()

    first = ours("-p", "Download", "10 %")
    assert ours("-p", "-r", first, "Download", "20 %") == first
    wait_until(lambda: [each[4] for each in screen.notified() if each[3] == "Download"] == ["10 %", "20 %"], "both came")
    assert len(set(screen.numbers("Download"))) == 1


@pytest.mark.parametrize("options, labels, chosen, printed", [
    (["-A", "yes=Deploy", "--action=no=Wait"], ["Deploy", "Wait"], "Deploy", "yes"),
    (["--action", "First", "-A", "Second"], ["First", "Second"], "Second", "1"),
])
def test_actions_wait_and_print_the_one_that_was_chosen(screen, agent, options, labels, chosen, printed):
    title = f"Actions {printed}"
    asking = subprocess.Popen(
        [BINARY, "notify", *options, title, "--agent-socket", agent.socket], env=screen.environment,
        stdout=subprocess.PIPE, text=True)
    shown, number = notified(screen, title)
    ids = dict(zip(shown[5][1::2], shown[5][::2]))
    assert set(labels) <= set(ids)
    screen._ask_mock(f"mock.EmitSignal('', 'ActionInvoked', 'us', [dbus.UInt32({number}), {ids[chosen]!r}])")
    assert asking.communicate(timeout=20)[0] == f"{printed}\n"


def test_the_id_is_printed_before_the_answer(screen, agent):
    done = agent.aldaba("notify", "-w", "-p", "-t", "300", "Nobody answers", check=False)
    assert done.returncode == 7 and len(done.stdout.split()) == 1


@pytest.mark.parametrize("options, words", [
    (["-u", "urgent"], "low, normal, critical"), (["-h", "urgency"], "type:name:value"), (["-h", "text:a:b"], "type:name:value"),
])
def test_wrong_values_are_named(agent, options, words):
    done = agent.aldaba("notify", *options, "Title", check=False)
    assert done.returncode == 2 and words in done.stderr


def test_help_is_there_by_its_long_name():
    assert "--hint" in run_aldaba("notify", "--help").stdout
