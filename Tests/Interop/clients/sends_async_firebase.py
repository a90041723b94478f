"""async-firebase: a message for an Android device, one to a topic, and one to two devices."""

import asyncio

from async_firebase import AsyncFirebaseClient
from async_firebase.messages import Message, MulticastMessage, Notification


async def send_all():
    client = AsyncFirebaseClient()
    client.creds_from_service_account_file("service-account.json")
    android = client.build_android_config(
        priority="high", ttl=2419200, collapse_key="orders", title="one", body="by async-firebase", data={"order": "17"})
    answer = await client.send(Message(android=android, token="async-device:APA91bDDD"))
    print(answer.success, answer.message_id)
    print((await client.send(Message(topic="news", notification=Notification(title="two")))).success)
    many = await client.send_each_for_multicast(MulticastMessage(
        tokens=["async-device:APA91bDDD", "0" * 60 + "0410"], notification=Notification(title="three")))
    print(many.success_count, many.failure_count)


asyncio.run(send_all())
