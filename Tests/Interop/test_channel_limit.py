"""As many broadcast channels as an app may have."""

import json

from h2_client import H2Client
from test_broadcast_channels import MOST_RECENT, NO_STORAGE, Channels, update

LIMIT = 10_000
# Requests that are open at a time.
WIDTH = 500


def create_all(client, channels, app):
    """Creates the channels over one connection, many at a time; returns their ids."""
    body = json.dumps(MOST_RECENT).encode()
    created, started = [], 0
    while len(created) < LIMIT:
        while started < min(LIMIT, len(created) + WIDTH):
            client.start("POST", f"/1/apps/{app}/channels", channels.headers(), body)
            started += 1
        for answer in client.receive().values():
            assert answer.status == 201, answer
            created.append(answer.headers["apns-channel-id"])
    return created


def test_an_app_has_ten_thousand_channels_and_no_more(provider, path):
    """Each has its own id, all are listed, and one more is refused until another is deleted."""
    channels = Channels(provider, path["topic"])
    with H2Client(path["apns"], path["ca"]) as client:
        created = create_all(client, channels, path["topic"])
    assert len(set(created)) == LIMIT
    refused = channels.manage("POST", NO_STORAGE)
    assert (refused.status, refused.reason) == (400, "CannotCreateChannelConfig")
    listed = json.loads(channels.manage("GET", path="all-channels").body)["channels"]
    assert sorted(listed) == sorted(created)
    for channel in (created[0], created[-1]):
        assert channels.publish(channel, update(goals=1), apns_expiration=2_000_000_000).status == 200
    assert channels.manage("DELETE", apns_channel_id=created[0]).status == 204
    assert channels.create(NO_STORAGE) not in created
