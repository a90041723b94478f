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
from contextlib import contextmanager
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


class Door:
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
        self.doors = [Door(server, self.key) for server in self.servers]
        self.other = self.servers[0].add_key(OTHER)
        wait_until(lambda: all(door.ask("GET", "/v1/media", key).status_code == 200 for door in self.doors
                               for key in (self.key, self.other)), "every server knows the keys")

    def start(self, node):
        self.servers[node].start()
        wait_until(self.know_each_other, "the nodes know each other")

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
            for path in self.doors[C].paths(key):
                assert self.doors[C].delete(path, key).status_code == 200
                assert {door.get(path).status_code for door in self.doors} == {404}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    made = MediaNodes(tmp_path_factory.mktemp("nodes"), "test_nodes_media", 3,
                      f"--media-quota={QUOTA_MIB}", f"--media-team-quota={TEAM_QUOTA_MIB}")
    yield made
    made.end()


@pytest.fixture(scope="module")
def forgotten(nodes):
    """A file that A and B have, and of which they were not asked since it was deleted at C."""
    gone = path(nodes.doors[A].upload(png(7, 7)))
    assert nodes.doors[B].get(gone).status_code == 200
    assert nodes.doors[C].delete(gone).status_code == 200
    assert nodes.doors[A].on_disk(gone) and nodes.doors[B].on_disk(gone)
    return gone


@pytest.fixture
def doors(nodes, forgotten):
    nodes.empty()
    return nodes.doors


@pytest.mark.parametrize("data", [png(), movie(7) + b"odd"], ids=["picture", "film"])
def test_what_is_uploaded_at_one_server_is_served_by_each(nodes, doors, data):
    """At once, whole and in part, by the same path; and on, when the server that took it has died."""
    taken = doors[A].upload(data)
    where = path(taken)
    first = doors[C].get(where, range="bytes=100-100")
    assert (first.status_code, first.content) == (206, data[100:101])
    for door in doors:
        got = door.get(where)
        assert (got.status_code, got.content) == (200, data)
        head = door.ask("HEAD", where)
        assert (head.status_code, head.headers["content-length"], head.content) == (200, str(len(data)), b"")
        assert {name: got.headers[name] for name in ("etag", "content-type")} == {
            "etag": head.headers["etag"], "content-type": taken.json()["type"]}
        part = door.get(where, range=f"bytes={len(data) - 9}-", if_range=got.headers["etag"])
        assert (part.status_code, part.content) == (206, data[-9:])
        assert door.get(where, if_none_match=doors[A].get(where).headers["etag"]).status_code == 304
        assert door.get(where, range=f"bytes={len(data)}-").status_code == 416
        assert door.get(where.rsplit(".", 1)[0] + ".gif").status_code == 404
        assert door.list() == [taken.json() | {"url": door.server.ready["control"] + where}]
    doors[A].kill()
    try:
        assert [door.get(where).content for door in doors[1:]] == [data, data]
    finally:
        nodes.start(A)
    assert doors[A].get(where).content == data


def test_the_first_request_at_a_server_may_be_of_any_kind(doors):
    where = path(doors[A].upload(png(9, 9)))
    assert doors[B].ask("HEAD", where).status_code == 200
    assert doors[C].get(where, if_none_match=doors[A].get(where).headers["etag"]).status_code == 304


def test_the_same_bytes_of_a_team_are_one_file_and_those_of_another_team_another(nodes, doors):
    data = png(10, 10)
    first, again, others = doors[A].upload(data), doors[B].upload(data), doors[C].upload(data, nodes.other)
    assert [each.status_code for each in (first, again, others)] == [201, 200, 201]
    assert path(first) == path(again) != path(others)
    assert again.json()["expires"] >= first.json()["expires"] and again.json()["made"] == first.json()["made"]
    for door in doors:
        assert door.paths() == [path(first)] and door.paths(nodes.other) == [path(others)]
        assert door.delete(path(first), nodes.other).status_code == 404
        assert door.get(path(first)).content == door.get(path(others)).content == data
        assert door.list()[0]["expires"] == again.json()["expires"]
    assert nodes.database.query("SELECT sum(bytes) FROM media.file") == str(2 * len(data))
    later = doors[A].upload(data).json()
    assert later["expires"] >= again.json()["expires"]


def test_the_expiry_is_the_latest_that_any_server_gives(nodes, doors):
    server = doors[B].server
    server.stop()
    server._flags.append("--media-expiry=1")
    nodes.start(B)
    try:
        short, long = (doors[node].upload(png(28, 28)).json()["expires"] for node in (B, A))
        assert long > short
        assert doors[B].upload(png(28, 28)).json()["expires"] == long
        assert [door.list()[0]["expires"] for door in doors] == [long] * 3
    finally:
        server.stop()
        server._flags.pop()
        nodes.start(B)


