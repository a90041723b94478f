"""A script that is an app and kills itself in its handlers: `dying_app.py FOLDER`.

FOLDER has `secret`, `log` (a line for everything that is handed to a run) and perhaps `wait`: then it waits for what
comes, and otherwise ends once nothing waits for it.
"""

import os
import signal
import sys
from pathlib import Path

sys.path.insert(0, os.environ["ALDABA_CLIENT"])
from aldaba_notifications import Agent  # noqa: E402

FATAL = {"deliver", "respond"}


def main(folder):
    with open(folder / "log", "a", buffering=1) as log:
        agent = Agent(
            os.environ["ALDABA_APP_ID"], (folder / "secret").read_text(), os.environ["ALDABA_AGENT_SOCKET"],
            run=str(os.getpid()))
        log.write(f"start {'launched' if agent.welcome.get('launchNotification') else ''}\n")
        agent.send({"type": "channel", "command": "open"})
        # What waits was handed over before this is answered.
        agent.send({"type": "center", "command": "pending", "request": 1})
        while True:
            message = agent.receive()
            if message["type"] in FATAL or message.get("event") == "message":
                log.write(f"{message['type']}\n")
                os.kill(os.getpid(), signal.SIGKILL)
            if message["type"] == "centerAnswered" and not (folder / "wait").exists():
                log.write("nothing\n")
                return


main(Path(sys.argv[1]))
