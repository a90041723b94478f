"""The program `SendWithLibrary` with a server that writes frames to it, and what became of an attack."""

import contextlib
import json
import queue
import subprocess
import threading
import time
import uuid
from collections import Counter

import pytest
from cryptography.hazmat.primitives.asymmetric import ec

from aldaba_process import BINARY, clean_environment
from certificates import make_certificates
from hostile_frames import OTHER, VICTIM, FrameServer
from test_run import pem

PROGRAM = BINARY.parent / "SendWithLibrary"
LOST = {"error": "connectionLost", "mayHaveBeenProcessed": "true"}
# The result of a notification that no connection has taken before its deadline.
LATE = {"error": "deadline", "mayHaveBeenProcessed": "false"}


class Program:
    """The program `SendWithLibrary`, which is told what to send while it runs."""

    def __init__(self, folder, certificates, port, *options):
        (folder / "AuthKey.p8").write_text(pem(ec.generate_private_key(ec.SECP256R1())))
        self._errors = open(folder / "stderr.log", "w+")
        self.process = subprocess.Popen(
            [str(PROGRAM), "--key", str(folder / "AuthKey.p8"), "--key-id", "ABCDE12345", "--team", "TEAM123456",
             "--bundle", "com.example.app", "--server", f"localhost:{port}", "--authorities", str(certificates.ca),
             *(options or ("--deadline", "8"))],
            env=clean_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True)
        self._lines = queue.SimpleQueue()
        # The `apns-id` of each notification by its token; by the `apns-id`, the result and the line that tells it.
        self._names, self.results, self.told = {}, {}, {}
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(json.loads(line))
        self._lines.put(None)

    def send(self, count, payload=None):
        """Sends notifications and returns their ids."""
        names = {f"{len(self._names) + number:04x}": str(uuid.uuid4()) for number in range(count)}
        self._names.update(names)
        for token, name in names.items():
            line = {"token": token, "id": name, "payload": payload or {"aps": {"alert": token}}}
            self.process.stdin.write(json.dumps(line) + "\n")
        self.process.stdin.flush()
        return list(names.values())

    def until(self, count, seconds=30):
        """Waits until so many notifications have a result: the name of a success, or the members of an error."""
        end = time.monotonic() + seconds
        while len(self.results) < count:
            told = self._lines.get(timeout=max(0, end - time.monotonic()))
            assert told is not None, f"the program has ended: {self.errors}"
            name = self._names[told.pop("token")]
            assert name not in self.results
            self.told[name] = told
            self.results[name] = told if "error" in told else told["result"]
        return self.results

    @property
    def errors(self):
        self._errors.seek(0)
        return self._errors.read()

    def close(self):
        """Waits for the rest of the results and for the end of the program, and returns all results."""
        self.process.stdin.close()
        self.until(len(self._names))
        assert self._lines.get(timeout=15) is None
        assert self.process.wait(15) == 0, self.errors
        return self.results

    def kill(self):
        self.process.kill()
        self.process.wait()
        self._reader.join(10)
        for pipe in (self.process.stdin, self.process.stdout, self._errors):
            # What was not written to a program that has ended is lost.
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


class FrameWorld:
    """The program, and a server that writes frames to it."""

    def __init__(self, folder):
        self._folder = folder
        self._certificates = make_certificates(folder / "tls")
        self.server = self._program = None

    def end(self):
        """Ends the program and the server, whatever they do."""
        if self._program:
            self._program.kill()
        if self.server:
            self.server.close()

    def serve(self, scenario, **options):
        self.server = FrameServer(self._certificates, scenario, **options)
        return self.server.connections

    def start(self, *options):
        self._program = Program(self._folder, self._certificates, self.server.port, *options)
        return self._program

    def finish(self):
        """Waits for all results, ends the server, and returns the results by `apns-id`."""
        results = self._program.close()
        self.server.check()
        return results

    def results(self, count, *options, payload=None):
        """Sends notifications and returns their results."""
        self.start(*options).send(count, payload)
        return self.finish()

    def play(self, attack, answers=True):
        """Writes an attack while two requests are open, and returns what became of it, such as "stream CANCEL".

        One request is answered before, a fourth one is sent afterwards. The attack is the answer to the first of the
        two, unless the server `answers` it afterwards. All others must be answered, the last one by another connection
        if this one ends.
        """
        def scenario(peer):
            peer.answer(*peer.whole(1))
            victim, _ = peer.whole(2)
            victim.is_answered = not answers
            peer.write(attack)
            peer.settle()

        self.serve(scenario)
        program = self.start()
        program.send(3)
        program.until(3)
        program.send(1)
        results = self.finish()
        first = self.server.connections[0]
        outcome = outcome_of(self.server)
        if outcome == "goes on" and results[first.requests[VICTIM].name] == LOST:
            outcome = "goes on, lost"
        lost = {"connection": [VICTIM, OTHER], "goes": [VICTIM] if "lost" in outcome else []}
        names = {first.requests[stream].name for stream in lost.get(outcome.split(" ")[0], [VICTIM])}
        assert results == {name: LOST if name in names else "accepted" for name in results}, outcome
        assert set(self.times_seen().values()) == {1}, outcome
        return outcome

    def times_seen(self):
        """How often each notification came."""
        return Counter(each.name for peer in self.server.connections for each in peer.requests.values())


def outcome_of(server):
    """What the client has ended: a stream, the first connection, or nothing."""
    first = server.connections[0]
    if first.goaway or len(server.connections) > 1:
        return f"connection {first.goaway or 'closed'}"
    if VICTIM in first.resets:
        return f"stream {first.resets[VICTIM][0]}"
    assert not first.resets
    return "goes on"


def accepted(results):
    return all(result == "accepted" for result in results.values())


GOES_ON = {"goes on"}


def stream_error(*codes):
    return {f"stream {code}" for code in codes}


def connection_error(*codes):
    return {f"connection {code}" for code in codes}


def either_error(*codes):
    """A stream error may be handled as a connection error (RFC 9113, section 5.4.1)."""
    return stream_error(*codes) | connection_error(*codes)


@pytest.fixture
def world(tmp_path):
    made = FrameWorld(tmp_path)
    yield made
    made.end()
