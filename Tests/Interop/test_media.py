"""The files of notifications as foreign programs upload, fetch and resume them: curl, and Python's requests."""

import hashlib
import http.client
import json
import os
import re
import subprocess

import pytest
import requests

from aldaba_process import run_aldaba
from h2_client import verified_context
from own_server import OwnServer
from pictures import png
from waiting import wait_until

QUOTA_MIB = 24


@pytest.fixture(scope="module")
def server(request, tmp_path_factory):
    """A server with two teams, and room for 24 MiB."""
    with OwnServer(tmp_path_factory.mktemp("media"), request.module.__name__, f"--media-quota={QUOTA_MIB}",
                   f"--media-team-quota={QUOTA_MIB}") as made:
        made.add_app()
        made.other_key = made.add_key("TEAM000002")
        yield made


@pytest.fixture
def session(server):
    """Python's requests with the team's token."""
    made = requests.Session()
    made.verify = server.ready["ca"]
    made.trust_env = False  # no other authority than the test's
    made.headers["authorization"] = f"bearer {server.key().token()}"
    made.base = f"{server.ready['control']}/v1/media"
    yield made
    made.close()


@pytest.fixture(autouse=True)
def empty(server, session):
    """Every test begins with nothing kept."""
    for kept in session.get(session.base).json():
        assert session.delete(f"{session.base}/{kept['name']}").status_code == 200


def device(url, ca, **options):
    """A device's request: the name alone lets it in."""
    return requests.get(url, verify=ca, timeout=20, **options)


def curl(server, *arguments, check=True):
    done = subprocess.run(
        ["curl", "--silent", "--show-error", "--cacert", server.ready["ca"], *map(str, arguments)],
        capture_output=True, timeout=60)
    assert not check or done.returncode == 0, done.stderr
    return done


