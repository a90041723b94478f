"""Live Activities of apps of the package for Python on a real agent: the screen, pushes, refusals, a reconnection."""

import asyncio
import datetime
import json
import sys
import threading
import time
from concurrent.futures import Future
from dataclasses import dataclass

import pytest

from aldaba_process import clean_environment
from provider import Provider
from screen import Screen
from script_app import TEAM, ScriptApp
from vector_agent import AgentDouble, api
from waiting import wait_until

TEXTS = {"Delivery": {
    "title": "Order {order}", "body": "{state.driver} arrives in {state.minutes} min", "progress": "state.progress"}}
SECONDS = 20
TYPED = {"attributes_type": "Delivery"}


@dataclass
class Delivery:
    order: str


@dataclass
class Progress:
    driver: str
    minutes: int
    progress: float = 0.0


class ThreadsApp:
    """An app with `Agent`, and what its handlers were called with."""

    kind = api.Agent

    def __init__(self, world):
        self.updates, self.tokens, self.start_tokens = [], [], []
        self.agent = world.client(self.kind)
        self.name_handlers(self.updates, self.tokens, self.start_tokens)
        self.open()

    def name_handlers(self, updates, tokens, start_tokens):
        self.agent.activities.on_update(self.handler(updates))
        self.agent.activities.on_push_token(self.handler(tokens))
        self.agent.activities.on_push_to_start_token(self.handler(start_tokens))

    def handler(self, told):
        return told.append

    def open(self):
        self.agent.connect()

    def close(self):
        self.agent.close()

    def call(self, name, *arguments, **options):
        return getattr(self.agent.activities, name)(*arguments, **options)

    def wait_for(self, condition, reason):
        return wait_until(lambda: [each for each in list(self.updates) if condition(each)], reason)[0]


class AsyncApp(ThreadsApp):
    """An app with `AsyncAgent`, whose loop runs in a thread."""

    kind = api.AsyncAgent

    def __init__(self, world):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        super().__init__(world)

    def handler(self, told):
        async def handle(value):
            await asyncio.sleep(0)
            told.append(value)
        return handle

    def name_handlers(self, *told):
        async def name():
            ThreadsApp.name_handlers(self, *told)

        self.run(name())

    def run(self, work):
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(SECONDS)

    def open(self):
        self.run(self.agent.connect())

    def close(self):
        self.run(self.agent.close())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS)
        self._loop.close()

    def call(self, name, *arguments, **options):
        return self.run(getattr(self.agent.activities, name)(*arguments, **options))


def is_dismissed(activity):
    return lambda each: each.id == activity.id and each.state is api.ActivityState.DISMISSED


class World:
    """A script on an agent of its own, which has a screen."""

    def __init__(self, up, control, screen):
        self.control, self.screen = control, screen
        self.app = ScriptApp(up, "test_python_activities", environment=screen.environment, liveActivities=TEXTS)
        self.provider = Provider(up.ready)

    def client(self, kind):
        return kind(self.app.id, secret=self.app._secret, path=self.app.agent.socket)

    def push(self, token, event, seconds=0, **members):
        sent = {"aps": {"timestamp": int(time.time()) + seconds, "event": event} | {
            name.replace("_", "-"): value for name, value in members.items()}}
        answer = self.provider.post(
            token, sent, apns_topic=self.app.id + ".push-type.liveactivity", apns_push_type="liveactivity")
        assert (answer.status, answer.reason) == (200, None)
        return answer.apns_id

    def shown(self, body):
        """The newest `Notify` with a text."""
        wait_until(lambda: [each for each in self.screen.notified() if each[4] == body], f"{body!r} is on the screen")
        return [each for each in self.screen.notified() if each[4] == body][-1]

    def stop(self):
        self.provider.close()
        self.app.stop()


@pytest.fixture(scope="module")
def world(up, control):
    screen = Screen(clean_environment(), server="mock")
    made = World(up, control, screen)
    yield made
    made.stop()
    screen.stop()


@pytest.fixture(params=[ThreadsApp, AsyncApp], ids=["threads", "asyncio"])
def app(world, request):
    made = request.param(world)
    yield made
    for each in made.call("current"):
        if each.is_running:
            made.call("end", each, dismissal=api.Dismissal.IMMEDIATE)
    made.close()


