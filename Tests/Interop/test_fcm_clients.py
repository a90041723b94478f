"""Two more libraries that send by FCM's API, each with its addresses changed and nothing else."""

import asyncio

import async_firebase.base
import pytest
from async_firebase import AsyncFirebaseClient, _credentials, errors
from async_firebase import messages as async_messages
from pyfcm import FCMNotification
from pyfcm.baseapi import BaseAPI
from pyfcm.errors import FCMNotRegisteredError, InvalidDataError

from fcm_library import own_addresses

UNKNOWN = "ab" * 32
pytestmark = pytest.mark.filterwarnings("ignore:.*is deprecated. Use:DeprecationWarning")


@pytest.fixture(autouse=True)
def addresses(path, monkeypatch):
    monkeypatch.setattr(BaseAPI, "FCM_END_POINT_BASE", path["fcm"] + "/v1/projects")
    monkeypatch.setattr(async_firebase.base.AsyncClientBase, "BASE_URL", path["fcm"])
    monkeypatch.setattr(_credentials, "TOKEN_URL", path["fcm"] + "/token")
    with own_addresses(monkeypatch):
        yield


def test_pyfcm(path, control):
    client = FCMNotification(service_account_file=path["serviceAccount"])
    answer = client.notify(
        fcm_token=path["registrationToken"], notification_title="Buy milk", notification_body="Two litres",
        data_payload={"list": "shop"})
    control.wait_for_last_state(answer["name"].rsplit("/", 1)[1], "handed")
    with pytest.raises(FCMNotRegisteredError):
        client.notify(fcm_token=UNKNOWN, data_payload={"list": "shop"})
    with pytest.raises(InvalidDataError):
        client.notify(fcm_token="nonsense", data_payload={"list": "shop"})


def test_async_firebase(path, control):
    async def send():
        async with AsyncFirebaseClient() as client:
            client.creds_from_service_account_file(path["serviceAccount"])
            one = await client.send(
                async_messages.Message(
                    token=path["registrationToken"],
                    notification=async_messages.Notification(title="Buy milk", body="Two litres")))
            config = client.build_android_config(
                priority="high", ttl=60, collapse_key="milk", data={"list": "shop"}, title="Buy", body="Milk")
            other = await client.send(async_messages.Message(android=config, token=path["registrationToken"]))
            many = await client.send_each_for_multicast(
                async_messages.MulticastMessage(
                    tokens=[path["registrationToken"], UNKNOWN], data={"list": "shop"}))
            return one, other, many

    one, other, many = asyncio.run(send())
    for each in (one, other):
        assert each.success, each.exception
        control.wait_for_last_state(each.message_id.rsplit("/", 1)[1], "handed")
    assert [each.success for each in many.responses] == [True, False]
    assert isinstance(many.responses[1].exception, errors.UnregisteredError)
