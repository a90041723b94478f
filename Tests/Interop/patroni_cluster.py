"""PostgreSQL on three hosts of a test's own network, under Debian's Patroni with etcd, each with a small disk.

One is the primary, whose commits wait for one of the standbys.
"""

import contextlib
import json
import shutil
import subprocess
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path

from network_cluster import run
from postgres_server import PROGRAMS
from small_disk import SmallDisk
from waiting import kill, wait_until

PATRONI, ETCD = shutil.which("patroni"), shutil.which("etcd")
AS_NOBODY = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"]
DISK = "400m"
# The times that Docs/several-servers.md reckons with: a host that is silent for `ttl` seconds is no primary any more.
RULES = {
    "ttl": 15, "loop_wait": 5, "retry_timeout": 5, "synchronous_mode": True, "synchronous_mode_strict": True,
    "postgresql": {
        "use_pg_rewind": True, "use_slots": True,
        "parameters": {
            "max_connections": 100, "shared_buffers": "32MB", "wal_keep_size": "16MB", "max_wal_size": "64MB",
            "min_wal_size": "8MB", "wal_sender_timeout": "5s", "wal_receiver_timeout": "5s"}},
}


class DatabaseHost:
    """A host with Patroni, PostgreSQL, and the disk of its data, which outlives both."""

    def __init__(self, host, etcd, folder):
        self.host, self.name = host, host.name
        self.folder = folder / host.name
        for path in (self.folder, self.folder / "disk"):
            path.mkdir()
        self.log = self.folder / "log"
        self.disk = SmallDisk(self.folder / "disk")
        shutil.chown(self.folder, "nobody", "nogroup")
        run(*self.disk.prefix, "mount", "-o", f"remount,size={DISK}", self.disk.folder)
        Path(self.disk.outside(self.disk.folder)).chmod(0o711)
        data = Path(self.disk.outside(self.disk.folder / "data"))
        data.mkdir(mode=0o700)
        shutil.chown(data, "nobody", "nogroup")
        self._settings = self.folder / "patroni.json"
        self._settings.write_text(json.dumps(self._configuration(etcd)))

    def _configuration(self, etcd):
        return {
            "scope": "aldaba", "name": self.name, "etcd3": {"hosts": [etcd]},
            "restapi": {"listen": f"{self.host.address}:8008", "connect_address": f"{self.host.address}:8008"},
            "bootstrap": {
                "dcs": RULES,
                "initdb": [{"encoding": "UTF8"}, {"locale": "C"}, {"wal-segsize": "1"}, "data-checksums"],
                "pg_hba": [f"host {name} all {self.host.network.range} trust" for name in ("all", "replication")]},
            "postgresql": {
                "listen": f"{self.host.address}:5432", "connect_address": f"{self.host.address}:5432",
                "data_dir": str(self.disk.folder / "data"), "bin_dir": str(PROGRAMS),
                "pgpass": str(self.folder / "pgpass"),
                "basebackup": [{"checkpoint": "fast"}], "parameters": {"unix_socket_directories": ""},
                "authentication": {
                    "superuser": {"username": "postgres"}, "replication": {"username": "replicator"},
                    "rewind": {"username": "postgres"}}},
        }

    def start(self):
        self.host.start([*self.disk.prefix, *AS_NOBODY, PATRONI, self._settings], self.log, cwd="/")

    def kill_postmaster(self):
        """Patroni is left, and starts another one."""
        pid = Path(self.disk.outside(self.disk.folder / "data" / "postmaster.pid")).read_text().split("\n")[0]
        kill(int(pid))

    def ask(self, path, body=None):
        """What Patroni's interface answers; nothing where it does not."""
        request = urllib.request.Request(
            f"http://{self.host.address}:8008/{path}", data=json.dumps(body).encode() if body else None)
        try:
            with urllib.request.urlopen(request, timeout=30 if body else 1) as answer:
                return answer.read().decode()
        except (urllib.error.URLError, OSError):
            return ""


class PatroniCluster:
    """Three of them, and etcd on another host."""

    def __init__(self, network):
        self.folder = Path(tempfile.mkdtemp(prefix="aldaba-patroni-"))
        self.folder.chmod(0o755)
        self.etcd = network.add("etcd")
        address = f"http://{self.etcd.address}"
        self.etcd.start(
            [ETCD, "--data-dir", self.folder / "etcd", "--listen-client-urls", f"{address}:2379",
             "--advertise-client-urls", f"{address}:2379", "--listen-peer-urls", f"{address}:2380",
             "--initial-advertise-peer-urls", f"{address}:2380", "--initial-cluster", f"default={address}:2380"],
            self.folder / "etcd.log")
        self.hosts, self.commits = [], []
        for number in range(3):
            self.hosts.append(DatabaseHost(network.add(f"database{number}"), f"{self.etcd.address}:2379", self.folder))
        self.url = f"postgresql://postgres@{','.join(each.host.address for each in self.hosts)}/postgres"

    def start(self):
        for each in self.hosts:
            each.start()
        wait_until(self.is_whole, "PostgreSQL has a primary, a synchronous standby and another one", 90)
        return self

    def members(self):
        """The members as the first host that answers knows them, by their names."""
        for each in self.hosts:
            if told := each.ask("cluster"):
                return {member["name"]: member for member in json.loads(told)["members"]}
        return {}

    def is_whole(self):
        members = self.members().values()
        return (
            sorted(member["role"] for member in members) == ["leader", "replica", "sync_standby"]
            and all(member["state"] in ("running", "streaming") for member in members)
            and len({member.get("timeline") for member in members}) == 1)

    def host_of(self, role):
        """The host of the member that is `leader`, `sync_standby` or `replica`; `None` where there is none now."""
        members = self.members()
        return next((each for each in self.hosts if members.get(each.name, {}).get("role") == role), None)

    def switch_over(self):
        """As `patronictl switchover` does."""
        leader, standby = self.host_of("leader"), self.host_of("sync_standby")
        told = leader.ask("switchover", {"leader": leader.name, "candidate": standby.name})
        assert "Successfully" in told, f"Patroni said {told!r}"

    def commit(self, stop):
        """Commits again and again, and records when, until it is told to stop: what is the database's own doing."""
        address = self.url.removesuffix("postgres") + "probe?target_session_attrs=read-write&connect_timeout=2"
        statements = "CREATE TABLE IF NOT EXISTS probe(at timestamptz); INSERT INTO probe VALUES(now())"
        is_there = False
        while not stop.wait(0.25):
            with contextlib.suppress(subprocess.SubprocessError):
                if not is_there:
                    is_there = self.query("SELECT 1 FROM pg_database WHERE datname = 'probe'") or self.query(
                        "CREATE DATABASE probe") is not None
                run(PROGRAMS / "psql", "-XAtq", "-c", statements, address, seconds=4)
                self.commits.append(time.monotonic())

    def query(self, sql):
        return run(PROGRAMS / "psql", "-XAtq", "-c", sql, f"{self.url}?target_session_attrs=read-write")

    def keep_logs(self, folder):
        for log in [*(each.log for each in self.hosts), self.folder / "etcd.log"]:
            shutil.copy(log, folder / f"patroni.{log.parent.name if log.name == 'log' else 'etcd'}.log")

    def end(self):
        """The processes have ended with the network."""
        for each in self.hosts:
            each.disk.end()
        shutil.rmtree(self.folder)
