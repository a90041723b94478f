"""The plugin for pytest: one server for the run, a namespace for each test."""

import os
import secrets
import string
import sys

import pytest

from aldaba._hub import Hub
from aldaba._program import program
from aldaba._senders import Apns, Fcm, SenderKeys
from aldaba.client import AldabaError, Server

RUN = pytest.StashKey()
TEAM_CHARACTERS = string.ascii_uppercase + string.digits


class Run:
    """The server of a run, which begins when a test first needs it, and the keys of its senders."""

    def __init__(self, config):
        self._told = getattr(config, "workerinput", {}).get("aldaba")
        self._started = None
        self._server = None
        self.keys = SenderKeys()

    @property
    def is_surrounded(self):
        """Whether the tests run inside `aldaba run`."""
        return "ALDABA_HTTP" in os.environ

    @property
    def server(self):
        if self._server is None:
            self._server = self._found() or self._start()
        return self._server

    def _found(self):
        """The server around the run, or that of the controller of pytest-xdist."""
        if self.is_surrounded:
            return Server(os.environ["ALDABA_HTTP"], os.environ.get("ALDABA_DATA"))
        if self._told is None:
            return None
        if "fault" in self._told:
            raise RuntimeError(self._told["fault"])
        return Server(self._told["http"], self._told["data"])

    def _start(self):
        self._started = Server.start()
        return self._started

    def told_to_worker(self):
        """The values that a worker of pytest-xdist needs. A run without a server goes on until a test needs one."""
        try:
            return {"http": self.server.http, "data": str(self.server.data)}
        except (OSError, RuntimeError) as fault:
            return {"fault": str(fault)}

    def stop(self):
        self.keys.remove()
        if self._started is not None:
            self._started.stop()


def pytest_addoption(parser):
    group = parser.getgroup("aldaba", "Aldaba: APNs and FCM on your own machine")
    text = "run all tests under `aldaba run`, where the hosts of Apple and Google are Aldaba's server"
    group.addoption("--aldaba-run", action="store_true", default=None, help=text)
    parser.addini("aldaba_run", text, type="bool", default=False)


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config):
    """Begins the same command again under `aldaba run`."""
    wanted = config.getoption("aldaba_run") or config.getini("aldaba_run")
    if wanted and "ALDABA_HTTP" not in os.environ and not hasattr(config, "workerinput"):
        try:
            path = program()
        except OSError as fault:
            raise pytest.UsageError(f"--aldaba-run: {fault}") from None
        sys.stdout.flush()
        sys.stderr.flush()
        os.execv(path, [path, "run", "--quiet", "--", sys.executable, *sys.orig_argv[1:]])


def pytest_configure(config):
    config.addinivalue_line("markers", "aldaba_own_server: starts a server for this test alone, such as one whose clock it sets")
    config.stash[RUN] = Run(config)


def pytest_unconfigure(config):
    if RUN in config.stash:
        config.stash[RUN].stop()


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node):
    """Tells a worker of pytest-xdist where the server of the run is."""
    node.workerinput["aldaba"] = node.config.stash[RUN].told_to_worker()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """Shows with a failed test what came in it."""
    report = yield
    part = getattr(item, "funcargs", {}).get("aldaba")
    if report.when == "call" and report.failed and part is not None:
        try:
            text = "\n".join(entry.line() for entry in part.received.all()) or "none"
        except AldabaError as fault:
            text = str(fault)
        report.sections.append(("requests that Aldaba received", text))
    return report


def _serving(start):
    """The result of `start`; a test that needs it fails where there is none."""
    try:
        return start()
    except (OSError, RuntimeError) as fault:
        pytest.fail(f"there is no server of Aldaba's: {fault}", pytrace=False)


@pytest.fixture(scope="session")
def aldaba_server(request):
    """The server of the run (an `aldaba.Server`)."""
    return _serving(lambda: request.config.stash[RUN].server)


@pytest.fixture
def aldaba(request):
    """This test's part of the server (an `aldaba.Namespace`): `received`, `fault(…)`, `clock`, `reset()`, `name`, `server`."""
    own = _serving(Server.start) if request.node.get_closest_marker("aldaba_own_server") else None
    # Under `aldaba run` the code under test may send with credentials of its own, which name no test.
    is_named = not request.config.stash[RUN].is_surrounded or {"apns", "fcm"} & set(request.fixturenames)
    try:
        part = (own or request.getfixturevalue("aldaba_server")).namespace(_team() if is_named else None)
        yield part
        part.reset()
    finally:
        if own is not None:
            own.stop()


def _team():
    return "T" + "".join(secrets.choice(TEAM_CHARACTERS) for _ in range(9))


@pytest.fixture
def received(aldaba):
    """The requests that came in this test: `all()`, `last`, `wait_for(title="…")`."""
    return aldaba.received


@pytest.fixture
def apns(request, aldaba):
    """The members that a client of APNs needs, with a team of this test's own (an `Apns`)."""
    return Apns.of(aldaba, request.config.stash[RUN].keys)


@pytest.fixture
def fcm(request, aldaba, tmp_path_factory):
    """The members that a client of FCM needs, with a project of this test's own (an `Fcm`)."""
    return Fcm.of(aldaba, request.config.stash[RUN].keys, tmp_path_factory.mktemp("aldaba"))


@pytest.fixture
def hub(aldaba):
    """A notification hub with an app of this test's own (a `Hub`): `connection_string`, `name`, `ca`, `app`, `new_token()`,
    `wait_for(…)`."""
    return Hub.made(aldaba.server, aldaba.name or _team())


class Device:
    """A device that takes what it gets. `token` is its token, for APNs or FCM, of the app for which it is used first."""

    def __init__(self, received):
        self.token = secrets.token_hex(32)
        self._received = received

    def wait_for(self, *, timeout=5, **criteria):
        """Waits until it got a notification that matches; the request by which that was sent."""
        __tracebackhide__ = True
        return self._received.wait_for(timeout=timeout, **{"token": self.token, "state": "acked"} | criteria)


@pytest.fixture
def device(received):
    """A new device (a `Device`): `token`, `wait_for(title="…")`."""
    return Device(received)
