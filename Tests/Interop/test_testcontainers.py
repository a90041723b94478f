"""The Testcontainers modules, each by a program in its language: stand-ins for the libraries, and a server that runs."""

import json
import os
import shutil
import ssl
import subprocess
import sys
import time

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec

import java_tools
from aldaba_process import HERE, REPOSITORY, clean_environment
from tests_image import RunningImage

MODULES = REPOSITORY / "Packaging/testcontainers"
STUBS = HERE / "testcontainers_stubs"
TEAM = "CONTAINER1"


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    with RunningImage(tmp_path_factory.mktemp("image")) as running:
        yield running


def python(_folder):
    return [sys.executable, str(STUBS / "python/program.py")], {"PYTHONPATH": f"{STUBS / 'python'}:{MODULES / 'python'}"}


def node(folder):
    shutil.copytree(STUBS / "node/testcontainers", folder / "node_modules/testcontainers")
    for file in (STUBS / "node/program.mjs", MODULES / "node/aldaba-container.mjs"):
        shutil.copy(file, folder)
    checked = subprocess.run(
        ["node", "--check", str(folder / "aldaba-container.mjs")], capture_output=True, text=True, timeout=60, check=False)
    assert checked.returncode == 0, checked.stderr
    return ["node", str(folder / "program.mjs")], {}


def go(folder):
    """The module's and the program's files, beside a library that is a folder here."""
    shutil.copytree(MODULES / "go", folder / "aldaba")
    shutil.copytree(STUBS / "go/program", folder / "program")
    library = "github.com/testcontainers/testcontainers-go"
    (folder / "go.mod").write_text(
        f"module example.com\n\ngo 1.19\n\nrequire {library} v0.0.0\n\nreplace {library} => {STUBS / 'go'}\n")
    settings = {"GOPROXY": "off", "GOFLAGS": "-mod=mod", "GOCACHE": str(folder / "cache"), "GOTOOLCHAIN": "local"}
    unformatted = subprocess.run(["gofmt", "-l", str(MODULES / "go")], capture_output=True, text=True, timeout=60, check=True)
    assert unformatted.stdout == ""
    for command in (["vet", "./..."], ["build", "-o", "built", "./program"]):
        done = subprocess.run(
            ["go", *command], cwd=folder, capture_output=True, text=True, timeout=300, check=False, env=os.environ | settings)
        assert done.returncode == 0, done.stderr
    return [str(folder / "built")], {}


def java(folder):
    classes = java_tools.compile_extension(folder / "classes")
    sources = [*sorted((STUBS / "java").rglob("*.java")), *sorted((MODULES / "java").rglob("*.java"))]
    java_tools.compile_java(classes, *sources)
    return ["java", "-cp", str(classes), "Program", TEAM], {}


NEEDS = {python: None, node: "node", go: "go", java: "javac"}


def send(ready):
    """Two notifications; their statuses."""
    token = jwt.encode(
        {"iss": TEAM, "iat": int(time.time())}, ec.generate_private_key(ec.SECP256R1()), algorithm="ES256",
        headers={"kid": "ABC123DEFG"})
    context = ssl.create_default_context(cadata=ready["ca"])
    headers = {"authorization": f"bearer {token}", "apns-topic": "com.example.App", "apns-push-type": "alert"}
    with httpx.Client(http2=True, verify=context) as client:
        # FCM's address has the same server, which answers its pages without HTTP/2.
        assert "Aldaba" in client.get(ready["fcm"]).text
        return [
            client.post(f"{ready['apns']}/3/device/{'ab' * 32}", json={"aps": {"alert": "x"}}, headers=headers).status_code
            for _ in range(2)]


@pytest.mark.parametrize("language", NEEDS, ids=lambda function: function.__name__)
def test_a_container_provokes_a_fault_waits_and_forgets(language, image, tmp_path):
    if NEEDS[language] and shutil.which(NEEDS[language]) is None:
        pytest.skip(f"no {NEEDS[language]}")
    if language is java and java_tools.why_not():
        pytest.skip(java_tools.why_not())
    command, further = language(tmp_path)
    environment = clean_environment(
        STUB_PORTS=",".join(f"{port}={number}" for port, number in image.published.items()), STUB_ROOT=str(image.root), **further)
    program = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        first = program.stdout.readline()
        assert first, program.stderr.read()
        ready = json.loads(first)
        assert ready["http"] == image.http.replace("127.0.0.1", "localhost")
        assert send(ready) == [429, 200]
        rest, errors = program.communicate(timeout=60)
        assert program.returncode == 0, errors
        assert [json.loads(line) for line in rest.splitlines()] == [[200, 429], 0]
    finally:
        if program.poll() is None:
            program.kill()
            program.communicate()
