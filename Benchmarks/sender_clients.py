"""A client from PyPI, for some seconds, against one gateway: `sender_clients.py NAME`, with what it needs as a JSON
object on standard input. Prints a JSON object: how many notifications were accepted, in how many seconds, and the
processor time.

Each sends as its own documentation tells: some many at once on one connection, some one after the other. Only the
gateway's name, its port and the authority of its certificate are set, some of them by attributes that are no option.
"""
import asyncio
import itertools
import json
import logging
import os
import resource
import ssl
import sys
import time
import uuid

TOLD = json.load(sys.stdin)
# What OpenSSL, httpx and their users read for the authorities that they trust.
os.environ["SSL_CERT_FILE"] = TOLD["ca"]
HOST, PORT, TOPIC, STREAMS = "127.0.0.1", TOLD["port"], TOLD["topic"], TOLD["streams"]
ADDRESS = f"https://{HOST}:{PORT}"
TOKENS = itertools.cycle(TOLD["tokens"])
PAYLOAD = TOLD["payload"]
BODY = json.dumps(PAYLOAD).encode()
HEADERS = {"apns-topic": TOPIC, "apns-push-type": "alert", "apns-priority": "10", "apns-expiration": "0"}
logging.disable(logging.WARNING)


class Once(int):
    """A time to live that makes the sum of it and the present time 0: one attempt, which aioapns has no value for."""

    def __radd__(self, _):
        return 0


def context():
    return ssl.create_default_context(cafile=TOLD["ca"])


async def with_aioapns():
    from aioapns import APNs, NotificationRequest, PushType
    from aioapns.connection import APNsProductionClientProtocol
    APNsProductionClientProtocol.APNS_SERVER, APNsProductionClientProtocol.APNS_PORT = HOST, PORT
    with open(TOLD["key"]) as key:
        client = APNs(
            key=key.read(), key_id=TOLD["keyId"], team_id=TOLD["teamId"], topic=TOPIC, ssl_context=context(),
            max_connections=TOLD["connections"])

    async def send(token):
        answer = await client.send_notification(NotificationRequest(
            device_token=token, message=PAYLOAD, time_to_live=Once(), priority=10, push_type=PushType.ALERT))
        return answer.is_successful

    return send


async def with_aapns():
    from aapns.connection import Request, create_ssl_context
    from aapns.pool import Pool
    tls = create_ssl_context()
    tls.load_verify_locations(TOLD["ca"])
    # Its own client has no provider token, only certificates.
    pool = await Pool.create(ADDRESS, size=TOLD["connections"], ssl=tls)
    headers = {**HEADERS, "authorization": f"bearer {TOLD['bearer']}"}

    async def send(token):
        request = Request.new(
            path=f"/3/device/{token}", header={**headers, "apns-id": str(uuid.uuid4())}, data=PAYLOAD, timeout=10)
        return (await pool.post(request)).code == 200

    return send


async def with_httpx():
    import httpx
    client = httpx.AsyncClient(
        http2=True, verify=context(), base_url=ADDRESS, timeout=30,
        headers={**HEADERS, "authorization": f"bearer {TOLD['bearer']}"})

    async def send(token):
        answer = await client.post(f"/3/device/{token}", content=BODY, headers={"apns-id": str(uuid.uuid4())})
        return answer.status_code == 200

    return send


async def with_kalyke():
    import kalyke
    import kalyke.clients
    kalyke.clients.__dict__["__Client"]._base_url = property(lambda _: ADDRESS)
    client = kalyke.ApnsClient(
        use_sandbox=False, team_id=TOLD["teamId"], auth_key_id=TOLD["keyId"], auth_key_filepath=TOLD["key"])
    configuration = kalyke.ApnsConfig(topic=TOPIC, expiration=0)

    async def send(token):
        # Makes a connection for each notification.
        await client.send_message(device_token=token, payload=PAYLOAD, apns_config=configuration)
        return True

    return send


class Payload:
    """The payload for clients that take an object with these members."""

    alert, badge, sound = "x", None, None

    @staticmethod
    def dict():
        return PAYLOAD