def test_concurrent_uploads_of_the_same_bytes_are_one_file(doors):
    data = movie(1)
    with ThreadPoolExecutor(9) as pool:
        answers = list(pool.map(lambda number: doors[number % 3].upload(data), range(9)))
    (where,) = {path(answer) for answer in answers}
    assert sorted(answer.status_code for answer in answers) == [200] * 8 + [201]
    assert [door.get(where).content == data for door in doors] == [True] * 3
    assert doors[B].paths() == [where]


def test_an_upload_of_bytes_that_only_a_dead_server_has_is_served(nodes, doors):
    data = png(11, 11)
    first = path(doors[A].upload(data))
    doors[A].kill()
    try:
        again = doors[B].upload(data)
        assert path(again) == first
        assert [door.get(first).status_code for door in doors[1:]] == [200, 200], "it was accepted, and is not served"
    finally:
        nodes.start(A)


def test_a_deleted_file_is_at_no_server(doors):
    where = path(doors[A].upload(png(12, 12)))
    assert all(door.get(where).status_code == 200 for door in doors)
    assert doors[C].delete(where).status_code == 200
    for door in doors:
        assert door.get(where).status_code == 404 and door.ask("HEAD", where).status_code == 404
        assert door.paths() == [] and door.delete(where).status_code == 404
        assert not door.on_disk(where)


def test_what_was_deleted_elsewhere_can_be_uploaded_again(nodes, doors):
    """The server that takes it again has not noticed the deletion yet. With a restart it learns of all deletions."""
    data = png(13, 13)
    first = path(doors[A].upload(data))
    assert doors[C].delete(first).status_code == 200
    again = path(doors[A].upload(data))
    assert doors[A].get(again).status_code == 200
    doors[A].server.stop()
    nodes.start(A)
    assert doors[A].paths() == [again]
    assert [door.get(again).status_code for door in doors] == [200, 200, 200], "it is listed, and is not served"


def test_a_server_that_has_not_noticed_a_deletion_gives_the_new_address(doors):
    """Both A and C take the same bytes again; A still has the deleted file."""
    data = png(29, 29)
    first = path(doors[A].upload(data))
    assert doors[C].delete(first).status_code == 200
    second, third = path(doors[C].upload(data)), path(doors[A].upload(data))
    assert [door.get(third).status_code for door in doors] == [200, 200, 200], "it was accepted, and is not served"
    assert second == third and doors[B].paths() == [third]


