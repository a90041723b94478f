"""Notification hubs of several servers on one PostgreSQL database: any of them takes any request and does any work.

A model in Python says what a hub has. PostgreSQL says which server has the claim of a piece of work, so that the tests
kill or stop that one.
"""

import http.client
import json
import random
import signal
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import datetime, timedelta, timezone

import pytest

from h2_client import verified_context
from hub_clients import OwnHub
from nats_server import PROGRAM, NATSServer
from own_server import TEAM, TOPIC, OwnServer
from postgres_server import PROGRAMS, PostgresServer
from push_service import PushService
from secured_control import SecuredControl
from test_nodes import Nodes
from waiting import TimedOut, wait_until

pytestmark = pytest.mark.skipif(
    PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed")

COUNT = 3
DEVICES = 240
# The time that a request may take.
SECONDS = 10
# The classes of the locks by which servers claim a step of a send, and the calls of a hub's webhook.
STEP, WEBHOOK = 41_500, 41_502

# Waits until a server has a claim of a kind while a condition holds; returns its name, or nothing after ten seconds.
AT_WORK = """
    CREATE FUNCTION at_work(kind bigint, condition text) RETURNS text LANGUAGE plpgsql AS $$
    DECLARE found text; holds boolean;
    BEGIN
        FOR turn IN 1..10000 LOOP
            PERFORM pg_stat_clear_snapshot();
            SELECT application_name INTO found FROM pg_locks JOIN pg_stat_activity USING (pid)
                WHERE locktype = 'advisory' AND granted AND classid::bigint = kind LIMIT 1;
            IF found IS NOT NULL THEN
                EXECUTE 'SELECT ' || condition INTO holds;
                IF holds THEN RETURN found; END IF;
            END IF;
            PERFORM pg_sleep(0.001);
        END LOOP;
        RETURN NULL;
    END $$
"""


class KeptControl(SecuredControl):
    """The control API over one connection of each thread; one that has ended is replaced once."""

    def __init__(self, server, key, seconds=SECONDS):
        super().__init__(
            server.ready["control"], server.ready["ca"], enrolment_key=server.enrolment_key, provider_key=key)
        self._kept, self._seconds = threading.local(), seconds

    def request(self, method, path, body=None, headers=None):
        headers = {name.lower(): value for name, value in (headers or {}).items()}
        if path == "/checkin":
            headers.setdefault("authorization", f"Enrol {self.enrolment_key}")
        elif path.startswith("/v1/"):
            headers.setdefault("authorization", f"bearer {self.provider_key.token()}")
        for attempt in (1, 2):
            connection = getattr(self._kept, "connection", None)
            if connection is None:
                connection = http.client.HTTPSConnection(
                    *self._address, timeout=self._seconds, context=verified_context(self._ca))
                self._kept.connection = connection
            try:
                connection.request(method, path, body, headers)
                answer = connection.getresponse()
                return answer.status, answer.read()
            except (http.client.HTTPException, OSError) as error:
                connection.close()
                self._kept.connection = None
                if attempt == 2 or isinstance(error, TimeoutError):
                    raise


class HubNodes(Nodes):
    """Servers on a database, which know them apart by their connections' names."""

    def __init__(self, folder, name, count):
        self.database = PostgresServer().start()
        self.nats = NATSServer().start()
        self.servers = []
        for number in range(count):
            server = OwnServer(
                folder / str(number), f"{name}_{number}",
                "--postgres", f"{self.database.url}&application_name=node{number}", "--nats", self.nats.url,
                "--webhook-networks", "127.0.0.0/8")
            self.servers.append(server.start())
        self.servers[0].add_app()
        self.key = self.servers[0].key()
        self.controls = [KeptControl(server, self.key) for server in self.servers]
        self.database.query(AT_WORK)
        wait_until(self.know_each_other, "the nodes know each other")

    def hub(self, name):
        """Makes a hub; returns its own API at each server."""
        self.servers[0].aldaba("hub", "create", name, "--app", TOPIC)
        return [OwnHub({"hubName": name}, control) for control in self.controls]

    def at_work(self, kind, condition="true"):
        """The number of the server that has a claim of a kind; waits until there is one."""
        name = self.database.query("SELECT at_work({}, '{}')".format(kind, condition.replace("'", "''")))
        assert name.startswith("node"), f"no server has a claim of the kind {kind} while {condition}"
        return int(name.removeprefix("node"))

    def stop_before_it_records(self, own, text, begun, fault):
        """Begins a campaign; its server has a fault when everybody has a notification and none is recorded yet.

        Returns the campaign, and the number of the server.
        """
        with self.locked("hub.send_recipient"):
            campaign = begin(own, text)
            number = self.at_work(STEP, f"(SELECT count(*) FROM message WHERE accepted_at >= {begun}) = {DEVICES}")
            wait_until(lambda: self.database.query("SELECT count(*) FROM pg_locks WHERE NOT granted") != "0",
                       "the server waits for the table")
            assert self.database.query(f"SELECT count(*) FROM hub.send WHERE id = '{campaign}' AND cursor > 0") == "0"
            fault(number)
        return campaign, number

    def notifications(self, begun):
        """How many notifications each device has that were accepted from a time on, in milliseconds."""
        rows = self.database.query(f"SELECT device, count(*) FROM message WHERE accepted_at >= {begun} GROUP BY device")
        return {int(device): int(count) for device, count in (row.split("|") for row in rows.splitlines())}


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    made = HubNodes(tmp_path_factory.mktemp("nodes_hub"), "test_nodes_hub", COUNT)
    yield made
    made.end()


@pytest.fixture(scope="module")
def devices(nodes):
    """Devices with their tokens, enrolled at all servers."""

    def enrol(number):
        control = nodes.controls[number % COUNT]
        device = control.enrol()
        return device, control.token(device, TOPIC, TEAM, "production")

    with ThreadPoolExecutor(6) as pool:
        return list(pool.map(enrol, range(DEVICES)))


def put_all(hub, devices, **more):
    """Puts an installation for each device, at one server after the other."""

    def put(number):
        document = {"platform": "aldaba", "pushChannel": devices[number][1], "tags": ["all"]} | more
        status, told = hub[number % COUNT].ask("PUT", f"/installations/d{number}", document)
        assert status == 201, told

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(put, range(len(devices))))


