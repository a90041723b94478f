"""FCM's API on a disk without space: 503 with Retry-After, and by itself as before when there is space again."""

import json

import pytest
import requests
from google.auth.transport.requests import Request
from google.oauth2 import service_account

from aldaba_process import AldabaUp
from small_disk import SmallDisk
from waiting import wait_until

MOST = 2000  # messages that may fit into what the store's files had taken before


@pytest.fixture
def small(tmp_path, request):
    disk = SmallDisk(tmp_path)
    try:
        ports = [f"--{name}-port=0" for name in ("apns", "device", "control", "http", "metrics")]
        running = AldabaUp(
            "--data", disk.folder / "data", "--json", *ports, name=request.node.name, prefix=disk.prefix)
        yield running, disk
        assert running.stop() == 0
        running.drop_logs()
    finally:
        disk.end()


@pytest.mark.timeout(180)
def test_what_cannot_be_stored_is_unavailable(small):
    running, disk = small
    path = running.ready
    account = json.loads(open(disk.outside(path["serviceAccount"])).read())
    credentials = service_account.Credentials.from_service_account_info(
        account, scopes=["https://www.googleapis.com/auth/firebase.messaging"])
    credentials.refresh(Request())
    session = requests.Session()
    session.headers["authorization"] = f"Bearer {credentials.token}"
    accepted = []

    def send():
        answer = session.post(
            f"{path['fcm']}/v1/projects/{account['project_id']}/messages:send",
            json={"message": {"token": path["registrationToken"], "data": {"filler": "x" * 3000}}})
        if answer.status_code == 200:
            accepted.append(answer.json()["name"].rsplit("/", 1)[1])
        return answer

    assert send().status_code == 200
    disk.fill()
    refused = next(answer for answer in (send() for _ in range(MOST)) if answer.status_code != 200)
    assert (refused.status_code, refused.json()["error"]["status"]) == (503, "UNAVAILABLE")
    assert int(refused.headers["retry-after"]) > 0
    disk.free()
    wait_until(lambda: send().status_code == 200, "the store works again")
    for each in accepted:
        found = session.get(f"{path['http']}/v1/notifications/{each}").json()
        assert found[0]["timeline"][0]["state"] == "accepted"
