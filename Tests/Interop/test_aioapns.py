"""aioapns, unpatched but for the host, sends to the demo app."""

import asyncio
import ssl
from collections import Counter
from urllib.parse import urlsplit

from aioapns import APNs, NotificationRequest, PushType
from aioapns.connection import APNsDevelopmentClientProtocol

from waiting import wait_for_lines, wait_until

COUNT = 1000


async def send_all(path, requests):
    """Sends all at once, as the library lets its users do, and returns the results."""
    address = urlsplit(path["apns"])
    client = APNs(
        key=open(path["key"]).read(), key_id=path["keyId"], team_id=path["teamId"], topic=path["topic"],
        use_sandbox=True, ssl_context=ssl.create_default_context(cafile=path["ca"]),
    )
    host = {"APNS_SERVER": address.hostname, "APNS_PORT": address.port}
    client.pool.protocol_class = type("Here", (APNsDevelopmentClientProtocol,), host)
    try:
        return await asyncio.gather(*(client.send_notification(request) for request in requests))
    finally:
        client.pool.close()


def test_a_thousand_notifications_arrive_once_each_in_the_order_of_acceptance(path, control):
    requests = [
        NotificationRequest(
            device_token=path["deviceToken"], message={"aps": {"alert": f"todo {number}"}},
            push_type=PushType.ALERT, time_to_live=3600 if number % 2 else None, priority=10,
        )
        for number in range(COUNT)
    ]
    results = asyncio.run(send_all(path, requests))
    assert Counter((result.status, result.description) for result in results) == {("200", None): COUNT}

    ids = [request.notification_id for request in requests]
    handed = wait_for_lines(
        path["appLog"], lambda lines: len(set(lines) & set(ids)) == COUNT, "the app was handed all of them", 60
    )
    assert Counter(handed) == Counter(ids), "each exactly once"

    internal = {apns_id: int(control.notifications(apns_id)[0]["id"]) for apns_id in ids}
    order = [internal[apns_id] for apns_id in handed]
    assert order == sorted(order), "in order of acceptance"

    waiting = set(ids)

    def all_end_in_handed():
        waiting.difference_update({each for each in waiting if control.states(each)[-1] == "handed"})
        return not waiting

    wait_until(all_end_in_handed, "every timeline ends in handed", 60)
    assert Counter(open(path["appLog"]).read().split()) == Counter(ids), "still each exactly once"


def test_a_refusal_reaches_the_librarys_caller(path):
    request = NotificationRequest(device_token="ab" * 32, message={"aps": {"alert": "x"}})
    [result] = asyncio.run(send_all(path, [request]))
    assert (result.status, result.description) == ("400", "BadDeviceToken")