@pytest.fixture(scope="module")
def fleet(nodes, devices):
    """A hub with all devices."""
    hub = nodes.hub("fleet")
    put_all(hub, devices)
    return hub


def begin(own, text, audience="all", headers=None, **more):
    """Begins a campaign; returns its id."""
    status, told = own.ask("POST", "/campaigns", {"audience": audience, "content": {"body": text}} | more, headers)
    assert status == 201, told
    return told["id"]


def report(own, campaign):
    status, told = own.ask("GET", f"/campaigns/{campaign}/report")
    assert status == 200, told
    return told


def recipients(own, campaign):
    """All rows of a campaign's report."""
    found, cursor = [], ""
    while cursor is not None:
        status, page = own.ask("GET", f"/campaigns/{campaign}/recipients?limit=1000&cursor={cursor}")
        assert status == 200, page
        found += page["recipients"]
        cursor = page.get("next")
    return found


def count(own, expression):
    status, told = own.ask("POST", "/audience", {"expression": expression})
    assert status == 200, told
    return told["count"]


def alert(notification):
    return json.loads(notification.payload)["aps"]["alert"]["body"]


def now():
    return int(time.time() * 1000)


def at_once(*works):
    """Runs functions at the same time; returns what they return."""
    barrier = threading.Barrier(len(works))

    def run(work):
        barrier.wait(10)
        return work()

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(run, works))


