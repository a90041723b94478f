"""mopyapns: a client that keeps a connection, and sends a batch on it."""

from apns2.client import APNsClient, Notification, NotificationPriority, NotificationType
from apns2.credentials import TokenCredentials
from apns2.errors import exception_class_for_reason
from apns2.payload import Payload, PayloadAlert

from push_program import failure, outcome, run


def made(settings):
    kind = APNsClient
    if settings.host:
        kind = type("Client", (APNsClient,), {"SANDBOX_SERVER": settings.host, "DEFAULT_PORT": settings.port})
    return kind(TokenCredentials(settings.key, settings.key_id, settings.team), use_sandbox=True)


def payload(push):
    custom = {"padding": push.padding} if push.padding else None
    if push.title:
        return Payload(alert=PayloadAlert(title=push.title), custom=custom)
    return Payload(content_available=True, custom=custom)


def sent(client, push):
    silent = not push.title
    response = client.send_notification_async(
        push.token, payload(push), push.topic, collapse_id=push.collapse, expiration=push.expiration,
        priority=NotificationPriority.Delayed if silent else NotificationPriority.Immediate,
        push_type=NotificationType.Background if silent else NotificationType.Alert)
    result = client.get_notification_result(response)
    if result != "Success":
        raise exception_class_for_reason(result if isinstance(result, str) else result[0])
    return response.headers["apns-id"]


def each(settings, pushes):
    client = made(settings)
    return [outcome(lambda: sent(client, push)) for push in pushes]


def many(settings, pushes):
    """One batch; its results are a dictionary by token, so each push has a token of its own."""
    batch = [Notification(push.token, payload(push)) for push in pushes]
    try:
        results = made(settings).send_notification_batch(batch, pushes[0].topic, push_type=NotificationType.Alert)
    except Exception as error:
        return [failure(error)]
    return [{"result": "200" if result == "Success" else result, "id": None} for result in results.values()]


if __name__ == "__main__":
    run(each, many)
