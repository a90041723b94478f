"""pyapns-client: a client that keeps a connection and repeats what failed, three attempts in all."""

import uuid

from pyapns_client import APNSClient, IOSNotification, IOSPayload, IOSPayloadAlert

from push_program import outcome, run


def made(settings):
    kind = APNSClient
    if settings.host:
        kind = type("Client", (APNSClient,), {"BASE_URLS": {APNSClient.MODE_PROD: settings.address}})
    return kind(
        mode=APNSClient.MODE_PROD, root_cert_path=settings.authority or None, auth_key_path=settings.key,
        auth_key_id=settings.key_id, team_id=settings.team)


def notification(push, name):
    custom = {"padding": push.padding} if push.padding else None
    if push.title:
        payload = IOSPayload(alert=IOSPayloadAlert(title=push.title), custom=custom)
    else:
        payload = IOSPayload(content_available=True, custom=custom)
    return IOSNotification(
        payload=payload, topic=push.topic, apns_id=name, collapse_id=push.collapse, expiration=_text(push.expiration),
        priority="10" if push.title else "5", push_type="alert" if push.title else "background")


def _text(number):
    # The library hands header values on as they are, and its HTTP library takes no numbers.
    return number if number is None else str(number)


def sent(client, push):
    name = str(uuid.uuid4())
    client.push(notification=notification(push, name), device_token=push.token)
    return name


def each(settings, pushes):
    client = made(settings)
    try:
        return [outcome(lambda: sent(client, push)) for push in pushes]
    finally:
        client.close()


if __name__ == "__main__":
    run(each, each)
