"""aapns: a client with a certificate, two connections, and a repetition of what a connection cannot take."""

import asyncio
import uuid

from aapns.api import Server
from aapns.config import Priority
from aapns.models import Alert, Notification, PushType

from push_program import failure, run


def made(settings):
    if settings.host:
        return Server(settings.certificate, settings.host, settings.port, settings.authority)
    return Server.production(settings.certificate)


async def told(client, push):
    # Its notifications always have an alert, a silent one an empty one.
    extra = {"padding": push.padding} if push.padding else None
    notification = Notification(
        alert=Alert(body="", title=push.title or None), extra=extra, content_available=not push.title,
        push_type=PushType.alert if push.title else PushType.background)
    try:
        name = await client.send_notification(
            push.token, notification, apns_id=str(uuid.uuid4()), topic=push.topic, collapse_id=push.collapse,
            expiration=push.expiration, priority=Priority.immediately if push.title else Priority.normal)
        return {"result": "200", "id": name}
    except Exception as error:
        return failure(error)


async def in_turn(settings, pushes):
    client = await made(settings).create_client()
    try:
        return [await told(client, push) for push in pushes]
    finally:
        await client.close()


async def at_once(settings, pushes):
    client = await made(settings).create_client()
    try:
        return await asyncio.gather(*(told(client, push) for push in pushes))
    finally:
        await client.close()


if __name__ == "__main__":
    run(lambda settings, pushes: asyncio.run(in_turn(settings, pushes)),
        lambda settings, pushes: asyncio.run(at_once(settings, pushes)))