@pytest.mark.desktop
def test_an_activity_is_requested_updated_in_place_and_ended(world, app):
    assert app.call("are_enabled") is True
    stale = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=2)
    activity = app.call("request", Delivery("7"), Progress("Ada", 30, 0.25), stale_date=stale, relevance_score=0.5)
    assert (activity.attributes_type, activity.attributes) == ("Delivery", {"order": "7"})
    assert activity.state is api.ActivityState.ACTIVE
    assert activity.content.state == {"driver": "Ada", "minutes": 30, "progress": 0.25}
    assert abs(activity.content.stale_date - stale) < datetime.timedelta(milliseconds=1)
    first = world.shown("Ada arrives in 30 min")
    assert (first[1], first[3], first[6]["value"]) == (0, "Order 7", 25)
    number = wait_until(lambda: world.screen.numbers("Order 7"), "it has a number")[-1]
    alert = api.ActivityAlert("Almost there", "Come down", api.Sound())
    app.call("update", activity, Progress("Ada", 5, 0.75), alert=alert)
    second = world.shown("Come down\nAda arrives in 5 min")
    assert (second[1], second[3], second[6]["value"]) == (number, "Almost there", 75)
    [now] = app.call("current")
    assert (now.id, now.content.state["minutes"], now.content.stale_date) == (activity.id, 5, None) and now.is_running
    app.call("end", activity.id, Progress("Ada", 0, 1.0), dismissal=stale)
    ended = app.wait_for(lambda each: each.state is api.ActivityState.ENDED, "it has ended")
    assert (ended.id, ended.content.state["minutes"], ended.is_running) == (activity.id, 0, False)
    world.shown("Ada arrives in 0 min")
    other = app.call("request", Delivery("8"), Progress("Bob", 9))
    other_number = wait_until(lambda: world.screen.numbers("Order 8"), "it has a number")[-1]
    app.call("end", other, dismissal=api.Dismissal.IMMEDIATE)
    gone = app.wait_for(is_dismissed(other), "it is dismissed")
    assert gone.content.state == {"driver": "Bob", "minutes": 9, "progress": 0.0}
    wait_until(lambda: other_number in world.screen.closed(), "it leaves the screen")
    world.screen.close(world.screen.numbers("Almost there")[-1], 2)
    app.wait_for(is_dismissed(activity), "the person dismissed it")
    assert app.call("current") == []


def test_pushes_to_the_token_of_an_activity_reach_the_app(world, app):
    activity = app.call("request", {"order": "9"}, {"minutes": 30}, **TYPED, pushes=api.PushType.TOKEN)
    [told] = wait_until(lambda: list(app.tokens), "its token is told")
    assert (told.id, len(told.push_token), told.push_token[:64]) == (activity.id, 96, world.app.token)
    reference = world.push(told.push_token, "update", content_state={"minutes": 12}, relevance_score=50)
    changed = app.wait_for(lambda each: each.content.state == {"minutes": 12}, "the push has updated it")
    assert (changed.id, changed.content.relevance_score, changed.push_token) == (activity.id, 50, told.push_token)
    world.control.wait_for_last_state(reference, "presented")
    world.push(told.push_token, "end", 1, content_state={"minutes": 0}, dismissal_date=1)
    assert app.wait_for(is_dismissed(activity), "it has ended").content.state == {"minutes": 0}
    assert app.tokens == [told]


def test_a_push_starts_an_activity_and_the_app_gets_its_token(world, app):
    [token] = wait_until(lambda: list(app.start_tokens), "the token for starts is told")
    assert token == world.app.token + "0" * 32 == app.agent.activities.push_to_start_token
    world.push(token, "start", **{
        "attributes-type": "Delivery", "attributes": {"order": "8"}, "content-state": {"minutes": 40},
        "input-push-token": 1, "alert": {"title": "On its way", "body": "Order 8"}})
    began = app.wait_for(lambda each: each.attributes == {"order": "8"}, "it has begun")
    assert (began.attributes_type, began.content.state) == ("Delivery", {"minutes": 40})
    [told] = wait_until(lambda: list(app.tokens), "its token is told")
    world.push(told.push_token, "update", 1, content_state={"minutes": 39})
    assert app.wait_for(lambda each: each.content.state == {"minutes": 39}, "it is updated").id == began.id


def test_a_handler_that_is_named_later_is_told_what_there_is(world, app):
    activity = app.call("request", {"order": "4"}, {"minutes": 30}, **TYPED, pushes=api.PushType.TOKEN)
    wait_until(lambda: app.tokens, "its token is told")
    updates, tokens, starts = [], [], []
    app.name_handlers(updates, tokens, starts)
    wait_until(lambda: updates and tokens and starts, "the new handlers are told")
    assert {each.id for each in updates + tokens} == {activity.id} and starts == app.start_tokens
    assert tokens[0].push_token == app.tokens[0].push_token


