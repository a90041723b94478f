"""The files of notifications at several servers: uploaded at one, served, listed, counted and deleted at each."""

import http.client
import os
import random
import re
import shutil
import signal
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import requests

from h2_client import verified_context
from nats_server import PROGRAM, NATSServer
from own_server import TEAM, OwnServer
from pictures import png
from postgres_server import PROGRAMS, PostgresServer
from test_nodes import Nodes, metric
from waiting import kill, wait_until

pytestmark = pytest.mark.skipif(
    PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed")

A, B, C = range(3)
QUOTA_MIB, TEAM_QUOTA_MIB = 64, 48
OTHER = "TEAM000002"
# The time within which a server answers whatever has failed.
SECONDS = 10


def movie(mib):
    """A film of which no part is like another one."""
    return b"\0\0\1\xba" + os.urandom((mib << 20) - 4)


def path(answer):
    """The path of the address of a file that was taken."""
    assert answer.status_code in (200, 201), answer.text
    return urlsplit(answer.json()["url"]).path


class MediaClient:
    """A server as providers and devices use it."""

    def __init__(self, server, key):
        self.server, self.key = server, key

    def ask(self, method, path, key=None, **options):
        authorization = {"authorization": f"bearer {(key or self.key).token()}"} if path.startswith("/v1/") else {}
        options["headers"] = authorization | options.get("headers", {})
        with requests.Session() as session:
            session.trust_env = False  # no other authority than the test's
            return session.request(
                method, self.server.ready["control"] + path, verify=self.server.ready["ca"], timeout=2 * SECONDS, **options)

    def upload(self, data, key=None):
        return self.ask("POST", "/v1/media", key, data=data)

    def get(self, path, **headers):
        return self.ask("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})

    def delete(self, path, key=None):
        return self.ask("DELETE", "/v1" + path.rsplit(".", 1)[0], key)

    def list(self, key=None):
        answer = self.ask("GET", "/v1/media", key)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def paths(self, key=None):
        return [urlsplit(kept["url"]).path for kept in self.list(key)]

    def on_disk(self, path=""):
        """What the data folder has of a file, or of all."""
        return list((self.server.data / "media").glob(path[7:47] + "*"))

    def kill(self):
        kill(self.server.process.pid)
        self.server.process.wait(SECONDS)


class MediaNodes(Nodes):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.clients = [MediaClient(server, self.key) for server in self.servers]
        self.other = self.servers[0].add_key(OTHER)
        wait_until(lambda: all(client.ask("GET", "/v1/media", key).status_code == 200 for client in self.clients
                               for key in (self.key, self.other)), "every server knows the keys")

    @contextmanager
    def without(self, part):
        part.kill() if part is self.nats else part.end(signal.SIGINT)
        try:
            yield
        finally:
            part.start()
            self.settle()

    def settle(self):
        wait_until(lambda: all(metric(server, "aldaba_carrier_connected") == 1 for server in self.servers), "NATS is back")
        wait_until(self.know_each_other, "the nodes know each other")

    def empty(self):
        """Deletes everything, and lets each server notice."""
        for key in (self.key, self.other):
            for path in self.clients[C].paths(key):
                assert self.clients[C].delete(path, key).status_code == 200
                assert {client.get(path).status_code for client in self.clients} == {404}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    made = MediaNodes(tmp_path_factory.mktemp("nodes"), "test_nodes_media", 3,
                      f"--media-quota={QUOTA_MIB}", f"--media-team-quota={TEAM_QUOTA_MIB}")
    yield made
    made.end()


@pytest.fixture(scope="module")
def forgotten(nodes):
    """A file that A and B have, and of which they were not asked since it was deleted at C."""
    gone = path(nodes.clients[A].upload(png(7, 7)))
    assert nodes.clients[B].get(gone).status_code == 200
    assert nodes.clients[C].delete(gone).status_code == 200
    assert nodes.clients[A].on_disk(gone) and nodes.clients[B].on_disk(gone)
    return gone


@pytest.fixture
def clients(nodes, forgotten):
    nodes.empty()
    return nodes.clients


@pytest.mark.parametrize("data", [png(), movie(7) + b"odd"], ids=["picture", "film"])
def test_what_is_uploaded_at_one_server_is_served_by_each(nodes, clients, data):
    """At once, whole and in part, by the same path; and on, when the server that took it has died."""
    taken = clients[A].upload(data)
    where = path(taken)
    first = clients[C].get(where, range="bytes=100-100")
    assert (first.status_code, first.content) == (206, data[100:101])
    for client in clients:
        got = client.get(where)
        assert (got.status_code, got.content) == (200, data)
        head = client.ask("HEAD", where)
        assert (head.status_code, head.headers["content-length"], head.content) == (200, str(len(data)), b"")
        assert {name: got.headers[name] for name in ("etag", "content-type")} == {
            "etag": head.headers["etag"], "content-type": taken.json()["type"]}
        part = client.get(where, range=f"bytes={len(data) - 9}-", if_range=got.headers["etag"])
        assert (part.status_code, part.content) == (206, data[-9:])
        assert client.get(where, if_none_match=clients[A].get(where).headers["etag"]).status_code == 304
        assert client.get(where, range=f"bytes={len(data)}-").status_code == 416
        assert client.get(where.rsplit(".", 1)[0] + ".gif").status_code == 404
        assert client.list() == [taken.json() | {"url": client.server.ready["control"] + where}]
    clients[A].kill()
    try:
        assert [client.get(where).content for client in clients[1:]] == [data, data]
    finally:
        nodes.start(A)
    assert clients[A].get(where).content == data


def test_the_first_request_at_a_server_may_be_of_any_kind(clients):
    where = path(clients[A].upload(png(9, 9)))
    assert clients[B].ask("HEAD", where).status_code == 200
    assert clients[C].get(where, if_none_match=clients[A].get(where).headers["etag"]).status_code == 304


def test_the_same_bytes_of_a_team_are_one_file_and_those_of_another_team_another(nodes, clients):
    data = png(10, 10)
    first, again, others = clients[A].upload(data), clients[B].upload(data), clients[C].upload(data, nodes.other)
    assert [each.status_code for each in (first, again, others)] == [201, 200, 201]
    assert path(first) == path(again) != path(others)
    assert again.json()["expires"] >= first.json()["expires"] and again.json()["made"] == first.json()["made"]
    for client in clients:
        assert client.paths() == [path(first)] and client.paths(nodes.other) == [path(others)]
        assert client.delete(path(first), nodes.other).status_code == 404
        assert client.get(path(first)).content == client.get(path(others)).content == data
        assert client.list()[0]["expires"] == again.json()["expires"]
    assert nodes.database.query("SELECT sum(bytes) FROM media.file") == str(2 * len(data))
    later = clients[A].upload(data).json()
    assert later["expires"] >= again.json()["expires"]


def test_the_expiry_is_the_latest_that_any_server_gives(nodes, clients):
    server = clients[B].server
    server.stop()
    server._flags.append("--media-expiry=1")
    nodes.start(B)
    try:
        short, long = (clients[node].upload(png(28, 28)).json()["expires"] for node in (B, A))
        assert long > short
        assert clients[B].upload(png(28, 28)).json()["expires"] == long
        assert [client.list()[0]["expires"] for client in clients] == [long] * 3
    finally:
        server.stop()
        server._flags.pop()
        nodes.start(B)


def test_concurrent_uploads_of_the_same_bytes_are_one_file(clients):
    data = movie(1)
    with ThreadPoolExecutor(9) as pool:
        answers = list(pool.map(lambda number: clients[number % 3].upload(data), range(9)))
    (where,) = {path(answer) for answer in answers}
    assert sorted(answer.status_code for answer in answers) == [200] * 8 + [201]
    assert [client.get(where).content == data for client in clients] == [True] * 3
    assert clients[B].paths() == [where]


def test_an_upload_of_bytes_that_only_a_dead_server_has_is_served(nodes, clients):
    data = png(11, 11)
    first = path(clients[A].upload(data))
    clients[A].kill()
    try:
        again = clients[B].upload(data)
        assert path(again) == first
        assert [client.get(first).status_code for client in clients[1:]] == [200, 200], "it was accepted, and is not served"
    finally:
        nodes.start(A)


def test_a_deleted_file_is_at_no_server(clients):
    where = path(clients[A].upload(png(12, 12)))
    assert all(client.get(where).status_code == 200 for client in clients)
    assert clients[C].delete(where).status_code == 200
    for client in clients:
        assert client.get(where).status_code == 404 and client.ask("HEAD", where).status_code == 404
        assert client.paths() == [] and client.delete(where).status_code == 404
        assert not client.on_disk(where)


def test_what_was_deleted_elsewhere_can_be_uploaded_again(nodes, clients):
    """The server that takes it again has not noticed the deletion yet. With a restart it learns of all deletions."""
    data = png(13, 13)
    first = path(clients[A].upload(data))
    assert clients[C].delete(first).status_code == 200
    again = path(clients[A].upload(data))
    assert clients[A].get(again).status_code == 200
    clients[A].server.stop()
    nodes.start(A)
    assert clients[A].paths() == [again]
    assert [client.get(again).status_code for client in clients] == [200, 200, 200], "it is listed, and is not served"


def test_a_server_that_has_not_noticed_a_deletion_gives_the_new_address(clients):
    """Both A and C take the same bytes again; A still has the deleted file."""
    data = png(29, 29)
    first = path(clients[A].upload(data))
    assert clients[C].delete(first).status_code == 200
    second, third = path(clients[C].upload(data)), path(clients[A].upload(data))
    assert [client.get(third).status_code for client in clients] == [200, 200, 200], "it was accepted, and is not served"
    assert second == third and clients[B].paths() == [third]


def test_a_deletion_at_one_server_makes_room_at_each(clients):
    kept = [path(clients[A].upload(movie(16))) for _ in range(TEAM_QUOTA_MIB // 16)]
    full = clients[B].upload(png(23, 23))
    assert (full.status_code, full.json()["code"]) == (507, "teamQuotaFull")
    assert {clients[C].delete(each).status_code for each in kept} == {200}
    again = clients[A].upload(png(23, 23))
    assert {clients[A].get(each).status_code for each in kept} == {404}
    assert again.status_code == 201, f"the files that C deleted count at A: {again.text}"


def test_the_quotas_hold_for_all_servers_together(nodes, clients):
    """Two teams send more than their quotas, and more than there is room for, to all servers at once."""
    size = 6
    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(
            lambda number: clients[number % 3].upload(movie(size), nodes.other if number % 2 else nodes.key), range(24)))
    taken = [answer.json() for answer in answers if answer.status_code == 201]
    refused = [answer for answer in answers if answer.status_code != 201]
    assert {answer.status_code for answer in refused} == {507}
    assert {answer.json()["code"] for answer in refused} <= {"quotaFull", "teamQuotaFull"}
    assert len(taken) == QUOTA_MIB // size
    for team, key in ((TEAM, nodes.key), (OTHER, nodes.other)):
        own = sorted(kept["name"] for kept in taken if kept["team"] == team)
        assert len(own) * size <= TEAM_QUOTA_MIB
        assert [[kept["name"] for kept in client.list(key)] for client in clients] == [own] * 3
    assert nodes.database.query("SELECT bytes, count FROM media.sum WHERE team = '*'") == (
        f"{len(taken) * size << 20}|{len(taken)}")
    for answer in (client.upload(movie(size)) for client in clients):
        assert answer.status_code == 507 and re.search("setting media-(team-)?quota", answer.json()["detail"])
    assert clients[B].upload(png(14, 14)).status_code == 201, "there is room for a small one"


def test_what_many_do_at_once_at_all_servers_leaves_what_is_listed(nodes, clients):
    """Uploads, requests and deletions of the same few files; afterwards each server has what is listed, and no other."""
    ends, recent, content, odd = time.monotonic() + 4, deque(maxlen=20), {}, []

    def work(number):
        chance = random.Random(number)
        while time.monotonic() < ends:
            client, kind = chance.choice(clients), chance.choice("uploads gets deletes".split())
            if kind == "uploads" or not recent:
                data = movie(1)[:chance.randrange(100, 300_000)]
                if (answer := client.upload(data)).status_code == 201:
                    content[path(answer)] = data
                    recent.append(path(answer))
                odd.extend([answer.text] if answer.status_code not in (201, 429, 507) else [])
            else:
                where = chance.choice(list(recent))
                answer = client.get(where) if kind == "gets" else client.delete(where)
                odd.extend([answer.text] if answer.status_code not in (200, 404) else [])
                assert kind == "deletes" or answer.status_code != 200 or answer.content == content[where]

    with ThreadPoolExecutor(9) as pool:
        list(pool.map(work, range(9)))
    listed = clients[A].paths()
    for where, data in content.items():
        got = [client.get(where) for client in clients]
        assert [each.status_code for each in got] == [200 if where in listed else 404] * 3
        assert where not in listed or {each.content for each in got} == {data}
    names = {where[7:47] for where in content}
    for client in clients:
        # Copies of what other tests have deleted go with the next sweep.
        assert {file.name[:40] for file in client.on_disk()} & names == {where[7:47] for where in listed}
    assert nodes.database.query("SELECT bytes, count FROM media.sum WHERE team = '*'") == (
        nodes.database.query("SELECT coalesce(sum(bytes), 0), count(*) FROM media.file"))
    assert not odd, odd


def test_a_server_that_was_alone_brings_its_files(tmp_path):
    database, nats = PostgresServer().start(), NATSServer().start()
    servers = [OwnServer(tmp_path / str(number), f"test_nodes_media_alone_{number}", "--postgres", database.url)
               for number in range(2)]
    alone, newer = servers
    try:
        alone.start()
        alone.add_app()
        first, second = (MediaClient(server, alone.key()) for server in servers)
        small, large = png(15, 15), movie(3)
        paths = [path(first.upload(data)) for data in (small, large)]
        alone.stop()
        for server in servers:
            server._flags += ["--nats", nats.url]
            server.start()
        wait_until(lambda: all(metric(server, "aldaba_nodes") == 2 for server in servers), "they know each other")
        assert [second.get(where).content for where in paths] == [small, large]
        assert second.paths() == sorted(paths)
        first.kill()
        assert second.delete(paths[0]).status_code == 200
        alone.start()
        assert [client.get(paths[0]).status_code for client in (first, second)] == [404, 404]
        assert not first.on_disk(paths[0]) and first.get(paths[1]).content == large
    finally:
        for server in servers:
            if server.process and server.process.poll() is None:
                server.stop()
        nats.remove()
        database.remove()


def test_two_servers_that_each_had_the_same_bytes_serve_both_addresses(nodes, clients):
    """Until now each server had its own files, so that the same bytes of a team could have a name at each."""
    where = path(clients[A].upload(png(24, 24)))
    name, own = where[7:47], "b" * 40
    source, target = (clients[node].server.data / "media" for node in (A, B))
    clients[B].server.stop()
    try:
        for ending in ("", ".json"):
            shutil.copy(source / f"{name}{ending}", target / f"{own}{ending}")
    finally:
        nodes.start(B)
    try:
        assert clients[B].get(where).content == png(24, 24)
        assert clients[B].get(where.replace(name, own)).status_code == 200, "it was served until now"
    finally:
        clients[B].delete(f"/media/{own}.png")


def test_a_file_that_was_deleted_while_a_server_was_down_is_not_served_by_it_again(nodes, clients):
    where = path(clients[A].upload(png(16, 16)))
    clients[A].kill()
    try:
        assert clients[C].delete(where).status_code == 200
    finally:
        nodes.start(A)
    assert not clients[A].on_disk(where)
    assert [client.get(where).status_code for client in clients] == [404] * 3


def test_the_death_of_the_only_server_with_a_file_in_the_middle_of_a_copy(nodes, clients):
    data = movie(40)
    where = path(clients[A].upload(data))

    def copied():
        found = 0
        for file in clients[B].on_disk(where):
            # One that is whole is renamed.
            with suppress(FileNotFoundError):
                found += file.stat().st_size
        return found

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(clients[B].get, where)
        while not copied():
            assert not answer.done(), "the copy was too fast"
        clients[A].kill()
        try:
            assert copied() < len(data), "the copy was too fast"
            got = answer.result(SECONDS)
            assert got.status_code >= 400, got.status_code
            assert clients[B].on_disk(where) == []
        finally:
            nodes.start(A)
    assert clients[B].get(where).content == data


def test_a_copy_that_breaks_off_goes_on_from_another_server(nodes, clients):
    data = movie(40)
    where = path(clients[A].upload(data))
    assert clients[C].get(where).content == data
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(clients[B].get, where)
        while not clients[B].on_disk(where):
            assert not answer.done(), "the copy was too fast"
        clients[A].kill()
        try:
            got = answer.result(SECONDS)
            assert (got.status_code, got.content == data) == (200, True)
        finally:
            nodes.start(A)


def test_the_death_of_a_server_in_the_middle_of_a_download(nodes, clients):
    data = movie(40)
    where = path(clients[A].upload(data))
    address = urlsplit(clients[A].server.ready["control"]).netloc
    connection = http.client.HTTPSConnection(
        address, timeout=SECONDS, context=verified_context(clients[A].server.ready["ca"]))
    connection.request("GET", where)
    answer = connection.getresponse()
    got = answer.read(100_000)
    clients[A].kill()
    try:
        with pytest.raises((http.client.IncompleteRead, OSError)):
            while piece := answer.read(1 << 20):
                got += piece
            raise http.client.IncompleteRead(got)
        assert len(got) < len(data) and data.startswith(got)
    finally:
        connection.close()
        nodes.start(A)
    assert clients[C].get(where).content == data


def test_without_nats_each_server_serves_what_it_has(nodes, clients):
    both, one = (path(clients[A].upload(png(side, side))) for side in (17, 18))
    assert clients[B].get(both).status_code == 200
    with nodes.without(nodes.nats):
        assert [client.get(both).status_code for client in clients[:2]] == [200, 200]
        began = time.monotonic()
        assert clients[B].get(one).status_code >= 400
        assert time.monotonic() - began < SECONDS
        assert clients[C].delete(both).status_code == 200
        assert clients[B].get(both).status_code == 404
        assert clients[B].upload(png(19, 19)).status_code == 201
    assert clients[B].get(one).content == png(18, 18)


def test_a_server_that_hangs_delays_nobody_who_asks_for_other_files(clients):
    lacking, own = path(clients[A].upload(png(25, 25))), path(clients[B].upload(png(26, 26)))
    clients[A].server.process.send_signal(signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(12) as pool:
            waiting = [pool.submit(clients[B].get, lacking) for _ in range(12)]
            wait_until(lambda: clients[B].on_disk(lacking) or all(each.done() for each in waiting), "one is copied")
            answers = [clients[B].get(own) for _ in range(3)]
            assert {answer.status_code for answer in answers} == {200}
            late = max(answer.elapsed.total_seconds() for answer in answers)
            assert {each.result().status_code >= 400 for each in waiting} == {True}
        assert late < 2, f"a file that the server has came after {late} s"
    finally:
        clients[A].server.process.send_signal(signal.SIGCONT)
    wait_until(lambda: clients[B].get(lacking).status_code == 200, "it is served again")


def test_without_postgresql_each_server_serves_what_it_has(nodes, clients):
    both, one = (path(clients[A].upload(png(side, side))) for side in (20, 21))
    assert clients[B].get(both).status_code == 200
    with nodes.without(nodes.database):
        assert [client.get(both).content for client in clients[:2]] == [png(20, 20)] * 2
        for answer in (clients[B].get(one), clients[B].upload(png(22, 22)), clients[B].delete(both),
                       clients[B].ask("GET", "/v1/media")):
            assert (answer.status_code, answer.elapsed.total_seconds() < SECONDS) == (503, True)
            assert "try again later" in answer.text
        assert not list((clients[B].server.data / "media").glob("*.arriving"))
    assert clients[B].get(one).content == png(21, 21)
    assert clients[B].upload(png(22, 22)).status_code == 201
    assert clients[A].get(both).status_code == 200


def test_while_postgresql_hangs_each_server_serves_what_it_has(nodes, clients):
    where = path(clients[B].upload(png(27, 27)))
    main = nodes.database.process.pid
    processes = [main, *map(int, Path(f"/proc/{main}/task/{main}/children").read_text().split())]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(clients[B].get, where) for _ in range(4)]
            assert [each.result(3 * SECONDS).elapsed.total_seconds() < SECONDS for each in asked] == [True] * 4
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)
        nodes.settle()
    assert clients[A].get(where).content == png(27, 27)
    assert clients[C].delete(where).status_code == 200
    # For a second after a call without an answer a server does not ask.
    wait_until(lambda: clients[B].get(where).status_code == 404, "the server asks the register again")


def test_many_requests_at_once_for_a_file_that_a_server_lacks(clients):
    data = movie(5)
    where = path(clients[A].upload(data))
    with ThreadPoolExecutor(20) as pool:
        got = list(pool.map(lambda number: clients[B + number % 2].get(where), range(20)))
    assert [(each.status_code, each.content == data) for each in got] == [(200, True)] * 20
    for client in clients:
        assert sorted(file.name.partition(".")[2] for file in client.on_disk(where)) == ["", "json"]


def test_the_bytes_of_a_deleted_file_leave_every_disk(clients, forgotten):
    """A server that is not asked for it deletes them with its sweep, once a minute."""
    wait_until(lambda: not any(client.on_disk(forgotten) for client in clients), "the bytes are gone", 65)
