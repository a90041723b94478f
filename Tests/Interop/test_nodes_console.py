"""The console of several servers behind one name: people, sessions, roles, live lists and the audit log are those of all servers."""

import json
import re

import pytest

from console_people import COOKIE, PASSWORD, Visitor
from nats_server import PROGRAM
from own_server import TEAM, TOPIC
from postgres_server import PROGRAMS
from test_nodes import Nodes, metric
from waiting import wait_until

pytestmark = pytest.mark.skipif(
    PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed")

A, B = range(2)


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    made = Nodes(tmp_path_factory.mktemp("nodes"), "test_nodes_console", 2)
    yield made
    made.end()


@pytest.fixture(scope="module")
def owner(nodes):
    """The first owner, who uses the link of the server that started last at the other one."""
    link = (nodes.servers[B].data / "console-setup.txt").read_text().strip().split("/console/", 1)[1]
    visitor = Visitor(nodes.servers[A])
    assert visitor.set_up(f"/console/{link}", "ada").status_code == 303
    assert Visitor(nodes.servers[B]).get(f"/console/{link}").status_code == 410, "a link is used once"
    yield visitor
    visitor.close()


def elsewhere(visitor, server):
    """The browser of a visitor, whom the load balancer brings to another server."""
    return Visitor(server, cookies={COOKIE: visitor.cookie})


def person(nodes, name, *role):
    """A person whom a command at A adds, and who sets a password at B."""
    link = nodes.servers[A].aldaba("person", "add", name, *role).stdout.strip().split("/console/", 1)[1]
    visitor = Visitor(nodes.servers[B])
    assert visitor.set_up(f"/console/{link}", name).status_code == 303
    return visitor


def test_a_session_is_one_of_every_server_and_ends_at_every_server(nodes, owner):
    visitor = Visitor(nodes.servers[A])
    assert visitor.log_in("ada").status_code == 303
    other = elsewhere(visitor, nodes.servers[B])
    assert other.get("/console/").status_code == 200
    # The form of a page that A made is taken by B.
    token = visitor.token("/console/sessions")
    assert other.post("/console/logout", {"token": token}).status_code == 303
    assert visitor.get("/console/").status_code == 303 and other.get("/console/").status_code == 303


def test_all_other_sessions_of_a_person_end_at_once_at_every_server(nodes, owner):
    first, second = Visitor(nodes.servers[A]), Visitor(nodes.servers[B])
    first.log_in("ada")
    second.log_in("ada")
    assert first.post("/console/sessions/end", page="/console/sessions").status_code == 303
    assert second.get("/console/").status_code == 303 and first.get("/console/").status_code == 200
    owner.log_in("ada")


def test_roles_hold_at_every_server_and_who_is_removed_at_one_is_out_at_the_other(nodes, owner):
    reader = person(nodes, "rita", "--role", "reader")
    other = elsewhere(reader, nodes.servers[A])
    assert other.get("/console/").status_code == 200 and other.get("/console/compose").status_code == 403
    pages = elsewhere(owner, nodes.servers[A])
    number = re.search(r"<td>rita.*?/console/accounts/([\w-]+)/remove", pages.get("/console/accounts").text, re.DOTALL)[1]
    assert owner.post(f"/console/accounts/{number}/remove", page="/console/accounts").status_code == 303
    assert reader.get("/console/").status_code == 303 and other.get("/console/").status_code == 303
    assert Visitor(nodes.servers[A]).log_in("rita").status_code == 401


def test_a_new_password_ends_the_sessions_at_every_server(nodes, owner):
    visitor = person(nodes, "pia", "--role", "reader")
    link = nodes.servers[B].aldaba("person", "link", "pia").stdout.strip().split("/console/", 1)[1]
    again = Visitor(nodes.servers[A])
    assert again.set_up(f"/console/{link}", "pia", PASSWORD + " 2").status_code == 303
    assert visitor.get("/console/").status_code == 303
    assert Visitor(nodes.servers[B]).log_in("pia").status_code == 401
    assert Visitor(nodes.servers[B]).log_in("pia", PASSWORD + " 2").status_code == 303


def test_a_live_list_shows_what_another_server_accepts_and_ends_with_its_session(nodes, owner):
    reader = person(nodes, "lia", "--role", "reader")
    told = metric(nodes.servers[B], "aldaba_node_messages_total", outcome="received")
    _, token = nodes.enrol(A)
    provider = nodes.provider(A)
    with reader.http.stream("GET", "/console/inbox/events", headers={"Accept": "text/event-stream"}) as stream:
        lines = stream.iter_lines()
        assert next(lines).startswith("retry:")
        wait_until(lambda: metric(nodes.servers[B], "aldaba_node_messages_total", outcome="received") > told,
                   "the other server knows that somebody looks")

        def shows():
            assert provider.post(token, {"aps": {"alert": "live"}}).status == 200
            return next(line for line in lines if line.startswith("data:"))

        assert TOPIC in shows()
        nodes.servers[A].aldaba("person", "remove", "lia")
        provider.post(token, {"aps": {"alert": "after"}})
        assert not [line for line in lines if "after" in line], "a row came after the session had ended"
    assert reader.get("/console/inbox/events", headers={"Accept": "text/event-stream"}).status_code == 401
    provider.close()


def test_the_audit_log_is_one_and_says_who_at_whatever_server(nodes, owner):
    nodes.servers[A].aldaba("app", "create", "com.example.audited", "--team", TEAM)
    assert owner.post("/console/accounts", {"name": "bea", "role": "sender", "team": TEAM}, page="/console/accounts").status_code == 200
    for server in nodes.servers:
        page = elsewhere(owner, server).get("/console/audit").text
        assert "com.example.audited" in page and "person.add" in page and ">ada<" in page
    logs = [json.loads(line) for line in nodes.servers[B].aldaba("audit", "--json").stdout.splitlines()]
    assert logs == [json.loads(line) for line in nodes.servers[A].aldaba("audit", "--json").stdout.splitlines()]
    assert any("com.example.audited" in json.dumps(each) for each in logs)
