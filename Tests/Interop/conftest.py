"""Fixtures of the foreign tests: the whole path as one program, a provider, and `send`."""

import pytest

from aldaba_process import BINARY, AldabaUp
from control_client import ControlClient
from provider import Provider
from time_machine import TimeMachine

failed_modules = pytest.StashKey()


def pytest_sessionstart(session):
    session.config.stash[failed_modules] = set()
    if not BINARY.exists():
        pytest.exit(f"{BINARY} is not there: build it with `swift build`, or name one by ALDABA_BIN", 4)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed:
        item.config.stash[failed_modules].add(item.module.__name__)
    return report


@pytest.fixture(scope="module")
def up(request):
    """A running `aldaba up --ephemeral --json` for this module (an AldabaUp)."""
    module = request.module.__name__
    running = AldabaUp.ephemeral(name=module)
    yield running
    failed = module in request.config.stash[failed_modules]
    if failed:
        running.keep_logs()
    code = running.stop()
    assert code == 0, f"aldaba up ended with {code} after SIGTERM\n{running.log_tail()}"
    assert not running.data.exists(), "the temporary folder of --ephemeral was not removed"
    if not failed:
        running.drop_logs()


@pytest.fixture(scope="module")
def path(up):
    """The JSON object that `aldaba up` printed: apns, mcs, http, metrics, ca, key, keyId, teamId, topic, ..."""
    return up.ready


@pytest.fixture(scope="module")
def provider(path):
    """A provider with the printed key."""
    sender = Provider(path)
    yield sender
    sender.close()


@pytest.fixture(scope="module")
def control(path):
    """The control API on loopback."""
    client = ControlClient(path["http"])
    yield client
    client.close()


@pytest.fixture(scope="module")
def send(provider):
    """`send(token, payload, **headers) -> (status, apns_id, reason)`; `apns_id=…` names the header `apns-id`."""

    def send_one(token, payload, **headers):
        answer = provider.post(token, payload, **headers)
        return answer.status, answer.apns_id, answer.reason

    return send_one


@pytest.fixture
def machine(request, tmp_path):
    """An agent with clocks of the test's, which is not started yet (a TimeMachine)."""
    made = TimeMachine(tmp_path, request.module.__name__)
    yield made
    made.end()
