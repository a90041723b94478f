"""A running `aldaba agent` that knows of no server."""

import json
import os
import signal
import subprocess
import sys

from aldaba_process import ARTEFACTS, BINARY, REPOSITORY, clean_environment, run_aldaba
from waiting import wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import Agent  # noqa: E402

FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"
SCRIPT = "com.example.script"


class Alone:
    """A process with a data folder below `folder`; `environment` is added to a clean one.

    Its clocks run `speed` times as fast as this machine's (libfaketime).
    """

    def __init__(self, folder, *flags, name="test_alone", environment=None, speed=None):
        self.data, self.socket = folder / "data", str(folder / "data" / "agent.sock")
        self.log = ARTEFACTS / f"{name}.agent.log"
        command = [str(BINARY), "agent", "--data", str(self.data), *map(str, flags)]
        variables = clean_environment() | (environment or {})
        if speed is not None:
            variables |= {"LD_PRELOAD": FAKETIME, "FAKETIME_DISABLE_SHM": "1", "FAKETIME": f"+0 x{speed}"}
            # In the first program that has it libfaketime sets variables, which moves them away from the arguments, by
            # which Swift finds these: so that is `env`, which runs the agent in its place.
            command.insert(0, "/usr/bin/env")
        ARTEFACTS.mkdir(exist_ok=True)
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(
                command, env=variables, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        try:
            wait_until(lambda: self.aldaba("agent", "status", check=False).returncode == 0, "the agent answers")
        except BaseException:
            self.process.kill()
            self.process.wait(10)
            raise

    def aldaba(self, *arguments, **options):
        return run_aldaba(*arguments, "--data", self.data, **options)

    def app(self, **manifest):
        """Installs a script as an app and connects as it."""
        draft = self.data / "draft.json"
        draft.write_text(json.dumps({
            "id": SCRIPT, "name": "Script", "team": "ALDABADEMO", "executable": sys.executable, "provesBySecret": True,
            "authorization": "granted", **manifest}))
        told = self.aldaba("agent", "app", "install", draft, check=False)
        assert told.returncode == 0, told.stderr
        return Agent(SCRIPT, open(told.stdout.split()[1]).read(), self.socket)

    def stop(self):
        os.kill(self.process.pid, signal.SIGTERM)
        assert self.process.wait(20) == 0
