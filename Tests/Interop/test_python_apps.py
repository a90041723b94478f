"""Apps of the package for Python on a real agent: pushes, reminders, the direct channel, a service extension, deaths."""

import asyncio
import os
import queue
import re
import sys
import threading
from pathlib import Path

import pytest
from firebase_admin import messaging

from aldaba_process import REPOSITORY
from fcm_library import firebase_app
from pages import run_shell
from provider import Provider
from script_app import TEAM, ScriptApp
from vector_agent import PACKAGE, api
from waiting import wait_until


@pytest.mark.skipif(not os.access("/usr/bin/python3", os.X_OK), reason="the page uses the system's Python")
def test_the_commands_of_the_page_print_what_it_says(up, tmp_path):
    done = run_shell("python-app.md", tmp_path, up.data, before=f"export PYTHONPATH={PACKAGE} PYTHONDONTWRITEBYTECODE=1")
    assert done.returncode == 0, done.stderr
    created, token, push_token, ended = done.stdout.splitlines()
    assert created in (REPOSITORY / "Docs/python-app.md").read_text()
    assert re.fullmatch("token: [0-9a-f]{64}", token)
    assert re.fullmatch(f"push {token}[0-9a-f]{{32}}", push_token)
    assert ended == "dismissed {'minutes': 0}" and ended in (REPOSITORY / "Docs/python-app.md").read_text()


class World:
    """A script in Python on an agent of its own, whose service extension is in Python too."""

    def __init__(self, up, control):
        self.control = control
        self.app = ScriptApp(up, "test_python_apps")
        self.provider = Provider(up.ready, topic=self.app.id)

    def client(self, kind=api.Agent, **options):
        return kind(self.app.id, secret=self.app._secret, path=self.app.agent.socket, **options)

    def push(self, title, **aps):
        answer = self.provider.post(self.app.token, {"aps": {"alert": {"title": title}} | aps, "picture": "http://127.0.0.1:1/a.jpg"})
        assert (answer.status, answer.reason) == (200, None)
        return answer.apns_id

    def wait_for_state(self, reference, state):
        wait_until(lambda: state in self.control.states(reference), f"it is {state}: {self.control.states(reference)}")

    def listed(self, title):
        return [each for each in self.app.agent.listed() if each["content"].get("title") == title]

    def stop(self):
        self.provider.close()
        self.app.stop()


@pytest.fixture(scope="module")
def world(up, control):
    made = World(up, control)
    yield made
    made.stop()


def test_a_push_comes_to_its_handler_and_is_presented(world):
    agent, came = world.client(), queue.Queue()

    @agent.on_notification
    def show(notification, kind):
        came.put((notification, kind))
        return SHOWN

    with agent:
        assert agent.register() == world.app.token == agent.token
        reference = world.push("Bread")
        notification, kind = came.get(timeout=20)
        assert (notification.content.title, notification.apns_id, kind) == ("Bread", reference, api.Kind.FOREGROUND)
        world.wait_for_state(reference, "presented")
        wait_until(lambda: agent.unconfirmed == [], "the agent has confirmed it")
        assert "Bread" in [each.content.title for each in agent.delivered()]
        agent.remove_delivered()
        assert agent.delivered() == []


def test_a_push_comes_to_an_asynchronous_handler(world):
    async def scene():
        agent, came = world.client(api.AsyncAgent), asyncio.Queue()

        @agent.on_notification
        async def show(notification, kind):
            # A handler may ask, while others wait.
            await came.put((notification, await agent.badge()))
            return SHOWN

        async with agent:
            assert await agent.register() == world.app.token
            await agent.set_badge(4)
            reference = await asyncio.to_thread(world.push, "Milk")
            notification, badge = await asyncio.wait_for(came.get(), 20)
            assert (notification.content.title, badge) == ("Milk", 4)
            await asyncio.to_thread(world.wait_for_state, reference, "presented")
            await agent.set_badge(0)
            await agent.remove_delivered()

    asyncio.run(scene())


SHOWN = api.PresentationOptions.LIST | api.PresentationOptions.BANNER
REPLY = api.Action("say", "Answer", text_input=api.TextInput("Send", "When?"))


def test_a_reply_to_a_reminder_comes_once(world):
    with world.client() as agent:
        agent.set_categories([api.Category("dinner", (REPLY,))])
        assert agent.categories() == [api.Category("dinner", (REPLY,))]
        content = api.Content(title="Dinner?", category_identifier="dinner", user_info={"table": 7, "who": "Zoë"})
        agent.add(api.Request("dinner", content, api.TimeIntervalTrigger(1)))
        wait_until(lambda: world.listed("Dinner?"), "its time has come")
        [listed] = [each for each in agent.delivered() if each.identifier == "dinner"]
        assert (listed.content, listed.trigger, listed.is_remote) == (content, api.TimeIntervalTrigger(1), False)
        world.app.agent.aldaba("notifications", "act", listed.id, "--action", "say", "--text", "At seven")
        for response in agent.responses(timeout=20):
            assert (response.action, response.user_text, response.notification.identifier) == ("say", "At seven", "dinner")
            assert response.notification.content.user_info["table"] == 7 and not response.is_opening
            break
    with world.client() as agent:
        assert list(agent.responses(timeout=0.5)) == [], "it is handled"