def test_a_picture_is_uploaded_and_fetched_without_a_credential(server, session):
    picture = png()
    answer = session.post(session.base, data=picture, headers={"content-type": "application/x-php"})
    assert answer.status_code == 201
    kept = answer.json()
    assert re.fullmatch(re.escape(server.ready["control"]) + r"/media/[0-9a-f]{40}\.png", kept["url"])
    assert (kept["type"], kept["bytes"], kept["sha256"]) == ("image/png", len(picture), hashlib.sha256(picture).hexdigest())
    fetched = device(kept["url"], server.ready["ca"])
    assert (fetched.status_code, fetched.content) == (200, picture)
    assert fetched.headers["content-type"] == "image/png"
    assert fetched.headers["x-content-type-options"] == "nosniff"
    again = device(kept["url"], server.ready["ca"], headers={"if-none-match": fetched.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    head = requests.head(kept["url"], verify=server.ready["ca"], timeout=20)
    assert (head.status_code, head.headers["content-length"], head.content) == (200, str(len(picture)), b"")
    repeated = session.post(session.base, data=picture)
    assert (repeated.status_code, repeated.json()["url"]) == (200, kept["url"])


def test_curl_resumes_a_download_that_broke_off(server, session, tmp_path):
    picture = png(1024, noise=os.urandom(3 << 20))
    url = session.post(session.base, data=picture).json()["url"]
    target = tmp_path / "picture.png"
    curl(server, "--range", "0-999999", "--output", target, url)
    assert target.read_bytes() == picture[:1_000_000]
    told = curl(server, "-C", "-", "--output", target, "--write-out", "%{http_code} %{size_download}", url)
    assert told.stdout.decode() == f"206 {len(picture) - 1_000_000}"
    assert target.read_bytes() == picture
    beyond = device(url, server.ready["ca"], headers={"range": f"bytes={len(picture)}-"})
    assert (beyond.status_code, beyond.headers["content-range"]) == (416, f"bytes */{len(picture)}")
    last = device(url, server.ready["ca"], headers={"range": "bytes=-5"})
    assert (last.status_code, last.content) == (206, picture[-5:])


def test_a_large_upload_goes_to_the_disk_and_not_into_memory(server, session):
    before = server.own_memory()
    movie = b"\0\0\1\xba" + os.urandom((20 << 20) - 4)

    def pieces():
        for place in range(0, len(movie), 1 << 16):
            yield movie[place:place + (1 << 16)]

    answer = session.post(session.base, data=pieces())  # chunked: no length is announced
    assert (answer.status_code, answer.json()["bytes"]) == (201, len(movie))
    assert device(answer.json()["url"], server.ready["ca"]).content == movie
    assert server.own_memory() - before < 16 << 20
    for path in (server.data / "media").iterdir():
        assert path.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("body, status, code", [
    (b"", 400, "empty"), (b"<html>" * 10, 415, "unknownFormat"), (b"GIF89a" + bytes(10 << 20), 413, "tooLarge"),
    (b"ID3" + bytes(5 << 20), 413, "tooLarge"),
])
def test_what_no_notification_can_carry_is_refused_in_a_sentence(server, session, body, status, code):
    answer = session.post(session.base, data=body)
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.json()["detail"]
    assert not list((server.data / "media").iterdir())


def test_what_is_announced_too_large_is_refused_before_it_comes(server, session):
    done = curl(
        server, "--include", "-H", f"authorization: {session.headers['authorization']}", "-H", "content-length: 99999999999",
        "--data-binary", "GIF89a", "--max-time", "5", session.base, check=False)
    assert b" 413 " in done.stdout


def test_a_full_quota_is_told_and_a_deletion_makes_room(server, session):
    first = session.post(session.base, data=b"\0\0\1\xba" + bytes(20 << 20)).json()
    full = session.post(session.base, data=b"GIF89a" + bytes(6 << 20))
    assert (full.status_code, full.json()["code"]) == (507, "teamQuotaFull")
    assert f"{first['bytes']} of the {QUOTA_MIB << 20} bytes" in full.json()["detail"]
    found = server.aldaba("doctor", f"--media-quota={QUOTA_MIB}", "--apns-port=0", "--device-port=0", "--control-port=0",
                          "--http-port=0", "--metrics-port=0", check=False).stdout
    assert f"media: {first['bytes']} of {QUOTA_MIB << 20} bytes used" in found
    assert session.delete(f"{session.base}/{first['name']}").status_code == 200
    assert device(first["url"], server.ready["ca"]).status_code == 404
    assert session.post(session.base, data=b"GIF89a" + bytes(6 << 20)).status_code == 201


def test_nobody_uploads_or_lists_without_a_token_and_a_team_has_its_own_files_alone(server, session):
    kept = session.post(session.base, data=png()).json()
    for method, url in [("POST", session.base), ("GET", session.base), ("DELETE", f"{session.base}/{kept['name']}")]:
        assert requests.request(method, url, data=png(), verify=server.ready["ca"], timeout=20).status_code == 401
    other = {"authorization": f"bearer {server.other_key.token()}"}
    assert session.get(session.base, headers=other).json() == []
    assert session.delete(f"{session.base}/{kept['name']}", headers=other).status_code == 404
    assert [item["name"] for item in session.get(session.base).json()] == [kept["name"]]
    for path in ["media/", "media/x.png", f"media/{kept['name']}", f"media/{'0' * 40}.png", "media/..%2f..%2ftoken.key"]:
        assert device(f"{server.ready['control']}/{path}", server.ready["ca"]).status_code == 404


def test_a_restart_keeps_the_files_and_their_addresses(server, session):
    picture = png(8, 8)
    url = session.post(session.base, data=picture).json()["url"]
    server.stop()
    (server.data / "media" / f"{'1' * 40}.arriving").write_bytes(b"half")
    server.start()
    assert device(url, server.ready["ca"]).content == picture
    assert not (server.data / "media" / f"{'1' * 40}.arriving").exists()


class Beginning:
    """An upload of which only the first bytes are sent."""

    def __init__(self, server, session, length=1000):
        address = server.ready["control"].removeprefix("https://")
        self.connection = http.client.HTTPSConnection(address, timeout=20, context=verified_context(server.ready["ca"]))
        self.connection.putrequest("POST", "/v1/media")
        self.connection.putheader("authorization", session.headers["authorization"])
        self.connection.putheader("content-length", str(length))
        self.connection.endheaders(b"GIF89a" + bytes(100))


def arriving(server):
    return list((server.data / "media").glob("*.arriving"))


def test_only_so_many_files_arrive_at_once_and_one_that_breaks_off_leaves_its_place(server, session):
    begun = [Beginning(server, session) for _ in range(4)]
    wait_until(lambda: len(arriving(server)) == 4, "as many arrive as a team may have")
    busy = session.post(session.base, data=png())
    assert (busy.status_code, busy.json()["code"]) == (429, "teamBusy")
    for one in begun:
        one.connection.close()
    wait_until(lambda: not arriving(server), "what broke off is gone")
    assert session.post(session.base, data=png()).status_code == 201


def test_a_kill_in_the_middle_of_an_upload_leaves_nothing_but_what_was_kept(server, session):
    url = session.post(session.base, data=png()).json()["url"]
    begun = Beginning(server, session)
    wait_until(lambda: arriving(server), "one arrives")
    server.kill()
    server.start()
    assert not arriving(server)
    assert device(url, server.ready["ca"]).content == png()
    begun.connection.close()


def test_the_metrics_tell_what_is_kept_and_served(server, session):
    def metric(name):
        text = requests.get(f"{server.ready['metrics']}/metrics", timeout=20).text
        return float(re.search(rf"^{re.escape(name)} (\S+)$", text, re.M)[1])

    served = metric('aldaba_media_served_bytes_total{kind="image"}')
    picture = png()
    url = session.post(session.base, data=picture).json()["url"]
    device(url, server.ready["ca"])
    assert metric("aldaba_media_bytes") == len(picture) and metric("aldaba_media_files") == 1
    assert metric('aldaba_media_served_bytes_total{kind="image"}') - served == len(picture)
    assert metric("aldaba_media_quota_bytes") == QUOTA_MIB << 20


def test_devices_are_told_the_address_by_which_they_reach_the_server(tmp_path):
    with OwnServer(tmp_path, "test_media_url", "--media-url=https://push.example:8443/aldaba/") as server:
        server.add_app()
        server.key()
        file = tmp_path / "picture"
        file.write_bytes(png())
        url = server.aldaba("media", "upload", file, "--ca", server.ready["ca"]).stdout.strip()
        assert re.fullmatch(r"https://push\.example:8443/aldaba/media/[0-9a-f]{40}\.png", url)
    for setting in ["media-url=http://push.example", "media-quota=0", "media-expiry=0", "media-expiry=many"]:
        wrong = run_aldaba("serve", f"--{setting}", "--data", tmp_path / "data", check=False)
        assert wrong.returncode == 3 and f"--{setting.split('=')[0]}: " in wrong.stderr


def test_the_command_uploads_lists_and_deletes(server, tmp_path):
    file = tmp_path / "picture.txt"  # the name says nothing
    file.write_bytes(png())
    ca = ["--ca", server.ready["ca"]]
    url = server.aldaba("media", "upload", file, *ca).stdout.strip()
    assert device(url, server.ready["ca"]).content == file.read_bytes()
    line = server.aldaba("media", "list", *ca).stdout.split()
    assert (url.split("/")[-1], line[1:3]) == (f"{line[0]}.png", [str(file.stat().st_size), "image/png"])
    assert json.loads(server.aldaba("media", "list", "--json", *ca).stdout)["url"] == url
    assert server.aldaba("media", "delete", url, *ca).stdout == f"deleted {line[0]}\n"
    gone = server.aldaba("media", "delete", line[0], *ca, check=False)
    assert gone.returncode == 1 and "no such file" in gone.stderr
    file.write_text("a text")
    wrong = server.aldaba("media", "upload", file, *ca, check=False)
    assert wrong.returncode == 3 and "PNG" in wrong.stderr
    missing = server.aldaba("media", "upload", tmp_path / "nothing", *ca, check=False)
    assert missing.returncode == 3 and "No such file" in missing.stderr


def test_send_uploads_the_picture_and_the_device_is_told_of_it(up, path, control, tmp_path):
    """What the device has in its list names the address, which serves the picture."""
    file = tmp_path / "picture"
    file.write_bytes(png())
    common = ["--data", up.data, "--token", path["deviceToken"], "--title", "Look", "--json"]
    sent = json.loads(run_aldaba("send", *common, "--image", file).stdout)
    assert sent["status"] == 200
    url = json.loads(run_aldaba("media", "list", "--json", "--data", up.data).stdout)["url"]
    assert device(url, path["ca"]).content == file.read_bytes()

    def arrived():
        return [json.loads(item["notification"]["payload"]) for item in json.loads(
            run_aldaba("notifications", "list", "--json", "--data", up.data).stdout)]

    (payload,) = wait_until(arrived, "the device has it")
    assert payload == {
        "aps": {"alert": {"title": "Look"}, "mutable-content": 1}, "attachment-url": url}
    run_aldaba("send", *common, "--image", "https://127.0.0.1:1/picture.png")
    plain = run_aldaba("send", *common, "--image", "http://example.com/picture.png", check=False)
    assert plain.returncode == 3 and "https" in plain.stderr
