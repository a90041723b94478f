"""The server that is measured, with two teams: the bystander's, and the neighbour's, from which the loads come."""

import json
import os
import resource
from pathlib import Path

from own_server import OwnServer
from target import Target

TEAMS = {"bystander": ("BYSTANDER1", "com.example.bystander"), "neighbour": ("NEIGHBOUR1", "com.example.neighbour")}
DEVICES = 16
MEMORY_LIMIT = 8 << 30  # bytes of addresses; a load that takes more ends the server, not the machine
FLAGS = ("--proxies=none", "--webhook-networks=127.0.0.0/8")  # loopback addresses count as any other


class MeasuredServer:
    """A server of one load's own, `aldaba serve` as in production; `target` is what others see of it."""

    def __init__(self, folder, name):
        self.server = OwnServer(folder, f"bystander-{name}", *FLAGS, log_level="warning")
        self._folder = Path(folder)
        self.end = None  # how the server ended, where that was not well

    def __enter__(self):
        told = {name: self._tenant(*names) for name, names in TEAMS.items()}
        self.server.start()
        resource.prlimit(self.server.process.pid, resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        for name, tenant in told.items():
            account = self._folder / f"{name}.json"
            self.server.aldaba("service-account", "create", "--team", tenant["team"], "--output", account)
            tenant["account"] = str(account)
        told |= self.server.ready | {"data": str(self.server.data)}
        for name in TEAMS:
            target = Target(told)
            told[name]["devices"] = target.enrol(DEVICES)
            told[name]["tokens"] = target.register(told[name]["devices"], getattr(target, name))
        self.target = Target(told)
        return self

    def _tenant(self, team, topic):
        hub = team.lower()
        self.server.add_app(topic, team)
        key = json.loads(self.server.aldaba("key", "create", "--team", team, "--json").stdout)
        self.server.aldaba("hub", "create", hub, "--app", topic)
        return {"team": team, "topic": topic, "hub": hub, "key": key["path"], "keyId": key["keyId"]}

    def memory(self):
        """Resident memory in MiB; 0 when the server has ended."""
        try:
            pages = int(Path(f"/proc/{self.server.process.pid}/statm").read_text().split()[1])
        except (OSError, IndexError):
            return 0
        return pages * os.sysconf("SC_PAGE_SIZE") >> 20

    def __exit__(self, *_):
        process = self.server.process
        if (code := process.poll()) is not None:
            self.end = f"the server ended with {code} by itself"
            process.stdout.close()
            return
        try:
            self.server.stop()
            self.server.log.unlink()
        except AssertionError as fault:
            self.end = str(fault).split("\n")[0]
