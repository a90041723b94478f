"""kalyke-apns: a client that opens a connection for each notification, and signs a token for it."""

import asyncio

from kalyke import ApnsClient, ApnsConfig, ApnsPriority, ApnsPushType, Payload, PayloadAlert

from push_program import failure, run


def made(settings):
    kind = ApnsClient
    if settings.host:
        kind = type("Client", (ApnsClient,), {"_base_url": settings.address})
    return kind(
        use_sandbox=True, team_id=settings.team, auth_key_id=settings.key_id, auth_key_filepath=settings.key)


def parts(push):
    custom = {"padding": push.padding} if push.padding else None
    further = {} if push.expiration is None else {"expiration": push.expiration}
    if push.title:
        payload = Payload(alert=PayloadAlert(title=push.title), custom=custom)
        further |= {"push_type": ApnsPushType.ALERT, "priority": ApnsPriority.IMMEDIATELY}
    else:
        payload = Payload(content_available=True, custom=custom)
        further |= {"push_type": ApnsPushType.BACKGROUND, "priority": ApnsPriority.BASED_ON_POWER}
    config = ApnsConfig(topic=push.topic, collapse_id=push.collapse, **further)
    return {"device_token": push.token, "payload": payload, "apns_config": config}


async def told(client, push):
    try:
        return {"result": "200", "id": await client.send_message(**parts(push))}
    except Exception as error:
        return failure(error)


async def in_turn(client, pushes):
    return [await told(client, push) for push in pushes]


async def at_once(client, pushes):
    return await asyncio.gather(*(told(client, push) for push in pushes))


if __name__ == "__main__":
    run(lambda settings, pushes: asyncio.run(in_turn(made(settings), pushes)),
        lambda settings, pushes: asyncio.run(at_once(made(settings), pushes)))
