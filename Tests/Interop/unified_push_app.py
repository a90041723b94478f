"""An app of UnifiedPush, by the specification: owns its name, has a connector, and registers where it is told to.

    unified_push_app.py SERVICE LOG [--version N] [--register TOKEN] [--vapid KEY] [--description TEXT] [--unregister TOKEN]
                        [--answer taken|error|never|once] [--until EVENT]

It runs in Debian's Python, which has the bus's bindings, and appends a line of JSON for each thing that happens to it. With
`--until` it ends after an event of that name.
"""

import argparse
import base64
import json
import os

import dbus
import dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib

parser = argparse.ArgumentParser()
parser.add_argument("service")
parser.add_argument("log")
parser.add_argument("--version", type=int, default=2)
parser.add_argument("--register")
parser.add_argument("--vapid")
parser.add_argument("--description", default="")
parser.add_argument("--unregister")
parser.add_argument("--answer", default="taken")
parser.add_argument("--until")
options = parser.parse_args()


def note(event, **what):
    with open(options.log, "a", encoding="utf-8") as log:
        log.write(json.dumps({"event": event, **what}) + "\n")
    if event == options.until:
        GLib.idle_add(loop.quit)


def message_came(token, message, identifier, succeed, fail):
    note("message", token=str(token), id=str(identifier), message=base64.b64encode(bytes(message)).decode())
    if options.answer == "error":
        fail(dbus.DBusException("not now", name="com.example.Error.NotNow"))
    elif options.answer == "taken":
        succeed()
    elif options.answer == "once":
        options.answer = "taken"
        fail(dbus.DBusException("later", name="com.example.Error.Later"))


class Connector2(dbus.service.Object):
    INTERFACE = "org.unifiedpush.Connector2"

    @dbus.service.method(INTERFACE, "a{sv}", "a{sv}", async_callbacks=("succeed", "fail"))
    def Message(self, args, succeed, fail):
        empty = dbus.Dictionary({}, signature="sv")
        message_came(args["token"], args["message"], args["id"], lambda: succeed(empty), fail)

    @dbus.service.method(INTERFACE, "a{sv}", "a{sv}")
    def NewEndpoint(self, args):
        note("endpoint", token=str(args["token"]), endpoint=str(args["endpoint"]))
        return dbus.Dictionary({}, signature="sv")

    @dbus.service.method(INTERFACE, "a{sv}", "a{sv}")
    def Unregistered(self, args):
        note("unregistered", token=str(args["token"]))
        return dbus.Dictionary({}, signature="sv")


class Connector1(dbus.service.Object):
    INTERFACE = "org.unifiedpush.Connector1"

    @dbus.service.method(INTERFACE, "says", "", async_callbacks=("succeed", "fail"))
    def Message(self, token, message, identifier, succeed, fail):
        message_came(token, message, identifier, succeed, fail)

    @dbus.service.method(INTERFACE, "ss", "")
    def NewEndpoint(self, token, endpoint):
        note("endpoint", token=str(token), endpoint=str(endpoint))

    @dbus.service.method(INTERFACE, "s", "")
    def Unregistered(self, token):
        note("unregistered", token=str(token))


def call(method, *arguments):
    interface = dbus.Interface(distributor, f"org.unifiedpush.Distributor{options.version}")
    getattr(interface, method)(
        *arguments,
        reply_handler=lambda *answer: note(method, answer=[plain(value) for value in answer]),
        error_handler=lambda error: note(method, error=error.get_dbus_name(), text=error.get_dbus_message()))


def plain(value):
    return {str(key): str(each) for key, each in value.items()} if isinstance(value, dict) else str(value)


def begin():
    if options.unregister:
        entries = dbus.Dictionary({"token": options.unregister}, signature="sv")
        call("Unregister", entries if options.version == 2 else options.unregister)
    if options.register:
        entries = {"service": options.service, "token": options.register, "description": options.description}
        if options.vapid:
            entries["vapid"] = options.vapid
        if options.version == 2:
            call("Register", dbus.Dictionary(entries, signature="sv"))
        else:
            call("Register", options.service, options.register, options.description)


DBusGMainLoop(set_as_default=True)
loop = GLib.MainLoop()
bus = dbus.SessionBus()
connector = (Connector2 if options.version == 2 else Connector1)(bus, "/org/unifiedpush/Connector")
name = dbus.service.BusName(options.service, bus)
note("started", activated=os.environ.get("DBUS_STARTER_ADDRESS") is not None)
if options.register or options.unregister:
    distributor = bus.get_object(
        "org.unifiedpush.Distributor.aldaba", "/org/unifiedpush/Distributor", introspect=False)
    GLib.idle_add(begin)
loop.run()
