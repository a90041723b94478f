"""SIGKILL, ten times the server and ten times the agent, while a provider sends: nothing lost, nothing twice."""

import time
import uuid
from collections import Counter

import pytest

from persistent_sender import PersistentSender
from waiting import kill, wait_for_lines, wait_until

COUNT, KILLS_EACH, PER_SECOND = 5000, 10, 170
APART = 2.6  # seconds between two deaths of one child: `up` gives up after five in ten seconds


@pytest.mark.timeout(240)
def test_what_was_accepted_reaches_the_app_exactly_once_through_twenty_kills(up, path, provider, control, send):
    app = up.pids()["app"]
    ids = [str(uuid.uuid4()) for _ in range(COUNT)]
    sender = PersistentSender(provider, path, ids, PER_SECOND)
    sender.start()

    deaths = 2 * KILLS_EACH
    last = {"serve": 0.0, "agent": 0.0}
    for number in range(deaths):
        child = ("serve", "agent")[number % 2]
        enough = (number + 1) * COUNT // (deaths + 2)
        sender.wait_for(
            lambda: len(sender.accepted) >= enough and time.monotonic() - last[child] >= APART,
            f"{enough} accepted before kill {number + 1}")
        old = up.pids()[child]
        kill(old)
        last[child] = time.monotonic()
        up.wait_for_new_pid(child, old)

    sender.wait_for(lambda: len(sender.accepted) == COUNT, "all are accepted")
    sender.join(10)
    assert up.pids()["app"] == app, "the app lived on"
    assert Counter(sender.accepted) == Counter(ids)

    wait_for_lines(path["appLog"], lambda lines: set(ids) <= set(lines), "the app was handed all of them", 60)
    assert_each_once(path, ids)

    waiting = set(ids)

    # Handed in every one; an acknowledgement that a kill cut off is noted at the next login, and so after it.
    def all_are_handed():
        waiting.difference_update({each for each in list(waiting)[:500] if "handed" in control.states(each)})
        return not waiting

    wait_until(all_are_handed, "every timeline says handed", 60)

    _, marker, _ = send(path["deviceToken"], {"aps": {"alert": "the last one"}})
    wait_for_lines(path["appLog"], lambda lines: marker in lines, "one more is handed")
    assert_each_once(path, ids + [marker])


def assert_each_once(path, ids):
    handed = Counter(open(path["appLog"]).read().split())
    assert {each: count for each, count in handed.items() if count > 1} == {}, "none twice"
    assert set(handed) == set(ids), "all, and nothing else"
