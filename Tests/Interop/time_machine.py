"""An agent with clocks that are not this machine's (libfaketime): they begin where a test says, run as fast, and are set."""

import json
import os
import signal
import subprocess
import sys
import time
from datetime import datetime, timezone
from zoneinfo import ZoneInfo

import pytest

from aldaba_process import ARTEFACTS, BINARY, REPOSITORY, clean_environment, run_aldaba
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import Agent  # noqa: E402

FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
APP = "com.example.clock"


def utc(text):
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


class TimeMachine:
    """An `aldaba agent` whose clocks begin where a test says and run as fast; its data outlives its runs."""

    def __init__(self, folder, name):
        self.folder, self.data = folder, folder / "data"
        self.log, self._clock = ARTEFACTS / f"{name}.log", folder / "clock"
        self._process = None
        self.data.mkdir(mode=0o700)
        draft = folder / "app.json"
        draft.write_text(json.dumps({
            "id": APP, "name": "Clock", "team": "ALDABADEMO", "executable": sys.executable, "provesBySecret": True,
            "authorization": "granted", "lifecycle": "always"}))
        told = run_aldaba("agent", "app", "install", draft, "--data", self.data).stdout.split()
        self._secret = open(told[1]).read()

    def start(self, begin=None, zone="UTC", speed=1, **variables):
        """Begins a run; without `begin` with this machine's clocks."""
        environment = clean_environment(TZ=zone) | variables
        if begin is not None:
            local = begin.astimezone(ZoneInfo(zone) if not zone.startswith(":") else self._zone_of_file(zone))
            environment |= {
                "LD_PRELOAD": FAKETIME, "FAKETIME_NO_CACHE": "1", "FAKETIME_DISABLE_SHM": "1",
                "FAKETIME": f"@{local:%Y-%m-%d %H:%M:%S} x{speed}"}
        self._run(environment)

    def start_settable(self, begin, **variables):
        """Begins a run whose wall clock `set_clock` sets; what counts since the system's start goes on, as on any machine.

        That the clock is set the system does not say, for which the timer would be the machine's own: somebody has to.
        """
        self.set_clock(begin)
        self._run(clean_environment(TZ="UTC") | variables | {
            "LD_PRELOAD": FAKETIME, "FAKETIME_NO_CACHE": "1", "FAKETIME_DISABLE_SHM": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1", "FAKETIME_TIMESTAMP_FILE": str(self._clock)})

    def set_clock(self, to):
        draft = self._clock.with_suffix(".new")
        draft.write_text(f"{to.timestamp() - time.time():+.3f}\n")
        draft.rename(self._clock)

    def _run(self, environment):
        with open(self.log, "ab") as log:
            # In the first program that has it libfaketime sets variables, which moves them away from the arguments, by
            # which Swift finds these: so that is `env`, which runs the agent in its place.
            self._process = subprocess.Popen(
                ["/usr/bin/env", str(BINARY), "agent", "--data", str(self.data), "--presenter", "headless",
                 "--log-level", "debug"], env=environment,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)
        wait_until(lambda: self.aldaba("agent", "status", check=False).returncode == 0, "the agent answers")

    @staticmethod
    def _zone_of_file(zone):
        with open(zone[1:], "rb") as file:
            return ZoneInfo.from_file(file)

    def app(self):
        return Agent(APP, self._secret, str(self.data / "agent.sock"))

    def aldaba(self, *arguments, **options):
        return run_aldaba(*arguments, "--data", self.data, **options)

    def pending(self):
        """The next times of what waits, by identifier."""
        told = json.loads(self.aldaba("notifications", "pending", "--json").stdout)
        return {item["identifier"]: [datetime.fromtimestamp(time / 1000, timezone.utc) for time in item["times"]]
                for item in told}

    def waiting(self, identifier, fired):
        """The next times of one that has fired so often."""
        told = json.loads(self.aldaba("notifications", "pending", "--json").stdout)
        return [datetime.fromtimestamp(time / 1000, timezone.utc) for item in told
                if (item["identifier"], item["fired"]) == (identifier, fired) for time in item["times"]]

    def live(self, seconds):
        """Lets the run go on for so long."""
        with pytest.raises(subprocess.TimeoutExpired):
            self._process.wait(seconds)

    def end(self, by=signal.SIGTERM):
        if self._process is not None and self._process.poll() is None:
            os.kill(self._process.pid, by)
            self._process.wait(20)
        self._process = None


def calendar(**fields):
    return {"type": "calendar", "components": fields, "repeats": True}


def schedule(machine, **triggers):
    with machine.app() as app:
        add(app, **triggers)


def add(app, **triggers):
    """Schedules requests over an open connection; each is answered once it and what came before it are stored."""
    for identifier, trigger in triggers.items():
        app.center("add", notification={
            "identifier": identifier, "content": {"title": identifier}, "trigger": trigger})


def heard(machine, seconds):
    """What the app is handed within so long: identifiers and times."""
    with machine.app() as app:
        found = []
        try:
            while True:
                got = app.wait_for_notification(seconds)
                found.append((got["identifier"], datetime.fromtimestamp(got["date"] / 1000, timezone.utc)))
        except TimeoutError:
            return found
