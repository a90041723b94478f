"""PyPI's firebase-messaging, unchanged but for its addresses: it enrols, logs in over MCS, and opens what is sent."""

import asyncio
import contextlib
from urllib.parse import urlsplit

import pytest
from firebase_admin import messaging
from firebase_messaging import FcmPushClient, FcmRegisterConfig, fcmpushclient, fcmregister
from firebase_messaging.fcmpushclient import FcmPushClientRunState

from fcm_library import firebase_app

SECONDS = 30


class Client:
    """One device of firebase-messaging's, with what it was called back with."""

    def __init__(self, path, credentials=None, received=None):
        self.messages = asyncio.Queue()
        self.credentials = credentials
        self.push = FcmPushClient(
            lambda message, identifier, _: self.messages.put_nowait((message, identifier)),
            FcmRegisterConfig(
                project_id=path["teamId"].lower(), app_id="1:1234:web:abcd", api_key="none",
                messaging_sender_id="1234", bundle_id=path["topic"]),
            credentials, self.keep, received_persistent_ids=received)

    def keep(self, credentials):
        self.credentials = credentials

    async def register(self):
        try:
            return await asyncio.wait_for(self.push.checkin_or_register(), SECONDS)
        finally:
            # It closes its session only when it has registered.
            await self.push.register.close()

    async def next(self):
        return await asyncio.wait_for(self.messages.get(), SECONDS)

    @contextlib.asynccontextmanager
    async def listening(self):
        await self.push.start()
        try:
            async with asyncio.timeout(SECONDS):
                while self.push.run_state is not FcmPushClientRunState.STARTED:
                    await asyncio.sleep(0.01)
            yield self
        finally:
            tasks = self.push.tasks
            await self.push.stop()
            await asyncio.gather(*tasks, return_exceptions=True)


@pytest.fixture
def addresses(path, monkeypatch):
    """The module's constants name our server, and its TLS trusts our authority."""
    monkeypatch.setattr(fcmregister, "GCM_CHECKIN_URL", f"{path['http']}/checkin")
    monkeypatch.setattr(fcmregister, "GCM_REGISTER_URL", f"{path['http']}/c2dm/register3")
    monkeypatch.setattr(fcmregister, "FCM_INSTALLATION", f"{path['http']}/v1/")
    monkeypatch.setattr(fcmregister, "FCM_REGISTRATION", f"{path['http']}/v1/")
    mcs = urlsplit(f"//{path['mcs']}" if "//" not in path["mcs"] else path["mcs"])
    monkeypatch.setattr(fcmpushclient, "MCS_HOST", mcs.hostname)
    monkeypatch.setattr(fcmpushclient, "MCS_PORT", mcs.port)
    monkeypatch.setenv("SSL_CERT_FILE", path["ca"])
    return path


def test_it_registers_and_gets_a_message(addresses, send):
    async def run():
        client = Client(addresses)
        token = await client.register()
        assert len(token) == 64
        async with client.listening():
            payload = {"aps": {"alert": {"title": "Milk", "body": "and bread"}}, "todo": "milk", "count": 2}
            status, _, reason = await asyncio.to_thread(send, token, payload)
            assert status == 200, reason
            message, _ = await client.next()
            assert message["notification"] == {"title": "Milk", "body": "and bread"}
            assert message["data"] == {"todo": "milk", "count": "2"}

    asyncio.run(run())


@pytest.mark.filterwarnings("ignore:.*is deprecated. Use:DeprecationWarning")
@pytest.mark.parametrize("target", ["token", "topic"])
def test_what_is_said_for_browsers_counts(addresses, monkeypatch, target):
    webpush = messaging.WebpushConfig(
        headers={"TTL": "60", "Urgency": "low", "Topic": "score"}, data={"only": "here"},
        notification=messaging.WebpushNotification(
            title="W", icon="/i.png", actions=[messaging.WebpushNotificationAction("a", "b")], renotify=True),
        fcm_options=messaging.WebpushFCMOptions(link="https://web.example/"))

    async def run(app):
        client = Client(addresses)
        token = await client.register()
        if target == "topic":
            joined = await asyncio.to_thread(messaging.subscribe_to_topic, [token], "browsers", app=app)
            assert joined.success_count == 1
        message = messaging.Message(
            notification=messaging.Notification("T", "B"), data={"k": "v"}, webpush=webpush,
            **{target: token if target == "token" else "browsers"})
        async with client.listening():
            await asyncio.to_thread(messaging.send, message, app=app)
            came, _ = await client.next()
        assert came["notification"] == {
            "title": "W", "body": "B", "icon": "/i.png", "actions": [{"action": "a", "title": "b"}], "renotify": True}
        assert (came["data"], came["fcmOptions"]) == ({"only": "here"}, {"link": "https://web.example/"})
        waits = {"priority": "normal", "collapse_key": "score"} if target == "token" else {"priority": "high"}
        assert {key: came[key] for key in ("priority", "collapse_key") if key in came} == waits

    with firebase_app(monkeypatch, addresses["fcm"], addresses["serviceAccount"]) as app:
        asyncio.run(run(app))


def test_what_waited_comes_at_login_once_and_in_order(addresses, send, control):
    async def run():
        client = Client(addresses)
        token = await client.register()
        ids = []
        for number in range(3):
            status, apns_id, reason = await asyncio.to_thread(
                send, token, {"aps": {"alert": f"number {number}"}}, apns_expiration=2_000_000_000)
            assert status == 200, reason
            ids.append(apns_id)
        async with client.listening():
            taken = [await client.next() for _ in ids]
            assert [message["notification"]["body"] for message, _ in taken] == ["number 0", "number 1", "number 2"]
            for apns_id in ids:
                await asyncio.to_thread(control.wait_for_last_state, apns_id, "acked")
        again = Client(addresses, client.credentials)
        assert await again.register() == token, "the credentials are as good as before"
        async with again.listening():
            status, _, reason = await asyncio.to_thread(send, token, {"aps": {"alert": "the fourth"}})
            assert status == 200, reason
            message, _ = await again.next()
            assert message["notification"]["body"] == "the fourth", "what was acknowledged does not come again"

    asyncio.run(run())


@pytest.mark.parametrize("length", [1, 3000, 4000])
def test_messages_of_every_length_are_opened(addresses, send, length):
    async def run():
        client = Client(addresses)
        token = await client.register()
        async with client.listening():
            status, _, reason = await asyncio.to_thread(send, token, {"aps": {"alert": "x"}, "text": "y" * length})
            assert status == 200, reason
            message, _ = await client.next()
            assert message["data"]["text"] == "y" * length

    asyncio.run(run())


def test_an_auth_token_is_renewed(addresses):
    async def run():
        client = Client(addresses)
        await client.register()
        register = fcmregister.FcmRegister(client.push.fcm_config, client.credentials)
        try:
            renewed = await register.fcm_refresh_install_token()
            assert renewed["token"] and renewed["expires_in"] == 604_800
        finally:
            await register.close()

    asyncio.run(run())


def test_an_app_that_nobody_registered_is_refused(addresses):
    async def run():
        client = Client(addresses | {"topic": "org.example.unknown"})
        with pytest.raises(RuntimeError, match="subscription"):
            await client.register()

    asyncio.run(run())