class Model:
    """What a hub has: the tags of its live installations, and whose each channel is."""

    def __init__(self, name, seed):
        self.name, self.choose = name, random.Random(seed)
        self.tags, self.channels = {}, {}

    def is_live(self, installation):
        return self.channels.get(installation) is not None

    def take(self, installation, channel):
        """A channel belongs to who named it last."""
        for other, owned in self.channels.items():
            if owned == channel:
                self.channels[other] = None
        self.channels[installation] = channel

    def expression(self):
        """An expression over the model's own tags, and the installations that it selects."""
        first, second = (f"{self.name}-{self.choose.randrange(4)}" for _ in range(2))
        text, holds = self.choose.choice([
            (first, lambda tags: first in tags),
            (f"{first} && !{second}", lambda tags: first in tags and second not in tags),
            (f"({first} || {second}) && {self.name}", lambda tags: first in tags or second in tags),
            (self.name, lambda tags: True),
        ])
        return text, sorted(each for each, tags in self.tags.items() if self.is_live(each) and holds(tags))

    def change(self, own):
        """Puts, patches or deletes an installation at a server, and here."""
        installation = f"{self.name}-i{self.choose.randrange(24)}"
        tags = [self.name] + [f"{self.name}-{number}" for number in range(4) if self.choose.random() < 0.4]
        channel = (self.name + f"{self.choose.randrange(30):02}").encode().hex()
        where = f"/installations/{installation}"
        kind = self.choose.choice(["put", "put", "tags", "channel", "delete"])
        status = {"put": lambda: own.ask("PUT", where, {"platform": "apns", "pushChannel": channel, "tags": tags}),
                  "tags": lambda: own.ask("PATCH", where, {"tags": tags}),
                  "channel": lambda: own.ask("PATCH", where, {"pushChannel": channel}),
                  "delete": lambda: own.ask("DELETE", where)}[kind]()[0]
        if kind == "put":
            assert status == (200 if installation in self.tags else 201)
        elif installation not in self.tags:
            assert status == 404, (kind, status)
            return
        else:
            assert status == (204 if kind == "delete" else 200), (kind, status)
        if kind == "delete":
            del self.tags[installation], self.channels[installation]
        if kind in ("put", "tags"):
            self.tags[installation] = tags
        if kind == "put" or kind == "channel" and self.channels[installation] != channel:
            self.take(installation, channel)


def listed(own, expression):
    status, told = own.ask("GET", "/installations?limit=1000&expression=" + expression.replace(" ", "%20").replace(
        "&", "%26").replace("|", "%7C"))
    assert status == 200, told
    return sorted(each["installationId"] for each in told["installations"])


def test_a_change_at_one_server_counts_in_the_next_request_of_every_server(nodes):
    """Three clients change installations of their own at random servers; each answer is as its model says, at once."""
    hub = nodes.hub("model")

    def work(seed):
        model = Model(f"m{seed}", seed)
        for turn in range(40):
            model.change(model.choose.choice(hub))
            text, wanted = model.expression()
            for own in hub:
                assert count(own, text) == len(wanted), (seed, turn, text)
                assert listed(own, text) == wanted, (seed, turn, text)
            if turn % 8 == 7:
                if model.tags:
                    one = model.choose.choice(sorted(model.tags))
                    told = model.choose.choice(hub).ask("POST", "/campaigns/preview", {
                        "installationId": one, "audience": text, "content": {"body": "x"}})[1]
                    reason = told.get("leftOut")
                    assert (reason is None) == (one in wanted), (seed, turn, one, told)
                campaign = begin(model.choose.choice(hub), "x", text)
                state = "Completed" if wanted else "NoTargetFound"
                reader = model.choose.choice(hub)
                reader.wait_for_campaign(campaign, state)
                assert sorted(each["installationId"] for each in recipients(reader, campaign)) == wanted
        return model

    with ThreadPoolExecutor(COUNT) as pool:
        models = list(pool.map(work, range(COUNT)))
    everybody = sum(sum(map(model.is_live, model.tags)) for model in models)
    assert {count(own, "") for own in hub} == {everybody}


