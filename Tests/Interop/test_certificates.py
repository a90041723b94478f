"""A server whose certificate is renewed while it runs: each listener shows the new one, and open connections go on."""

import pytest

from aldaba_process import run_aldaba
from h2_client import H2Client
from certified_server import Server, make_certificate
from waiting import wait_until


@pytest.fixture
def running(tmp_path):
    made = make_certificate(tmp_path, 90)
    server = Server(tmp_path)
    yield server, tmp_path, made
    server.end()


def test_a_renewed_certificate_is_shown_at_once_after_sighup(running):
    server, folder, (serial, end) = running
    assert server.serials() == {serial}
    assert server.metric("aldaba_certificate_expiry_timestamp_seconds") == [end]
    authority = folder / "first.pem"
    authority.write_bytes((folder / "chain.pem").read_bytes())
    with H2Client(f"https://127.0.0.1:{server.ready['apnsPort']}", str(authority)) as open_before:
        assert open_before.request("GET", "/", []).status == 200
        renewed, end = make_certificate(folder, 5)
        server.hang_up()
        wait_until(lambda: server.serials() == {renewed}, "every listener shows the new certificate")
        assert server.metric("aldaba_certificate_expiry_timestamp_seconds") == [end]
        assert "the certificate ends in 4 days" in server.log.read_text()
        assert open_before.request("GET", "/", []).status == 200


def test_files_that_cannot_be_used_change_nothing(running):
    server, folder, (serial, end) = running
    assert server.metric("aldaba_certificate_files_usable") == [1]
    key = (folder / "key.pem").read_bytes()
    renewed, _ = make_certificate(folder, 90)
    new_key = (folder / "key.pem").read_bytes()
    # The certificate is there already, its key not yet.
    (folder / "key.pem").write_bytes(key)
    server.hang_up()
    wait_until(lambda: "this key does not fit" in server.log.read_text(), "the log says what is wrong")
    assert server.serials() == {serial}
    wait_until(lambda: server.metric("aldaba_certificate_files_usable") == [0], "the metrics say that they do not fit")
    assert server.metric("aldaba_certificate_expiry_timestamp_seconds") == [end], "of what is shown"
    (folder / "key.pem").write_bytes(new_key)
    server.hang_up()
    wait_until(lambda: server.serials() == {renewed}, "every listener shows the new certificate")
    wait_until(lambda: server.metric("aldaba_certificate_files_usable") == [1], "the metrics say that they fit")


def test_a_key_that_does_not_fit_is_refused_at_the_start_and_told_by_doctor(tmp_path):
    make_certificate(tmp_path, 90)
    key = (tmp_path / "key.pem").read_bytes()
    make_certificate(tmp_path, 90)
    (tmp_path / "key.pem").write_bytes(key)
    files = ["--certificate", tmp_path / "chain.pem", "--certificate-key", tmp_path / "key.pem"]
    done = run_aldaba("serve", "--data", tmp_path / "data", *files, check=False)
    assert done.returncode == 3, done.stderr
    assert f"{tmp_path}/key.pem: this key does not fit" in done.stderr
    done = run_aldaba("doctor", "--data", tmp_path / "data", *files, check=False)
    assert done.returncode != 0
    assert "this key does not fit" in done.stdout
