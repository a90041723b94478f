"""kalyke-apns: its client for Live Activities, which sends updates and the end of one."""

import asyncio
import json
import sys
from datetime import datetime

from kalyke import LiveActivityApnsConfig, LiveActivityClient, LiveActivityEvent, LiveActivityPayload


async def send_all(settings, pushes):
    kind = type("Client", (LiveActivityClient,), {"_base_url": settings["address"]})
    client = kind(
        use_sandbox=True, team_id=settings["team"], auth_key_id=settings["key_id"], auth_key_filepath=settings["key"])
    for push in pushes:
        payload = LiveActivityPayload(
            timestamp=datetime.fromtimestamp(push["timestamp"]), event=LiveActivityEvent[push["event"]],
            content_state=push["state"])
        print(await client.send_message(push["token"], payload, LiveActivityApnsConfig(topic=push["topic"])))


asyncio.run(send_all(json.loads(sys.argv[1]), [json.loads(line) for line in sys.stdin]))