def test_patches_at_all_servers_at_once_are_all_kept(nodes):
    hub = nodes.hub("patched")
    assert hub[0].ask("PUT", "/installations/one", {"platform": "apns", "pushChannel": "aa"})[0] == 201

    def patch(own, client):
        for number in range(15):
            assert own.ask("PATCH", "/installations/one", {"pushVariables": {f"v{client}-{number}": "x"}})[0] == 200

    at_once(*(lambda client=client: patch(hub[client % COUNT], client) for client in range(2 * COUNT)))
    for own in hub:
        assert len(own.ask("GET", "/installations/one")[1]["pushVariables"]) == 15 * 2 * COUNT


@pytest.mark.parametrize("quota", ["installations", "tags"])
def test_a_quota_holds_for_puts_at_all_servers_at_once(nodes, quota):
    name = f"quota-of-{quota}"
    hub = nodes.hub(name)
    nodes.servers[1].aldaba("hub", "limit", name, f"--{quota}", "10")

    def put(number):
        return hub[number % COUNT].ask("PUT", f"/installations/i{number}", {
            "platform": "apns", "pushChannel": f"{number:04x}", "tags": [f"t{number}"]})[0]

    statuses = at_once(*(lambda number=number: put(number) for number in range(10 * COUNT)))
    assert Counter(statuses) == {201: 10, 403: 10 * COUNT - 10}
    for own in hub:
        told = own.ask("GET")[1]
        assert (told["reachableInstallations"], told["distinctTags"], count(own, "")) == (10, 10, 10)


@contextmanager
def connected(nodes, devices, servers):
    """Connects devices to some servers in turn."""
    with ThreadPoolExecutor(6) as pool:
        channels = list(pool.map(
            lambda number: nodes.connected(servers[number % len(servers)], devices[number][0]), range(len(devices))))
    try:
        yield channels
    finally:
        for channel in channels:
            channel.cut()


def test_a_campaign_at_one_server_reaches_the_devices_of_the_others_once(nodes, devices, fleet):
    with connected(nodes, devices, (1, 2)) as channels:
        campaign = begin(fleet[0], "for all")
        for channel in channels:
            got = channel.notification(timeout=20)
            assert alert(got) == "for all"
            channel.acknowledge_selectively([got.persistent_id])
        for own in fleet:
            wait_until(lambda: report(own, campaign)["ends"] == {"delivered": DEVICES}, "the report has them all")
        assert all(channel.nothing_more() == [] for channel in channels)
    first, *others = [report(own, campaign) for own in fleet]
    assert first["state"] == "Completed" and first["funnel"][0]["count"] == DEVICES
    assert others == [first] * len(others)
    rows = recipients(fleet[0], campaign)
    assert sorted(each["installationId"] for each in rows) == sorted(f"d{number}" for number in range(DEVICES))
    assert all(recipients(own, campaign) == rows for own in fleet[1:])


def is_under_way(campaign):
    """The condition that the first notifications of a campaign are recorded, and that it has not ended."""
    return f"EXISTS (SELECT 1 FROM hub.send WHERE id = '{campaign}' AND ended_at IS NULL AND cursor > 0)"


def check_once(nodes, devices, fleet, campaign, begun):
    """Everybody has one notification since a time, and the report of every server says so."""
    assert nodes.notifications(begun) == {device: 1 for (device, _), _ in devices}
    outcomes = f"FROM hub.send_outcome JOIN hub.send ON number = send WHERE id = '{campaign}'"
    assert nodes.database.query(f"SELECT outcome, count {outcomes}") == f"Success|{DEVICES}"
    for own in fleet:
        told = report(own, campaign)
        assert told["funnel"][0]["count"] == sum(told["ends"].values()) == DEVICES
        assert told["ends"].get("waiting", 0) + told["ends"].get("delivered", 0) == DEVICES, told["ends"]
        assert len({each["installationId"] for each in recipients(own, campaign)}) == DEVICES