def test_requests_come_back_as_they_were_made(world):
    requests = [
        api.Request("feast", api.Content(title="Feast"), api.CalendarTrigger(
            month=6, day=10, hour=9, time_zone="Europe/Berlin", calendar=api.Calendar("chinese", "Europe/Berlin"), repeats=True)),
        api.Request("home", api.Content(body="Home", sound=api.Sound()), api.RegionTrigger("home", 52.5, 13.25, 100.0, on_exit=True)),
        api.Request("tea", api.Content(title="Tea", interruption_level=api.InterruptionLevel.PASSIVE), api.TimeIntervalTrigger(
            90.5))]
    with world.client() as agent:
        for request in requests:
            agent.add(request)
        assert sorted(agent.pending(), key=lambda each: each.identifier) == requests
        agent.remove_pending(["tea", "home"])
        assert [each.identifier for each in agent.pending()] == ["feast"]
        agent.remove_pending()
        assert agent.pending() == []
        assert agent.settings().authorization_status == api.AuthorizationStatus.AUTHORIZED
        assert agent.request_authorization().granted
        assert agent.open_url("file:///etc/passwd").outcome is api.OpeningOutcome.REFUSED
        with pytest.raises(api.AgentError) as refused:
            agent.add(api.Request("soon", api.Content(title="x"), api.TimeIntervalTrigger(-1)))
        assert isinstance(refused.value.code, int) and refused.value.message


def test_a_wrong_secret_is_refused(world):
    with pytest.raises(api.AgentError) as refused:
        api.Agent(world.app.id, secret="wrong", path=world.app.agent.socket).connect()
    assert isinstance(refused.value.code, str) and refused.value.message


@pytest.mark.parametrize("place", ["handOver.after", "storeHandled.before", "storeHandled.after", "confirmHandled.before"])
def test_a_handler_runs_once_though_the_agent_dies_before_it_confirms(world, place):
    agent, came = world.client(), []

    @agent.on_notification
    def show(notification, kind):
        came.append(notification.content.title)
        return SHOWN

    with agent:
        world.app.agent.arm(place)
        reference = world.push(place)
        world.app.agent.wait_for_death()
        world.app.agent.start()
        world.wait_for_state(reference, "presented")
        wait_until(lambda: agent.unconfirmed == [], "the new agent has confirmed it")
        assert came == [place]


def test_an_agent_that_is_killed_while_a_handler_runs_gets_its_answer(world):
    agent, began, may_end, came = world.client(), threading.Event(), threading.Event(), []

    @agent.on_notification
    def show(notification, kind):
        came.append(notification.content.title)
        began.set()
        assert may_end.wait(60)
        return SHOWN

    with agent:
        reference = world.push("Slow")
        assert began.wait(20)
        world.app.end_agent()
        wait_until(lambda: not agent.is_connected, "the connection has ended")
        world.app.agent.start()
        wait_until(lambda: agent.is_connected, "the client has connected again")
        may_end.set()
        world.wait_for_state(reference, "presented")
        assert came == ["Slow"]


@pytest.mark.filterwarnings("ignore:.*is deprecated. Use:DeprecationWarning")
def test_data_messages_of_the_direct_channel_and_of_a_topic_come(world, path, monkeypatch):
    with firebase_app(monkeypatch, path["fcm"], path["serviceAccount"], name="python-agent") as app, world.client() as agent:
        ends = queue.Queue()
        agent.on_upstream_ended(ends.put)
        agent.open_channel()
        agent.subscribe("news")
        messaging.send(messaging.Message(data={"item": "milk"}, token=world.app.token), app=app)
        messaging.send(messaging.Message(data={"item": "bread"}, topic="news"), app=app)
        items = []
        for message in agent.messages(timeout=20):
            items.append(message.payload["item"])
            if len(items) == 2:
                break
        assert sorted(items) == ["bread", "milk"]
        agent.unsubscribe("news")
        agent.send(api.UpstreamMessage("order-1", "42@gcm.googleapis.com", {"item": "milk"}, time_to_live=600))
        assert ends.get(timeout=20).id == "order-1"
        with pytest.raises(api.AgentError) as refused:
            agent.send(api.UpstreamMessage("order-2", "42@gcm.googleapis.com", {"item": "x" * 5_000}))
        assert refused.value.code == "MessageTooBig"


def test_an_extension_in_python_changes_a_push_before_it_is_shown(world):
    world.app.agent.install(
        id=world.app.id, name="Script", team=TEAM, executable=sys.executable, authorization="granted", provesBySecret=True,
        serviceExtension={
            "id": f"{world.app.id}.Service", "version": "1.0", "executable": sys.executable,
            "arguments": [str(Path(__file__).with_name("python_extension.py"))], "environment": {"PYTHONPATH": str(PACKAGE)}})
    world.app.agent.aldaba("agent", "status")

    def outcome(reference):
        def line():
            found = world.control.notifications(reference)
            return [entry for entry in (found[0]["timeline"] if found else []) if entry["state"].startswith("extended")]

        [entry] = wait_until(line, "the timeline says what the extension did", 60)
        return entry["state"], entry.get("note")

    with world.client():
        state, _ = outcome(world.push("rich", **{"mutable-content": 1}))
        assert state.startswith("extended(changed")
        [item] = wait_until(lambda: world.listed("rich"), "it is in the list")
        assert item["content"]["body"] in ("By Python: notSecure", "By Python: refusedAddress", "By Python: unreachable")
        assert outcome(world.push("plain", **{"mutable-content": 1}))[0].startswith("extended(unchanged")
        state, note = outcome(world.push("fails", **{"mutable-content": 1}))
        assert state.startswith("extended(") and "the title is wrong" in (note or ""), (state, note)
