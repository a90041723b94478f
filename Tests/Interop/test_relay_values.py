"""The encoding of messages between devices, beside an implementation that others wrote: cbor2."""

import random
import struct
import sys
import uuid
from collections import deque
from datetime import datetime, timedelta, timezone

import cbor2
import pytest

from aldaba_process import REPOSITORY

sys.path.insert(0, str(REPOSITORY / "Examples/PythonRelay"))
from aldaba_relay import AgentError, Relay, _command_id  # noqa: E402
from relay_values import FarDate, MessageFault, decode, encode  # noqa: E402

EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def draw(random, depth=0):
    kind = random.randrange(9 if depth < 4 else 7)
    if kind == 0:
        return "".join(chr(random.choice((65, 0xE9, 0x4E2D, 0x1F600, 0))) for _ in range(random.randrange(30)))
    if kind == 1:
        return random.choice((0, 23, 24, 255, 256, 65535, 65536, (1 << 53) + 1, (1 << 63) - 1, -(1 << 63), random.getrandbits(40)))
    if kind == 2:
        return random.choice((0.0, -0.0, 1.5, 65504.0, 1e5, 1.1, 5e-324, 1.7e308, float("inf"), struct.unpack("<f", random.randbytes(4))[0]))
    if kind == 3:
        return random.random() < 0.5
    if kind == 4:
        return EPOCH + timedelta(milliseconds=random.randrange(-10**12, 10**13))
    if kind == 5:
        return uuid.UUID(bytes=random.randbytes(16))
    if kind == 6:
        return random.randbytes(random.randrange(300))
    if kind == 7:
        first = draw(random, depth + 1)
        return [first] * random.randrange(4)
    return {f"key{random.randrange(1000)}": draw(random, depth + 1) for _ in range(random.randrange(6))}


def messages(count=400):
    source = random.Random(20261122)
    return [{f"k{n}": draw(source, 1) for n in range(source.randrange(1, 6))} for _ in range(count)]


def test_both_write_the_same_bytes_and_read_the_same_values():
    for message in messages():
        data = encode(message, limit=1 << 20)
        assert data == cbor2.dumps(message, canonical=True, datetime_as_timestamp=True), message
        theirs = cbor2.loads(data)
        assert comparable(decode(data, 1 << 20)) == comparable(message)
        assert comparable(theirs) == comparable(message)


def comparable(value):
    """Their dates may differ by what a double of seconds does not tell; to the millisecond they must not."""
    if isinstance(value, datetime):
        return round((value - EPOCH) / timedelta(milliseconds=1))
    if isinstance(value, dict):
        return {key: comparable(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [comparable(element) for element in value]
    return (type(value), repr(value))


@pytest.mark.parametrize("message", [
    {"n": 1 << 63}, {"n": [1, 1.0]}, {"n": [True, 1]}, {"n": None}, {1: 2}, {"n": datetime(2026, 1, 1)}, {"n": object()},
    {"n": "\ud800"}, {"\udfff": 1},
])
def test_what_cannot_be_sent_is_refused(message):
    with pytest.raises(MessageFault):
        encode(message)


@pytest.mark.parametrize("arguments, fault", [
    ((5, "a", "s", {}), TypeError), ((None, "a", "s", {}), TypeError), (("1", b"a", "s", {}), TypeError),
    (("1", "a", "s", {}, float("inf")), ValueError), (("1", "a", "s", {}, 30, "x"), ValueError),
    (("1", "a", "\ud800", {}), MessageFault),
])
def test_what_cannot_be_asked_is_refused_before_the_agent_hears_of_it(arguments, fault):
    relay = Relay.__new__(Relay)  # without a connection
    relay._requests = 0
    with pytest.raises(fault):
        relay.call(*arguments)


@pytest.mark.parametrize("services, schemes, words", [
    ({"": "sameUser"}, (), "a service has no name"), ({}, ("",), "'' is no scheme"), ({}, ("a b",), "'a b' is no scheme"),
    ({}, ("mailto:",), "is no scheme"), ({}, ("File",), "never opened"), ({}, ("*", "1a"), "'1a' is no scheme"),
])
def test_what_can_never_be_called_or_opened_is_not_published(services, schemes, words):
    relay = Relay.__new__(Relay)  # without a connection
    with pytest.raises(MessageFault) as refused:
        relay.publish(services, schemes)
    assert words in str(refused.value)


def test_a_document_is_called_one_where_it_is_too_large():
    relay = Relay.__new__(Relay)  # without a connection
    with pytest.raises(MessageFault) as refused:
        relay.put_document("a", {"text": "x" * 9000})
    assert str(refused.value) == "the document's content has 9009 bytes; at most 8192 are allowed"


def test_an_error_of_the_services_own_connection_is_answered(capsys):
    relay = Relay.__new__(Relay)  # without a connection
    said = []
    relay._request = said.append
    relay._notices = deque(
        {"type": "asked", "call": call, "id": uuid.UUID(int=call), "device": "1", "app": "a", "service": "s",
         "caller": "c", "message": {}} for call in (1, 2))

    def answer(question):
        if question.call == 1:
            raise ConnectionRefusedError("the lamp is off")
        return {"ok": True}

    relay.serve(answer, count=2)
    assert [request["outcome"]["status"] for request in said] == ["failed", "success"]
    assert "the lamp is off" in capsys.readouterr().err


def test_an_agent_that_is_not_there_is_named(tmp_path, monkeypatch):
    with pytest.raises(AgentError) as missing:
        Relay("com.example.app", path=str(tmp_path / "agent.sock"))
    assert str(tmp_path / "agent.sock") in str(missing.value)
    monkeypatch.delenv("ALDABA_AGENT_SOCKET", raising=False)
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    with pytest.raises(AgentError, match="XDG_RUNTIME_DIR"):
        Relay("com.example.app")


def test_a_commands_id_may_be_a_text():
    assert _command_id(str(uuid.UUID(int=7))) == uuid.UUID(int=7)


@pytest.mark.parametrize("milliseconds", [0.5, 4 * 10**15 + 1, -(1 << 62)])
def test_a_date_that_no_device_reads_is_refused_with_its_place(milliseconds):
    with pytest.raises(MessageFault) as refused:
        encode({"n": {"when": FarDate(milliseconds)}})
    assert str(refused.value).startswith("n.when: a date is a whole number of milliseconds")


@pytest.mark.parametrize("milliseconds", [274_877_906_944_000, -4 * 10**15, 4 * 10**15])
def test_a_date_beyond_the_years_of_datetime_is_kept(milliseconds):
    data = encode({"n": FarDate(milliseconds)})
    assert decode(data) == {"n": FarDate(milliseconds)}
    assert encode(decode(data)) == data


@pytest.mark.parametrize("data", ["a1616ec1fb7ff8000000000000", "a1616ec1fb7ff0000000000000", "a1616ec16161"])
def test_what_is_no_date_is_refused(data):
    with pytest.raises(MessageFault):
        decode(bytes.fromhex(data))