def test_a_refused_request_raises_the_error_of_its_code(world, app):
    with pytest.raises(api.InvalidActivity, match="32 lower-case") as refused:
        app.call("request", {}, {}, **TYPED, identifier="x")
    assert (refused.value.code, isinstance(refused.value, api.AgentError)) == ("invalid", True)
    with pytest.raises(api.InvalidActivity, match="base64"):
        app.call("request", {}, {}, **TYPED, pushes=api.ChannelPushes("%"))
    with pytest.raises(api.ActivityTooLarge, match="at most 4096"):
        app.call("request", {}, {"a": "x" * 4_096}, **TYPED)
    with pytest.raises(api.NoActivity):
        app.call("update", "0" * 31 + "1", {})
    for number in range(8):
        app.call("request", {"n": number}, {}, **TYPED)
    with pytest.raises(api.TooManyActivities):
        app.call("request", {"n": 8}, {}, **TYPED)
    [first] = [each for each in app.call("current") if each.attributes == {"n": 0}]
    app.call("end", first, dismissal=api.Dismissal.IMMEDIATE)
    with pytest.raises(api.NoActivity) as over:
        app.call("end", first)
    assert over.value.code == "noActivity"
    assert app.call("request", {"n": 9}, {}, **TYPED).attributes == {"n": 9}


def test_what_changed_while_the_agent_was_away_is_told_after_the_reconnection(world, app):
    activity, gone = [app.call(
        "request", {"order": order}, {"minutes": 30}, **TYPED, pushes=api.PushType.TOKEN) for order in "12"]
    wait_until(lambda: len(app.tokens) == 2, "their tokens are told")
    [token] = [each.push_token for each in app.tokens if each.id == activity.id]
    [other] = [each.push_token for each in app.tokens if each.id == gone.id]
    world.app.end_agent()
    wait_until(lambda: not app.agent.is_connected, "the connection has ended")
    world.push(token, "update", content_state={"minutes": 4})
    world.push(other, "end", content_state={"minutes": 0}, dismissal_date=1)
    made = []
    asking = threading.Thread(target=lambda: made.append(app.call(
        "request", {"order": "3"}, {"minutes": 50}, **TYPED)))
    asking.start()
    told = len(app.updates)
    world.app.agent.start()
    asking.join(SECONDS)
    assert app.wait_for(lambda each: each.content.state == {"minutes": 4}, "the push is told").id == activity.id
    app.wait_for(is_dismissed(gone), "the end is told")
    assert {each.id for each in app.call("current")} == {activity.id, made[0].id}
    later = app.updates[told:]
    different = {(each.id, each.state, json.dumps(each.content.state)) for each in later}
    assert len(later) == len(different), "each is told once"
    assert {each.id for each in app.tokens} == {activity.id, gone.id} and len(app.tokens) == 2
    assert app.start_tokens == [world.app.token + "0" * 32]


def test_an_app_whose_notifications_are_denied_may_start_none(up, world):
    denied = ScriptApp(up, "test_python_activities_denied")
    try:
        secret = denied.agent.install(
            id=denied.id, name="Script", team=TEAM, executable=sys.executable, provesBySecret=True,
            authorization="ask")
        denied.agent.aldaba("settings", denied.id, "allowed=no")
        with api.Agent(denied.id, secret=secret, path=denied.agent.socket) as agent:
            assert agent.activities.are_enabled() is False
            with pytest.raises(api.ActivitiesDenied) as refused:
                agent.activities.request(Delivery("1"), Progress("Ada", 1))
            assert refused.value.code == "denied"
    finally:
        denied.stop()


def test_the_streams_of_one_activity_end_with_it(world):
    with world.client(api.Agent) as agent:
        activities = agent.activities
        activity = activities.request(Delivery("5"), Progress("Ada", 30), pushes=api.PushType.TOKEN)
        token = next(activities.push_tokens(activity, timeout=SECONDS)).push_token
        assert next(activities.push_to_start_tokens(timeout=SECONDS)) == world.app.token + "0" * 32
        other = activities.request(Delivery("6"), Progress("Eve", 7))
        minutes = []
        for each in activities.updates(activity, timeout=SECONDS):
            minutes.append((each.content.state["minutes"], each.state.value))
            if minutes[-1] == (30, "active"):
                world.push(token, "update", content_state={"minutes": 5})
            elif minutes[-1] == (5, "active"):
                activities.end(activity, dismissal=api.Dismissal.IMMEDIATE)
        assert minutes == [(30, "active"), (5, "active"), (5, "dismissed")]
        assert [each.state for each in activities.updates(activity)] == [api.ActivityState.DISMISSED]
        assert [each.id for each in activities.updates(timeout=0.05)] == [other.id], "there is one"
        assert list(activities.push_tokens("0" * 32, timeout=SECONDS)) == [], "there is no such activity"
        activities.end(other, dismissal=api.Dismissal.IMMEDIATE)


