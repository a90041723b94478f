"""An app that the session bus starts: owns its name, answers `Activate`, and hears from the agent why.

    activated_app.py NAME APP SECRET-FILE SOCKET LOG

It runs in Debian's Python, which has the bus's bindings, and appends a line of JSON for each thing that happens to it.
"""

import json
import os
import sys
from pathlib import Path

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "Examples/PythonClient"))
from aldaba_notifications import Agent  # noqa: E402

NAME, APP, SECRET, SOCKET, LOG = sys.argv[1:]


def note(**what):
    with open(LOG, "a", encoding="utf-8") as log:
        log.write(json.dumps(what) + "\n")


class Application(dbus.service.Object):
    @dbus.service.method("org.freedesktop.Application", in_signature="a{sv}")
    def Activate(self, platform_data):
        note(activated={str(key): str(value) for key, value in platform_data.items()})
        GLib.idle_add(answer)


def answer():
    with Agent(APP, Path(SECRET).read_text(), SOCKET) as agent:
        response = agent.wait_for_response(20)
        note(action=response["action"], title=response["notification"]["content"]["title"])
        agent.ask({"type": "getSettings"}, "settings")
    loop.quit()


DBusGMainLoop(set_as_default=True)
note(started=os.environ.get("DBUS_STARTER_ADDRESS") is not None)
loop = GLib.MainLoop()
name = dbus.service.BusName(NAME, dbus.SessionBus())
application = Application(name, "/" + NAME.replace(".", "/").replace("-", "_"))
loop.run()
