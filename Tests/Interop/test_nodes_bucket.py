"""The files of notifications at several servers with a bucket of an object store, which checks signatures and rights."""

import subprocess

import pytest

from aldaba_process import BINARY, clean_environment
from nats_server import PROGRAM
from object_store import ObjectStore
from pictures import png
from postgres_server import PROGRAMS
from test_nodes import metric
from test_nodes_media import A, B, C, MediaNodes, movie, path

pytestmark = pytest.mark.skipif(
    PROGRAMS is None or PROGRAM is None, reason="Debian's postgresql or nats-server is not installed")


@pytest.fixture(scope="module")
def store():
    made = ObjectStore().start()
    yield made
    made.remove()


@pytest.fixture(scope="module")
def nodes(tmp_path_factory, store):
    made = MediaNodes(
        tmp_path_factory.mktemp("nodes"), "test_nodes_bucket", 3, f"--media-bucket={store.url}",
        f"--media-bucket-credentials={store.credentials}")
    yield made
    made.end()


@pytest.fixture
def clients(nodes):
    nodes.empty()
    return nodes.clients


def key(address):
    return address.removeprefix("/media/")


@pytest.mark.parametrize("data", [png(3, 3), movie(9)], ids=["in one piece", "in several pieces"])
def test_a_file_outlives_the_only_server_that_has_it(nodes, store, clients, data):
    address = path(clients[A].upload(data))
    assert store.objects() == {key(address): len(data)}
    assert store.content(key(address)) == data
    clients[A].kill()
    try:
        answer = clients[B].get(address)
        assert answer.status_code == 200 and answer.content == data
        assert metric(nodes.servers[B], "aldaba_media_bucket_requests_total", action="get", outcome="done") >= 1
    finally:
        nodes.start(A)


def test_the_object_of_a_deleted_file_is_deleted(store, clients):
    kept, gone = path(clients[A].upload(png(4, 4))), path(clients[A].upload(png(5, 5)))
    assert clients[B].delete(gone).status_code == 200
    assert set(store.objects()) == {key(kept)}
    assert clients[C].get(kept).status_code == 200


def test_a_server_that_lost_its_folder_has_the_file_from_the_bucket(nodes, clients):
    address = path(clients[A].upload(png(12, 12)))
    clients[A].kill()
    for file in clients[A].on_disk():
        file.unlink()
    nodes.start(A)
    assert clients[A].get(address).content == png(12, 12)


def test_an_object_with_other_bytes_is_not_served(store, clients):
    data = png(13, 13)
    address = path(clients[A].upload(data))
    store.replace(key(address), data[:-1] + b"x")
    assert clients[B].get(address).content == data


def test_the_same_bytes_at_all_servers_are_one_object(store, clients):
    addresses = {path(client.upload(png(6, 6))) for client in clients}
    assert len(addresses) == 1 and set(store.objects()) == {key(addresses.pop())}


def test_a_bucket_that_is_away_is_told_to_the_provider_and_files_are_copied_between_servers(nodes, store, clients):
    before = path(clients[A].upload(png(8, 8)))
    removed = path(clients[A].upload(png(9, 9)))
    failed = {"action": "put", "outcome": "failed"}
    failures = metric(nodes.servers[A], "aldaba_media_bucket_requests_total", **failed)
    store.kill()
    try:
        refused = clients[A].upload(png(10, 10))
        assert (refused.status_code, refused.json()["code"]) == (503, "bucket"), refused.text
        assert clients[A].paths() == sorted([before, removed])
        assert clients[B].get(before).content == png(8, 8)
        assert clients[B].delete(removed).status_code == 200
        assert clients[C].get(removed).status_code == 404
        assert metric(nodes.servers[A], "aldaba_media_bucket_requests_total", **failed) == failures + 1
    finally:
        # Its access key is another one, which the servers read from the file.
        store.start()
    again = path(clients[A].upload(png(10, 10)))
    assert set(store.objects()) == {key(again)}


def test_a_wrong_secret_is_told_by_the_log_and_not_shown(nodes, store, clients):
    store.write_credentials("wrong-secret")
    try:
        assert clients[A].upload(png(11, 11)).status_code == 503
        log = nodes.servers[A].log_tail()
        assert "SignatureDoesNotMatch" in log and "wrong-secret" not in log
    finally:
        store.write_credentials(store.secret)
    assert clients[A].upload(png(11, 11)).status_code == 201


def check(nodes, *flags):
    """`aldaba serve --check` with the settings of the servers, and others."""
    return subprocess.run(
        [BINARY, "serve", "--check", "--postgres", nodes.database.url, "--nats", nodes.nats.url, *flags],
        capture_output=True, text=True, env=clean_environment(), timeout=60, check=False)


def test_the_check_of_settings_uses_the_bucket(nodes, store, clients, tmp_path):
    right = f"--media-bucket={store.url}", f"--media-bucket-credentials={store.credentials}"
    checked = check(nodes, *right)
    assert checked.returncode == 0, checked.stderr
    assert not store.objects()
    other = f"--media-bucket={store.url.replace('/files', '/others')}"
    wrong = tmp_path / "credentials"
    wrong.write_text(f"aws_access_key_id = {store.id}\naws_secret_access_key = wrong\n")
    wrong.chmod(0o600)
    half = tmp_path / "half"
    half.write_text("[default]\naws_access_key_id = A\n")
    half.chmod(0o600)
    for flags, reason in [
        ((other, right[1]), "status 403"), ((right[0], f"--media-bucket-credentials={wrong}"), "SignatureDoesNotMatch"),
        ((right[0],), "media-bucket-credentials"), ((right[0], f"--media-bucket-credentials={half}"), "aws_secret_access_key"),
        ((right[0], f"--media-bucket-credentials={tmp_path / 'none'}"), "no such file"),
        (("--media-bucket=files", right[1]), "https://HOST/BUCKET"),
    ]:
        refused = check(nodes, *flags)
        assert refused.returncode != 0 and reason in refused.stderr, (flags, refused.stderr)


def test_a_server_alone_says_that_a_bucket_is_for_several(store):
    alone = subprocess.run(
        [BINARY, "serve", "--check", f"--media-bucket={store.url}", f"--media-bucket-credentials={store.credentials}"],
        capture_output=True, text=True, env=clean_environment(), timeout=60, check=False)
    assert alone.returncode != 0 and "nats" in alone.stderr, alone.stderr