def test_a_deletion_at_one_server_makes_room_at_each(doors):
    kept = [path(doors[A].upload(movie(16))) for _ in range(TEAM_QUOTA_MIB // 16)]
    full = doors[B].upload(png(23, 23))
    assert (full.status_code, full.json()["code"]) == (507, "teamQuotaFull")
    assert {doors[C].delete(each).status_code for each in kept} == {200}
    again = doors[A].upload(png(23, 23))
    assert {doors[A].get(each).status_code for each in kept} == {404}
    assert again.status_code == 201, f"the files that C deleted count at A: {again.text}"


def test_the_quotas_hold_for_all_servers_together(nodes, doors):
    """Two teams send more than their quotas, and more than there is room for, to all servers at once."""
    size = 6
    with ThreadPoolExecutor(24) as pool:
        answers = list(pool.map(
            lambda number: doors[number % 3].upload(movie(size), nodes.other if number % 2 else nodes.key), range(24)))
    taken = [answer.json() for answer in answers if answer.status_code == 201]
    refused = [answer for answer in answers if answer.status_code != 201]
    assert {answer.status_code for answer in refused} == {507}
    assert {answer.json()["code"] for answer in refused} <= {"quotaFull", "teamQuotaFull"}
    assert len(taken) == QUOTA_MIB // size
    for team, key in ((TEAM, nodes.key), (OTHER, nodes.other)):
        own = sorted(kept["name"] for kept in taken if kept["team"] == team)
        assert len(own) * size <= TEAM_QUOTA_MIB
        assert [[kept["name"] for kept in door.list(key)] for door in doors] == [own] * 3
    assert nodes.database.query("SELECT bytes, count FROM media.sum WHERE team = '*'") == (
        f"{len(taken) * size << 20}|{len(taken)}")
    for answer in (door.upload(movie(size)) for door in doors):
        assert answer.status_code == 507 and re.search("setting media-(team-)?quota", answer.json()["detail"])
    assert doors[B].upload(png(14, 14)).status_code == 201, "there is room for a small one"


def test_what_many_do_at_once_at_all_servers_leaves_what_is_listed(nodes, doors):
    """Uploads, requests and deletions of the same few files; afterwards each server has what is listed, and no other."""
    ends, recent, content, odd = time.monotonic() + 4, deque(maxlen=20), {}, []

    def work(number):
        chance = random.Random(number)
        while time.monotonic() < ends:
            door, kind = chance.choice(doors), chance.choice("uploads gets deletes".split())
            if kind == "uploads" or not recent:
                data = movie(1)[:chance.randrange(100, 300_000)]
                if (answer := door.upload(data)).status_code == 201:
                    content[path(answer)] = data
                    recent.append(path(answer))
                odd.extend([answer.text] if answer.status_code not in (201, 429, 507) else [])
            else:
                where = chance.choice(list(recent))
                answer = door.get(where) if kind == "gets" else door.delete(where)
                odd.extend([answer.text] if answer.status_code not in (200, 404) else [])
                assert kind == "deletes" or answer.status_code != 200 or answer.content == content[where]

    with ThreadPoolExecutor(9) as pool:
        list(pool.map(work, range(9)))
    listed = doors[A].paths()
    for where, data in content.items():
        got = [door.get(where) for door in doors]
        assert [each.status_code for each in got] == [200 if where in listed else 404] * 3
        assert where not in listed or {each.content for each in got} == {data}
    names = {where[7:47] for where in content}
    for door in doors:
        # Copies of what other tests have deleted go with the next sweep.
        assert {file.name[:40] for file in door.on_disk()} & names == {where[7:47] for where in listed}
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
        first, second = (Door(server, alone.key()) for server in servers)
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
        assert [door.get(paths[0]).status_code for door in (first, second)] == [404, 404]
        assert not first.on_disk(paths[0]) and first.get(paths[1]).content == large
    finally:
        for server in servers:
            if server.process and server.process.poll() is None:
                server.stop()
        nats.remove()
        database.remove()


def test_two_servers_that_each_had_the_same_bytes_serve_both_addresses(nodes, doors):
    """Until now each server had its own files, so that the same bytes of a team could have a name at each."""
    where = path(doors[A].upload(png(24, 24)))
    name, own = where[7:47], "b" * 40
    source, target = (doors[node].server.data / "media" for node in (A, B))
    doors[B].server.stop()
    try:
        for ending in ("", ".json"):
            shutil.copy(source / f"{name}{ending}", target / f"{own}{ending}")
    finally:
        nodes.start(B)
    try:
        assert doors[B].get(where).content == png(24, 24)
        assert doors[B].get(where.replace(name, own)).status_code == 200, "it was served until now"
    finally:
        doors[B].delete(f"/media/{own}.png")


def test_a_file_that_was_deleted_while_a_server_was_down_is_not_served_by_it_again(nodes, doors):
    where = path(doors[A].upload(png(16, 16)))
    doors[A].kill()
    try:
        assert doors[C].delete(where).status_code == 200
    finally:
        nodes.start(A)
    assert not doors[A].on_disk(where)
    assert [door.get(where).status_code for door in doors] == [404] * 3


def test_the_death_of_the_only_server_with_a_file_in_the_middle_of_a_copy(nodes, doors):
    data = movie(40)
    where = path(doors[A].upload(data))

    def copied():
        return sum(file.stat().st_size for file in doors[B].on_disk(where))

    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(doors[B].get, where)
        while not copied():
            assert not answer.done(), "the copy was too fast"
        doors[A].kill()
        try:
            assert copied() < len(data), "the copy was too fast"
            got = answer.result(SECONDS)
            assert got.status_code >= 400, got.status_code
            assert doors[B].on_disk(where) == []
        finally:
            nodes.start(A)
    assert doors[B].get(where).content == data


def test_a_copy_that_breaks_off_goes_on_from_another_server(nodes, doors):
    data = movie(40)
    where = path(doors[A].upload(data))
    assert doors[C].get(where).content == data
    with ThreadPoolExecutor(1) as pool:
        answer = pool.submit(doors[B].get, where)
        while not doors[B].on_disk(where):
            assert not answer.done(), "the copy was too fast"
        doors[A].kill()
        try:
            got = answer.result(SECONDS)
            assert (got.status_code, got.content == data) == (200, True)
        finally:
            nodes.start(A)


def test_the_death_of_a_server_in_the_middle_of_a_download(nodes, doors):
    data = movie(40)
    where = path(doors[A].upload(data))
    address = urlsplit(doors[A].server.ready["control"]).netloc
    connection = http.client.HTTPSConnection(
        address, timeout=SECONDS, context=verified_context(doors[A].server.ready["ca"]))
    connection.request("GET", where)
    answer = connection.getresponse()
    got = answer.read(100_000)
    doors[A].kill()
    try:
        with pytest.raises((http.client.IncompleteRead, OSError)):
            while piece := answer.read(1 << 20):
                got += piece
            raise http.client.IncompleteRead(got)
        assert len(got) < len(data) and data.startswith(got)
    finally:
        connection.close()
        nodes.start(A)
    assert doors[C].get(where).content == data


def test_without_nats_each_server_serves_what_it_has(nodes, doors):
    both, one = (path(doors[A].upload(png(side, side))) for side in (17, 18))
    assert doors[B].get(both).status_code == 200
    with nodes.without(nodes.nats):
        assert [door.get(both).status_code for door in doors[:2]] == [200, 200]
        began = time.monotonic()
        assert doors[B].get(one).status_code >= 400
        assert time.monotonic() - began < SECONDS
        assert doors[C].delete(both).status_code == 200
        assert doors[B].get(both).status_code == 404
        assert doors[B].upload(png(19, 19)).status_code == 201
    assert doors[B].get(one).content == png(18, 18)


def test_a_server_that_hangs_delays_nobody_who_asks_for_other_files(doors):
    lacking, own = path(doors[A].upload(png(25, 25))), path(doors[B].upload(png(26, 26)))
    doors[A].server.process.send_signal(signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(12) as pool:
            waiting = [pool.submit(doors[B].get, lacking) for _ in range(12)]
            wait_until(lambda: doors[B].on_disk(lacking) or all(each.done() for each in waiting), "one is copied")
            answers = [doors[B].get(own) for _ in range(3)]
            assert {answer.status_code for answer in answers} == {200}
            late = max(answer.elapsed.total_seconds() for answer in answers)
            assert {each.result().status_code >= 400 for each in waiting} == {True}
        assert late < 2, f"a file that the server has came after {late} s"
    finally:
        doors[A].server.process.send_signal(signal.SIGCONT)
    wait_until(lambda: doors[B].get(lacking).status_code == 200, "it is served again")


def test_without_postgresql_each_server_serves_what_it_has(nodes, doors):
    both, one = (path(doors[A].upload(png(side, side))) for side in (20, 21))
    assert doors[B].get(both).status_code == 200
    with nodes.without(nodes.database):
        assert [door.get(both).content for door in doors[:2]] == [png(20, 20)] * 2
        for answer in (doors[B].get(one), doors[B].upload(png(22, 22)), doors[B].delete(both),
                       doors[B].ask("GET", "/v1/media")):
            assert (answer.status_code, answer.elapsed.total_seconds() < SECONDS) == (503, True)
            assert "try again later" in answer.text
        assert not list((doors[B].server.data / "media").glob("*.arriving"))
    assert doors[B].get(one).content == png(21, 21)
    assert doors[B].upload(png(22, 22)).status_code == 201
    assert doors[A].get(both).status_code == 200


def test_while_postgresql_hangs_each_server_serves_what_it_has(nodes, doors):
    where = path(doors[B].upload(png(27, 27)))
    main = nodes.database.process.pid
    processes = [main, *map(int, Path(f"/proc/{main}/task/{main}/children").read_text().split())]
    for process in processes:
        os.kill(process, signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(4) as pool:
            asked = [pool.submit(doors[B].get, where) for _ in range(4)]
            assert [each.result(3 * SECONDS).elapsed.total_seconds() < SECONDS for each in asked] == [True] * 4
    finally:
        for process in processes:
            os.kill(process, signal.SIGCONT)
        nodes.settle()
    assert doors[A].get(where).content == png(27, 27)
    assert doors[C].delete(where).status_code == 200
    # For a second after a call without an answer a server does not ask.
    wait_until(lambda: doors[B].get(where).status_code == 404, "the server asks the register again")


def test_many_requests_at_once_for_a_file_that_a_server_lacks(doors):
    data = movie(5)
    where = path(doors[A].upload(data))
    with ThreadPoolExecutor(20) as pool:
        got = list(pool.map(lambda number: doors[B + number % 2].get(where), range(20)))
    assert [(each.status_code, each.content == data) for each in got] == [(200, True)] * 20
    for door in doors:
        assert sorted(file.name.partition(".")[2] for file in door.on_disk(where)) == ["", "json"]


def test_the_bytes_of_a_deleted_file_leave_every_disk(doors, forgotten):
    """A server that is not asked for it deletes them with its sweep, once a minute."""
    wait_until(lambda: not any(door.on_disk(forgotten) for door in doors), "the bytes are gone", 65)