def check_shown_once(nodes, devices, text):
    """Devices that connect to all servers are sent a text once."""
    with connected(nodes, devices, range(COUNT)) as channels:
        for channel in channels:
            texts = []
            while text not in texts:
                texts.append(alert(channel.notification()))
            texts += [alert(each) for each in channel.nothing_more()]
            assert texts.count(text) == 1


@pytest.mark.parametrize("when", ["between slices", "before it records"])
def test_a_server_that_is_killed_at_work_leaves_its_campaign_to_the_others(nodes, devices, fleet, when):
    begun, text = now(), f"killed {when}"
    if when == "between slices":
        campaign = begin(fleet[1], text, rate=80)
        victim = nodes.at_work(STEP, is_under_way(campaign))
        nodes.kill(victim)
    else:
        campaign, victim = nodes.stop_before_it_records(fleet[1], text, begun, nodes.kill)
    try:
        for number in set(range(COUNT)) - {victim}:
            fleet[number].wait_for_campaign(campaign, "Completed")
    finally:
        nodes.start(victim)
    check_once(nodes, devices, fleet, campaign, begun)
    check_shown_once(nodes, devices[:20], text)


@pytest.mark.parametrize("its_connections", ["stay", "end"])
def test_a_server_that_stands_still_at_work_sends_nothing_twice(nodes, devices, fleet, its_connections):
    """If its connections to the database end, the others complete the campaign meanwhile."""
    begun, text = now(), f"connections {its_connections}"
    campaign = begin(fleet[2], text, rate=80)
    victim = nodes.at_work(STEP, is_under_way(campaign))
    others = [fleet[number] for number in range(COUNT) if number != victim]
    with nodes.standing_still(victim):
        if its_connections == "end":
            nodes.database.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                                 f"WHERE application_name = 'node{victim}'")
            for own in others:
                own.wait_for_campaign(campaign, "Completed")
        else:
            time.sleep(2)
    for own in fleet:
        own.wait_for_campaign(campaign, "Completed")
    check_once(nodes, devices, fleet, campaign, begun)
    check_shown_once(nodes, devices[:20], text)


class Receiver(PushService):
    """A webhook's receiver, which keeps the events that it answered, without reports of running campaigns."""

    def __init__(self):
        super().__init__(lambda _: (204, {}, b""))

    def events(self):
        told = [json.loads(each.body) for each in list(self.asked)]
        return [each for each in told if each["type"] != "campaign.report"]

    def ids(self):
        return [int(each["id"]) for each in self.events()]

    def ended(self):
        return {each["data"]["send"] for each in self.events() if each["type"] == "send.ended"}


@pytest.mark.timeout(120)
def test_a_webhook_is_told_once_and_in_order_by_whichever_server_is_there(nodes, devices):
    hub = nodes.hub("told")
    put_all(hub, devices[:4])
    with Receiver() as receiver:
        status, made = hub[1].ask("PUT", "/webhook", {"url": f"{receiver.url}/events"})
        assert status == 200, made

        def campaigns():
            return {begin(own, "x") for own in hub}

        sent = campaigns()
        wait_until(lambda: sent <= receiver.ended(), "the ends are told")
        assert receiver.ids() == sorted(set(receiver.ids()))
        teller = nodes.at_work(WEBHOOK)
        sent |= campaigns()
        known = len(receiver.ids())
        wait_until(lambda: len(receiver.ids()) > known, "another one is told")
        nodes.kill(teller)
        before = receiver.ids()
        wait_until(lambda: sent <= receiver.ended(), "the ends are told by another server", 30)
        nodes.start(teller)
        sent |= campaigns()
        wait_until(lambda: sent <= receiver.ended(), "the ends are told after the start", 30)
        # What was told last before the kill may not have been noted.
        after = receiver.ids()[len(before):]
        if after[0] == before[-1]:
            after = after[1:]
        told = before + after
        assert told == sorted(set(told))
        assert {each["type"] for each in receiver.events()} == {"send.ended"}
        for each in receiver.events():
            assert each["data"]["ends"] == report(hub[0], each["data"]["send"])["ends"], each
        assert receiver.ended() == sent and len(told) == len(sent) == 3 * COUNT
        assert hub[2].ask("DELETE", "/webhook")[0] == 204
        assert {own.ask("GET", "/webhook")[0] for own in hub} == {404}


