"""aioapns: an alert, a silent push, and one for a token that is gone."""

import asyncio
from uuid import uuid4

from aioapns import APNs, NotificationRequest, PushType

DEVICE, GONE = "ab" * 32, "0" * 60 + "0410"


async def send_all():
    with open("AuthKey_ABC123DEFG.p8") as key:
        client = APNs(key=key.read(), key_id="ABC123DEFG", team_id="DEF123GHIJ", topic="com.example.App", use_sandbox=False)
    requests = [
        NotificationRequest(
            device_token=DEVICE, message={"aps": {"alert": {"title": "one", "body": "by aioapns"}, "badge": 1}},
            notification_id=str(uuid4()), time_to_live=3, push_type=PushType.ALERT),
        NotificationRequest(
            device_token=DEVICE, message={"aps": {"content-available": 1}, "sync": "orders"}, push_type=PushType.BACKGROUND,
            priority=5),
        NotificationRequest(device_token=GONE, message={"aps": {"alert": "three"}}),
    ]
    for request in requests:
        answer = await client.send_notification(request)
        print(answer.status, answer.description or "")


asyncio.run(send_all())
