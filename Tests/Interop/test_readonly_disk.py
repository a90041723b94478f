"""A disk that becomes read-only while the server runs, as a kernel leaves it after errors: 503 with Retry-After, said by `/health` and
`doctor`; and by itself as before when the disk can be written again.
"""

import json
import shutil
import subprocess
from pathlib import Path

import pytest
import requests

from aldaba_process import AldabaUp, clean_environment, run_aldaba
from control_client import ControlClient
from mcs_client import checkin, register3
from provider import Provider
from waiting import wait_until

COMPILER = shutil.which("cc") or shutil.which("clang")
PAYLOAD = {"aps": {"alert": "Milk"}}


@pytest.fixture
def running(tmp_path, request):
    """A server whose folder can be written unless the file `flag` exists."""
    if COMPILER is None:
        pytest.skip("no C compiler")
    library, flag, folder = tmp_path / "readonly.so", tmp_path / "flag", tmp_path / "data"
    source = Path(__file__).parent / "readonly_files.c"
    subprocess.run([COMPILER, "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True, timeout=60)
    ports = [f"--{name}-port=0" for name in ("apns", "device", "control", "http", "metrics")]
    up = AldabaUp(
        "--data", folder, "--json", *ports, name=request.node.name, environment=clean_environment(
            LD_PRELOAD=str(library), READONLY_FOLDER=str(folder / "server"), READONLY_FLAG=str(flag)))
    yield up, flag, folder
    flag.unlink(missing_ok=True)
    assert up.stop() == 0
    up.drop_logs()


@pytest.mark.timeout(180)
def test_a_read_only_disk_refuses_and_loses_nothing_and_all_works_again(running):
    up, flag, folder = running
    path = up.ready
    provider, control = Provider(path), ControlClient(path["http"])
    identity = checkin(path["http"])
    token = register3(path["http"], identity, path["topic"], path["teamId"])
    accepted = []

    def push():
        answer = provider.post(token, PAYLOAD)
        if answer.status == 200:
            accepted.append(answer.apns_id)
        return answer

    for _ in range(5):
        assert push().status == 200
    flag.touch()
    for _ in range(5):
        refused = push()
        assert (refused.status, refused.reason) == (503, "ServiceUnavailable")
        assert int(refused.headers["retry-after"]) > 0
    status, body = control.request("GET", "/health")
    body = json.loads(body)
    assert (status, body["status"]) == (503, "failing"), body
    told = run_aldaba("doctor", "--data", folder, check=False)
    assert told.returncode == 1 and "refuses pushes with 503 since" in told.stdout
    # What writes in other ways says the same.
    answer = requests.post(
        path["http"] + "/iid/v1:batchAdd", json={"to": "/topics/a", "registration_tokens": [token]}, timeout=10)
    assert answer.status_code == 503 and int(answer.headers["retry-after"]) > 0
    flag.unlink()
    wait_until(lambda: push().status == 200, "it works again")
    wait_until(lambda: control.request("GET", "/health")[0] == 200, "it says so")
    for each in accepted:
        assert control.states(each)[0] == "accepted"
    provider.close()