def test_one_idempotency_key_at_all_servers_at_once_begins_one_send(nodes, devices, fleet):
    for turn in range(5):
        begun = now()
        text, headers = f"once {turn}", {"Idempotency-Key": f"key {turn}"}
        ids = at_once(*(lambda own=own: begin(own, text, "$InstallationId:{d3}", headers) for own in fleet * 3))
        assert len(set(ids)) == 1
        fleet[turn % COUNT].wait_for_campaign(ids[0], "Completed")
        assert nodes.notifications(begun) == {devices[3][0][0]: 1}
        document = {"audience": "all", "content": {"body": "another"}}
        assert {own.ask("POST", "/campaigns", document, headers)[0] for own in fleet} == {409}
    names = [each["id"] for each in fleet[0].ask("GET", "/campaigns?limit=1000")[1]["campaigns"]]
    assert len(names) == len(set(names))
    assert nodes.database.query("SELECT count(*), count(DISTINCT idempotency_key) FROM hub.send "
                                "WHERE idempotency_key LIKE 'key %'") == "5|5"


def test_a_cap_holds_for_campaigns_at_all_servers_at_once(nodes, devices):
    hub = nodes.hub("capped")
    put_all(hub, devices[:40])
    most, begun = 2, now()
    campaigns = at_once(*(
        lambda own=own: begin(own, "x", cap={"most": most, "hours": 24}) for own in hub * 3))
    for campaign in campaigns:
        hub[0].wait_for_campaign(campaign, "Completed")
    counts = nodes.notifications(begun)
    assert counts == {device: most for (device, _), _ in devices[:40]}
    left = Counter()
    for campaign in campaigns:
        told = hub[1].ask("GET", f"/campaigns/{campaign}")[1]
        left.update(told["leftOut"])
        ends = report(hub[2], campaign)["ends"]
        assert sum(ends.values()) == 40 and ends.get("ineligible", 0) == told["leftOut"].get("capped", 0)
    assert left == {"capped": (3 * COUNT - most) * 40}


def test_quiet_hours_and_a_cap_hold_together_at_all_servers(nodes, devices):
    """Of two halves one is in quiet hours. What they keep away does not count for the cap."""
    hub = nodes.hub("quiet")
    there = datetime.now(timezone.utc)
    quiet = {
        "from": (there - timedelta(hours=2)).strftime("%H:%M"), "to": (there + timedelta(hours=2)).strftime("%H:%M"),
        "then": "skip", "unknownZone": "skip"}
    awake, asleep = devices[:20], devices[20:40]
    put_all(hub, awake + asleep, timeZone="Pacific/Auckland")
    for number in range(20, 40):
        status, _ = hub[number % COUNT].ask("PATCH", f"/installations/d{number}", {"timeZone": "UTC"})
        assert status == 200
    begun = now()
    plan = {"quiet": quiet, "cap": {"most": 1, "hours": 1}}
    campaigns = at_once(*(lambda own=own: begin(own, "x", **plan) for own in hub * 2))
    for campaign in campaigns:
        hub[1].wait_for_campaign(campaign, "Completed")
    assert nodes.notifications(begun) == {device: 1 for (device, _), _ in awake}
    begun = now()
    last = begin(hub[2], "x", cap={"most": 1, "hours": 1})
    hub[0].wait_for_campaign(last, "Completed")
    assert nodes.notifications(begun) == {device: 1 for (device, _), _ in asleep}


