"""The image for tests: its entry point, its health check, and the example of a program beside it."""

import json
import os
import re
import socket
import ssl
import stat
import subprocess
import sys

import pytest
import yaml

from aldaba_process import HERE, REPOSITORY, clean_environment, processes
from test_run import pytestmark as needs_namespaces
from tests_image import FOLDER, RunningImage, instructions, variables

KNOWN = {"ARG", "FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "VOLUME", "EXPOSE", "STOPSIGNAL", "HEALTHCHECK", "ENTRYPOINT", "CMD"}


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    with RunningImage(tmp_path_factory.mktemp("image")) as running:
        yield running


def swift_names(file, constant):
    """The strings of a list in a Swift file."""
    text = (REPOSITORY / "Sources/aldaba" / file).read_text()
    return re.findall(r'"([^"]+)"', re.search(rf"let {constant} = \[(.*?)\]", text, re.S)[1])


def vendor_names():
    file = "Serve/SharedPortService.swift"
    return [name for constant in ("apns", "fcm", "webPush") for name in swift_names(file, constant)]


@pytest.mark.parametrize("file", ["Dockerfile", "tests.Dockerfile"])
def test_every_instruction_is_known_and_every_command_is_one_of_the_shell(file):
    stages = 0
    for name, arguments in instructions(file):
        assert name in KNOWN, name
        stages += name == "FROM"
        if name == "RUN":
            checked = subprocess.run(["sh", "-n"], input=arguments, text=True, capture_output=True, check=False)
            assert checked.returncode == 0, checked.stderr
        elif name in ("ENTRYPOINT", "CMD"):
            assert all(isinstance(word, str) for word in json.loads(arguments))
        elif name == "COPY" and file == "tests.Dockerfile" and not arguments.startswith("--from"):
            source = arguments.split()[0]
            assert (REPOSITORY / source).exists(), source
    assert stages == (2 if file == "tests.Dockerfile" else 1)


def test_the_image_is_not_root_s_and_exposes_the_ports_of_its_settings():
    told = dict(instructions())
    assert told["USER"] == "aldaba"
    ports = {number for name, number in variables().items() if name.endswith("_PORT")}
    assert set(told["EXPOSE"].split()) == ports
    assert json.loads(told["ENTRYPOINT"]) == ["serve-tests"] and (FOLDER / "serve-tests").stat().st_mode & stat.S_IXUSR


def health(image):
    """The health check, asked as the engine does."""
    command = json.loads(dict(instructions())["HEALTHCHECK"].partition("CMD ")[2])
    environment = image.environment | {"ALDABA_HTTP_PORT": str(image.addresses["httpPort"])}
    return subprocess.run(command, env=environment, capture_output=True, timeout=20, check=False).returncode


def test_the_health_check_fails_without_a_server(image, tmp_path):
    assert health(image) == 0
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        stopped = type("Stopped", (), {
            "environment": image.environment, "addresses": {"httpPort": unused.getsockname()[1]}})
        assert health(stopped) == 1
    image.environment["TRUST_FOLDER"] = str(tmp_path)
    try:
        assert health(image) == 1, "without the certificate it is not healthy"
    finally:
        image.environment["TRUST_FOLDER"] = str(image.trust)


@pytest.mark.parametrize("name", vendor_names())
@pytest.mark.parametrize("file", ["ca.pem", "bundle.pem"])
def test_programs_trust_the_server_under_every_name(image, name, file):
    """The names that end in push.apple.com have APNs, whose protocol is HTTP/2 alone."""
    context = ssl.create_default_context(cafile=image.trust / file)
    # APNs has HTTP/2 alone.
    context.set_alpn_protocols(["http/1.1"])
    with socket.create_connection(("127.0.0.1", image.published[443]), 10) as plain:
        with context.wrap_socket(plain, server_hostname=name) as secured:
            assert (secured.selected_alpn_protocol() is None) == name.endswith(".push.apple.com")


def test_anybody_may_read_the_certificates_and_nothing_else_is_shared(image):
    assert {file.name: file.stat().st_mode & 0o777 for file in image.trust.iterdir()} == {"ca.pem": 0o644, "bundle.pem": 0o644}


# Asks the image in a network of its own, at an address that is not the one that the server takes for this machine.
IN_A_NETWORK = """
import http.client, json, socket, ssl, sys
from pathlib import Path
from tests_image import RunningImage

def plain(headers):
    connection = http.client.HTTPConnection("127.0.0.2", 8080, timeout=10)
    connection.request("GET", "/v1/received", headers=headers)
    return connection.getresponse().status

def secured(port, name, file):
    context = ssl.create_default_context(cafile=file)
    # APNs has HTTP/2 alone.
    context.set_alpn_protocols(["http/1.1"])
    with socket.create_connection(("127.0.0.2", port), 10) as raw, context.wrap_socket(raw, server_hostname=name) as tls:
        return tls.selected_alpn_protocol()

with RunningImage(Path(sys.argv[1]), has_own_network=True) as image:
    ca = image.trust / "ca.pem"
    print(json.dumps([
        [plain({"host": host}) for host in ("aldaba:8080", "localhost:49153", "127.0.0.1:49153", "192.0.2.7:8080")],
        [plain({"host": "evil.example:8080"}), plain({"host": "localhost:49153", "origin": "http://evil.example"})],
        [secured(443, "api.push.apple.com", ca), secured(443, "fcm.googleapis.com", ca), secured(2197, "localhost", ca)]]))
"""


@needs_namespaces
def test_other_containers_reach_it_by_any_address_and_web_pages_do_not(tmp_path):
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", sys.executable, "-c",
         IN_A_NETWORK, str(tmp_path)], env=os.environ | {"PYTHONPATH": str(HERE)}, capture_output=True, text=True, timeout=120,
        check=False)
    assert done.returncode == 0, done.stderr
    found, refused, protocols = json.loads(done.stdout)
    assert (found, refused, protocols) == ([200] * 4, [403, 403], [None, "http/1.1", None])


def test_the_end_of_the_container_is_the_end_of_the_server(tmp_path):
    with RunningImage(tmp_path) as running:
        server = running.addresses["process"]
        assert running.stop() == 0, running.log.read_text()
    assert server not in processes()


def test_a_server_that_cannot_start_ends_the_container_with_its_code(tmp_path):
    done = subprocess.run(
        [str(FOLDER / "serve-tests"), "--apns-port=none"], capture_output=True, text=True, timeout=30, check=False,
        env=clean_environment(TRUST_FOLDER=str(tmp_path), ALDABA_DATA=str(tmp_path)))
    assert done.returncode == 3 and "apns-port" in done.stderr, done.stderr
    assert not list(tmp_path.glob("*.pem"))


def test_the_example_names_the_hosts_and_variables_of_aldaba_run():
    services = yaml.safe_load((FOLDER / "compose.yaml").read_text())["services"]
    server, application = services["aldaba"], services["application"]
    assert sorted(server["networks"]["tests"]["aliases"]) == sorted(vendor_names())
    trusted = set(swift_names("Run/RunTrust.swift", "names"))
    assert trusted == {name for name, value in application["environment"].items() if value == "/trust/ca.pem"}
    assert (FOLDER / server["build"]["context"] / server["build"]["dockerfile"]).exists()
    assert application["depends_on"] == {"aldaba": {"condition": "service_healthy"}}
    assert set(server["volumes"] + application["volumes"]) == {"trust:/trust", "trust:/trust:ro"}
