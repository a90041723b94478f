"""Requests about broadcast channels for the vendors' rules: functions of a sender that return the answer as the page writes it."""

import base64
import json
import uuid

from vendor_requests import Push, told_by_apple as told

LAST_STORED, NONE_STORED = ({"message-storage-policy": policy, "push-type": "LiveActivity"} for policy in (1, 0))
CHANNELS, ALL_CHANNELS, BROADCASTS = "/1/apps/BUNDLE/channels", "/1/apps/BUNDLE/all-channels", "/4/broadcasts/apps/BUNDLE"
MESSAGE = b'{"aps":{}}'
MESSAGE_HEADERS = {"apns_push_type": "liveactivity", "apns_expiration": "0", "apns_priority": "10"}


def response_to(sender, method, path=CHANNELS, body=b"", **headers):
    """The response to a request about the channels of the sender's app; `None` leaves a header out."""
    changes = {"apns-topic": None, "apns-push-type": None}
    changes |= {name.replace("_", "-"): value for name, value in headers.items()}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return sender.answer(Push(changes, path=path.replace("BUNDLE", sender.topic), body=content, method=method))


def new_channel(sender, configuration=LAST_STORED):
    return response_to(sender, "POST", body=configuration).headers["apns-channel-id"]


def created(configuration):
    """A request that creates a channel."""
    return lambda sender: told(response_to(sender, "POST", body=configuration))


def managed(method="GET", path=CHANNELS, body=b"", **headers):
    """A request that names a channel, which was created for it if the headers name none."""

    def send(sender):
        named = {} if "apns_channel_id" in headers else {"apns_channel_id": new_channel(sender)}
        return told(response_to(sender, method, path, body, **headers, **named))

    return send


def broadcast(configuration=NONE_STORED, body=MESSAGE, **headers):
    """A message to a channel with this configuration."""
    return lambda sender: told(response_to(
        sender, "POST", BROADCASTS, body, apns_channel_id=new_channel(sender, configuration), **(MESSAGE_HEADERS | headers)))


def creates_a_channel(sender):
    response = response_to(sender, "POST", body=LAST_STORED)
    assert base64.b64decode(response.headers["apns-channel-id"], validate=True) and response.content == b""
    return told(response)


def reads_a_channel(sender):
    for configuration in (LAST_STORED, NONE_STORED):
        response = response_to(sender, "GET", apns_channel_id=new_channel(sender, configuration))
        assert response.json() == configuration
    return str(response.status_code)


def deletes_a_channel(sender):
    channel = new_channel(sender)
    response = response_to(sender, "DELETE", apns_channel_id=channel)
    assert told(response_to(sender, "GET", apns_channel_id=channel)) == "400 ChannelNotRegistered"
    return told(response)


def lists_channels(sender):
    made = {new_channel(sender) for _ in range(2)}
    response = response_to(sender, "GET", ALL_CHANNELS)
    assert made <= set(response.json()["channels"])
    return str(response.status_code)


def sends_to_a_channel(sender):
    response = response_to(sender, "POST", BROADCASTS, MESSAGE, apns_channel_id=new_channel(sender), **MESSAGE_HEADERS)
    assert uuid.UUID(response.headers["apns-unique-id"])
    return told(response)


def echoes_the_request_id(sender):
    channel, sent = new_channel(sender), str(uuid.uuid4())
    response = response_to(sender, "GET", apns_channel_id=channel, apns_request_id=sent)
    assert response.headers["apns-request-id"] == sent
    assert uuid.UUID(response_to(sender, "GET", apns_channel_id=channel).headers["apns-request-id"])
    return str(response.status_code)