def test_an_import_beside_one_server_counts_in_the_next_request_of_every_server(nodes, tmp_path):
    hub = nodes.hub("imported")
    assert [count(own, "all") for own in hub] == [0] * COUNT
    file = tmp_path / "installations.jsonl"
    for turn in (1, 2):
        total = turn * 2500
        file.write_text("\n".join(json.dumps({
            "installationId": f"i{number}", "platform": "apns", "pushChannel": f"{number:08x}",
            "tags": ["all", f"turn{turn}", f"t{number % 7}"]}) for number in range(total)))
        made = json.loads(nodes.servers[0].aldaba("hub", "import", "imported", file, "--json").stdout.splitlines()[0])
        assert (made["put"], made["added"], made["wrong"]) == (total, 2500, 0)
        wanted = sum(number % 7 == 3 for number in range(total))
        for own in hub:
            assert (count(own, "all"), count(own, f"turn{turn}"), count(own, "t3")) == (total, total, wanted)
        # A change after it counts too.
        assert hub[1].ask("DELETE", f"/installations/i{total - 1}")[0] == 204
        assert [count(own, f"turn{turn}") for own in hub] == [total - 1] * COUNT
        assert hub[2].ask("PUT", f"/installations/i{total - 1}", {
            "platform": "apns", "pushChannel": f"{total - 1:08x}", "tags": ["all"]})[0] == 201


def asked(nodes, number, hub, bearer, rest="/campaigns"):
    """The status of a request with a key of the hub's own API."""
    return nodes.controls[number].request(
        "GET", f"/v1/hubs/{hub}{rest}", None, {"authorization": f"Bearer {bearer}"})[0]


def test_hubs_and_keys_made_and_revoked_beside_one_server_count_at_once_at_every_server(nodes):
    for turn in range(3):
        name = f"keys{turn}"
        nodes.servers[turn].aldaba("hub", "create", name, "--app", TOPIC)
        bearer = json.loads(nodes.servers[0].aldaba(
            "hub", "key", "create", name, "reader", "--api", "--rights", "Report", "--json").stdout)["bearer"]
        for number in range(COUNT):
            assert asked(nodes, number, name, bearer) == 200
            assert asked(nodes, number, name, bearer, "/installations") == 403
            assert asked(nodes, number, "fleet", bearer) == 401
        nodes.servers[(turn + 1) % COUNT].aldaba("hub", "key", "revoke", name, "reader")
        assert [asked(nodes, number, name, bearer) for number in range(COUNT)] == [401] * COUNT


def test_a_person_who_is_erased_at_one_server_is_in_no_answer_of_any(nodes, devices):
    hub = nodes.hub("erased")
    put_all(hub, devices[:6], userId="anna")
    assert hub[1].ask("PUT", "/installations/other", {
        "platform": "aldaba", "pushChannel": devices[6][1], "tags": ["all"], "userId": "ben"})[0] == 201
    campaign = begin(hub[2], "for anna")
    hub[0].wait_for_campaign(campaign, "Completed")
    status, told = hub[0].ask("DELETE", "/users/anna")
    assert status == 200, told
    assert sorted(told["installations"]) == [f"d{number}" for number in range(6)] and told["notifications"] == 6
    for own in hub:
        assert count(own, "all") == count(own, "") == 1
        assert count(own, "$UserId:{anna}") == 0 and listed(own, "all") == ["other"]
        assert own.ask("GET", "/installations?user=anna")[1]["installations"] == []
        assert {own.ask("GET", f"/installations/d{number}")[0] for number in range(6)} == {404}
        assert sorted(each["installationId"] for each in recipients(own, campaign)) == [""] * 6 + ["other"]
        status, told = own.ask("GET", "/users/anna/export")
        assert status == 404 or told["installations"] == [], told
    for number in range(COUNT):
        with nodes.connected(number, devices[number][0]) as channel:
            texts = [alert(each) for each in channel.nothing_more() if each.payload]
            assert "for anna" not in texts
    later = begin(hub[1], "later")
    hub[2].wait_for_campaign(later, "Completed")
    assert [each["installationId"] for each in recipients(hub[0], later)] == ["other"]


