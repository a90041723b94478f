"""A script that is an app, on an agent of a test's own."""

import sys
import uuid

from aldaba_process import REPOSITORY, run_aldaba
from own_agent import OwnAgent
from waiting import kill, wait_until

sys.path.insert(0, str(REPOSITORY / "Examples/PythonClient"))
from aldaba_notifications import Agent, AgentError  # noqa: E402

TEAM = "ALDABADEMO"


class ScriptApp:
    """Its agent and its device token; `options` are those of `aldaba app create`, `manifest` has further members."""

    def __init__(self, up, name, *options, environment=None, **manifest):
        self.id = f"com.example.script-{uuid.uuid4().hex[:8]}"
        run_aldaba("app", "create", self.id, "--team", TEAM, *options, "--data", up.data)
        self.agent = OwnAgent(up, name, environment)
        self._secret = self.agent.install(
            id=self.id, name="Script", team=TEAM, executable=sys.executable, authorization="granted",
            provesBySecret=True, **manifest)
        self.agent.start()
        self.token = wait_until(self._registered, "the script has its token")

    def connect(self, **options):
        return Agent(self.id, self._secret, self.agent.socket, **options)

    def _registered(self):
        with self.connect() as connection:
            try:
                return connection.register()
            except AgentError:
                return None

    def end_agent(self):
        """The agent ends as if the power failed; `agent.start()` has it back."""
        kill(self.agent.process)

    def stop(self):
        self.agent.stop()
