"""A program that connects to the agent and then starts another app's program in its own place is not that app."""

import json
import subprocess
import sys

import pytest

from own_agent import OwnAgent

# The child keeps the connection that its parent made, waits until the parent runs the other program, and says hello. The
# agent has accepted that connection when it has answered on a later one.
IMPOSTOR = """
import json, os, socket, struct, sys, select
path, program, app = sys.argv[1:]
connection = socket.socket(socket.AF_UNIX)
connection.connect(path)

def hello(connection, app):
    body = json.dumps({"type": "hello", "version": 1, "app": app}).encode()
    connection.sendall(struct.pack(">I", len(body)) + body)
    (length,) = struct.unpack(">I", connection.recv(4, socket.MSG_WAITALL))
    return connection.recv(length, socket.MSG_WAITALL)

later = socket.socket(socket.AF_UNIX)
later.connect(path)
hello(later, "com.example.nobody")
parent, (gone, alive) = os.getpid(), os.pipe()
if os.fork() == 0:
    os.close(alive)
    select.select([gone], [], [])  # closes with the execution of the other program
    assert os.readlink(f"/proc/{parent}/exe") == os.path.realpath(program)
    sys.stdout.buffer.write(hello(connection, app))
    sys.stdout.flush()
    os._exit(0)
os.close(gone)
os.execv(program, [program, "5"])
"""


@pytest.fixture(scope="module")
def agent(up):
    agent = OwnAgent(up, "test_impostor")
    agent.install(id="com.example.sleep", name="Sleep", team="ALDABADEMO", executable="/usr/bin/sleep")
    agent.start()
    yield agent
    agent.stop()


def test_who_connects_and_then_becomes_the_app_is_refused(agent):
    process = subprocess.Popen(
        [sys.executable, "-c", IMPOSTOR, agent.socket, "/usr/bin/sleep", "com.example.sleep"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    try:
        answer = json.loads(process.stdout.read())
    finally:
        process.wait(20)
    assert (answer["type"], answer["code"]) == ("refused", "notThisApp")
    assert "when it connected" in answer["message"]