def test_servers_that_make_the_same_hub_at_once_make_one(nodes):
    for turn in range(3):
        names = [f"same{turn}", f"SAME{turn}", f"Same{turn}"]
        done = at_once(*(
            lambda number=number: nodes.servers[number].aldaba(
                "hub", "create", names[number], "--app", TOPIC, check=False)
            for number in range(COUNT)))
        assert sorted(each.returncode for each in done) == [0, 1, 1], [each.stderr for each in done]
        assert all("there already is a hub" in each.stderr for each in done if each.returncode)
        for control in nodes.controls:
            assert [control.request("GET", f"/v1/hubs/{name}")[0] for name in names] == [200] * COUNT
    listed = json.loads(nodes.servers[2].aldaba("hub", "list", "--json").stdout)
    assert sum(each["hub"].lower().startswith("same") for each in listed) == 3


@pytest.mark.parametrize("fault", ["PostgreSQL crashes", "NATS is killed"])
def test_a_campaign_outlives_what_is_between_the_servers(nodes, devices, fleet, fault):
    begun = now()
    campaign = begin(fleet[0], fault, rate=80)
    nodes.at_work(STEP, is_under_way(campaign))
    if fault == "PostgreSQL crashes":
        nodes.database.end(signal.SIGQUIT)
        nodes.database.start()
    else:
        nodes.nats.kill()
    try:
        # While PostgreSQL is gone, requests are refused.
        wait_until(lambda: fleet[1].ask("GET", f"/campaigns/{campaign}")[1].get("state") == "Completed",
                   "the campaign is completed", 30)
    finally:
        if nodes.nats.process.poll() is not None:
            nodes.nats.start()
    check_once(nodes, devices, fleet, campaign, begun)


def test_a_server_that_stands_still_at_work_holds_up_no_other(nodes, devices, fleet):
    """Its transaction and its claim end meanwhile: the others make changes and erasures, and complete its campaign."""
    begun, faults = now(), []

    def stop(number):
        nodes.servers[number].process.send_signal(signal.SIGSTOP)

    campaign, victim = nodes.stop_before_it_records(fleet[0], "held up", begun, stop)
    with nodes.standing_still(victim):
        one, two = (number for number in range(COUNT) if number != victim)
        elsewhere = OwnHub({"hubName": "model"}, KeptControl(nodes.servers[one], nodes.key, seconds=5))
        later = begin(elsewhere, "later", "$InstallationId:{none}")
        elsewhere.wait_for_campaign(later, "NoTargetFound")
        try:
            assert elsewhere.ask("DELETE", "/users/nobody")[0] == 200
        except TimeoutError as error:
            faults.append(f"an erasure in another hub: {error!r}")
        began = time.monotonic()
        document = {"platform": "aldaba", "pushChannel": devices[0][1], "tags": ["all"]}
        status, _ = fleet[two].ask("PUT", "/installations/d0", document)
        if status != 200:
            faults.append(f"a put was answered with {status} after {time.monotonic() - began:.1f} s")
        try:
            wait_until(lambda: fleet[one].ask("GET", f"/campaigns/{campaign}")[1]["state"] == "Completed",
                       "the campaign is completed", 15)
        except TimedOut as error:
            faults.append(str(error))
    for own in fleet:
        own.wait_for_campaign(campaign, "Completed")
    check_once(nodes, devices, fleet, campaign, begun)
    assert not faults, faults