def in_batches():
    """apns2, and those who continue it under its name."""
    from apns2.client import APNsClient, Notification, NotificationType
    from apns2.credentials import TokenCredentials
    APNsClient.LIVE_SERVER, APNsClient.DEFAULT_PORT = HOST, PORT
    client = APNsClient(TokenCredentials(TOLD["key"], TOLD["keyId"], TOLD["teamId"]))

    def send(tokens):
        batch = [Notification(token, Payload) for token in tokens]
        results = client.send_notification_batch(batch, TOPIC, expiration=0, push_type=NotificationType.Alert)
        return sum(result == "Success" for result in results.values())

    return send, 200


def with_mopyapns():
    from apns2.client import APNsClient
    from apns2.credentials import TokenCredentials
    APNsClient.LIVE_SERVER, APNsClient.DEFAULT_PORT = HOST, PORT
    client = APNsClient(TokenCredentials(TOLD["key"], TOLD["keyId"], TOLD["teamId"]))

    def send(tokens):
        for token in tokens:
            client.send_notification(token, Payload, TOPIC, expiration=0)
        return len(tokens)

    return send, 1


def with_pyapns_client():
    from pyapns_client import APNSClient, IOSNotification, IOSPayload, IOSPayloadAlert
    APNSClient.BASE_URLS[APNSClient.MODE_PROD] = ADDRESS
    client = APNSClient(
        mode=APNSClient.MODE_PROD, root_cert_path=TOLD["ca"], auth_key_path=TOLD["key"], auth_key_id=TOLD["keyId"],
        team_id=TOLD["teamId"])
    alert = PAYLOAD["aps"]["alert"]
    notification = IOSNotification(
        payload=IOSPayload(alert=IOSPayloadAlert(title=alert["title"], body=alert["body"])), topic=TOPIC,
        # httpx takes no numbers as fields any more.
        priority=str(IOSNotification.PRIORITY_HIGH), expiration="0", push_type=IOSNotification.PUSH_TYPE_ALERT)

    def send(tokens):
        for token in tokens:
            client.push(notification=notification, device_token=token)
        return len(tokens)

    return send, 1


ASYNCHRONOUS = {"aioapns": with_aioapns, "aapns": with_aapns, "httpx": with_httpx, "kalyke-apns": with_kalyke}
ONE_AFTER_THE_OTHER = {"apns2-up": in_batches, "mopyapns": with_mopyapns, "pyapns-client": with_pyapns_client}


def used():
    now = resource.getrusage(resource.RUSAGE_SELF)
    return now.ru_utime, now.ru_stime


def told(accepted, begun, before):
    user, system = (now - then for now, then in zip(used(), before))
    print(json.dumps({"accepted": accepted, "seconds": time.monotonic() - begun, "user": user, "system": system}))


async def run_tasks(make):
    send = await make()

    async def work(end):
        accepted = 0
        while time.monotonic() < end:
            accepted += await send(next(TOKENS))
        return accepted

    async def all_work(seconds):
        end = time.monotonic() + seconds
        return sum(await asyncio.gather(*(work(end) for _ in range(STREAMS))))

    await send(next(TOKENS))
    await all_work(1)
    begun, before = time.monotonic(), used()
    told(await all_work(TOLD["seconds"]), begun, before)


def run_in_turn(make):
    send, size = make()

    def work(seconds):
        end, accepted = time.monotonic() + seconds, 0
        while time.monotonic() < end:
            accepted += send(list(itertools.islice(TOKENS, size)))
        return accepted

    work(1)
    begun, before = time.monotonic(), used()
    told(work(TOLD["seconds"]), begun, before)


if __name__ == "__main__":
    name = sys.argv[1]
    if name in ASYNCHRONOUS:
        asyncio.run(run_tasks(ASYNCHRONOUS[name]))
    else:
        run_in_turn(ONE_AFTER_THE_OTHER[name])
    sys.stdout.flush()
    # Some have threads, or tasks that never end.
    os._exit(0)