def test_the_asynchronous_streams_of_one_activity_end_with_it(world):
    async def scene():
        async with world.client(api.AsyncAgent) as agent:
            activities = agent.activities
            activity = await activities.request(Delivery("5"), Progress("Ada", 30), pushes=api.PushType.TOKEN)
            async for each in activities.push_tokens(activity, timeout=SECONDS):
                token = each.push_token
                break
            async for start in activities.push_to_start_tokens(timeout=SECONDS):
                assert start == world.app.token + "0" * 32
                break
            minutes = []
            async for each in activities.updates(activity, timeout=SECONDS):
                minutes.append((each.content.state["minutes"], each.state.value))
                if minutes[-1] == (30, "active"):
                    await asyncio.to_thread(world.push, token, "update", content_state={"minutes": 5})
                elif minutes[-1] == (5, "active"):
                    await activities.end(activity, dismissal=api.Dismissal.IMMEDIATE)
            assert minutes == [(30, "active"), (5, "active"), (5, "dismissed")]
            assert [each async for each in activities.updates(timeout=0.05)] == []

    asyncio.run(scene())


# Without an agent


@pytest.fixture
def double(tmp_path):
    made = AgentDouble(tmp_path / "s")
    yield made
    made.close()


def wire(number, **members):
    return {
        "id": f"{number:032x}", "attributesType": "Delivery", "attributes": "{}", "state": "active",
        "content": {"state": json.dumps({"n": number}), "relevanceScore": 0}} | members


def test_a_slow_handler_is_told_of_all_activities_in_the_end(double):
    agent, may_go, told = api.Agent("com.example.todo", path=double.path), threading.Event(), {}

    @agent.activities.on_update
    def slow(activity):
        assert may_go.wait(SECONDS)
        told[activity.id] = activity

    def welcome():
        assert double.read()["type"] == "hello"
        double.send({"type": "welcome", "version": 1, "state": "active", "authorization": 2})
        assert double.read() == {"type": "activity", "command": "observe"}
        assert [double.read()["type"] for _ in range(2)] == ["stateChanged", "ready"]

    connecting = threading.Thread(target=agent.connect)
    connecting.start()
    welcome()
    connecting.join(SECONDS)
    try:
        for number in range(1, 301):
            double.send({"type": "activity", "event": "changed", "activity": wire(number)})
        double.send({"type": "enter", "state": "active"})
        assert double.read() == {"type": "stateChanged", "state": "active"}, "the client has read them all"
        may_go.set()
        assert double.read() is None, "those that found no space are asked for on a new connection"
        double.accept()
        welcome()
        double.send({"type": "activity", "event": "all", "activities": [wire(number) for number in range(1, 301)]})
        wait_until(lambda: len(told) == 300, "each was told")
    finally:
        may_go.set()
        agent.close()


def test_dismissed_activities_are_forgotten_and_a_reader_gets_the_newest(double):
    from aldaba._agent_activity_store import REMEMBERED_DISMISSALS, KnownActivities
    from aldaba._agent_events import EventQueue

    known = KnownActivities(EventQueue())
    reader = known.reader(known.changes)
    for n in range(3):
        content = {"state": json.dumps({"n": n}), "relevanceScore": 0, "staleDate": 1 << 62}
        known.received({"event": "changed", "activity": wire(1, content=content)})
    [newest] = reader.take()
    assert (newest.content.state, newest.content.stale_date.year) == ({"n": 2}, 9999)
    assert reader.take() is None
    for number in range(2, 500):
        known.received({"event": "changed", "activity": wire(number, pushToken="00ff")})
        known.received({"event": "changed", "activity": wire(number, pushToken="00ff", state="dismissed")})
    assert len(known.changes) == REMEMBERED_DISMISSALS + 1 and known.tokens == {} and len(known.current) == 1
    assert known.reader(known.changes).take()[0].id == newest.id


def test_requests_for_the_list_are_bounded_and_fail_when_the_client_ends():
    from aldaba._agent_protocol import AgentProtocol

    protocol, waiters = AgentProtocol("com.example.todo"), [Future() for _ in range(1_000)]
    numbers = [protocol.list_activities(waiter) for waiter in waiters]
    with pytest.raises(api.AgentError, match="too many") as refused:
        protocol.list_activities(Future())
    assert refused.value.code == "tooManyRequests"
    protocol.forget(numbers[0])
    protocol.close(api.AgentError("closed", "The client was closed."))
    assert not waiters[0].done() and {each.exception(0).code for each in waiters[1:]} == {"closed"}


@pytest.mark.parametrize("attributes, options, error, words", [
    ({}, {}, TypeError, "attributes_type"), ([], {"attributes_type": "A"}, TypeError, "a dictionary"),
    ({"a": {1}}, {"attributes_type": "A"}, ValueError, "the attributes cannot be written"),
    ({"a": float("nan")}, {"attributes_type": "A"}, ValueError, "the attributes cannot be written"),
    ({}, {"attributes_type": "A", "pushes": "push"}, ValueError, "PushType"),
])
def test_a_wrong_activity_is_named_before_it_is_sent(attributes, options, error, words):
    with pytest.raises(error, match=words):
        api.Agent("a", path="/nowhere").activities.request(attributes, {}, **options)
