"""Writes Tests/Fixtures/mcs: packets of the device channel as bytes, encoded here by hand from the field numbers.

Nothing of the Swift code is used, so that a test which reads these files compares two readings of the standard.
Run it again after a change: python3 Tests/Fixtures/make_mcs.py
"""

import pathlib
import struct

FOLDER = pathlib.Path(__file__).parent / "mcs"


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def fixed64(field: int, value: int) -> bytes:
    return varint(field << 3 | 1) + struct.pack("<Q", value)


def text(field: int, value: str | bytes) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def packet(tag: int, body: bytes = b"") -> bytes:
    return bytes([tag]) + varint(len(body)) + body


def app_data(key: str, value: str) -> bytes:
    return text(7, text(1, key) + text(2, value))


LOGIN = packet(
    2,
    text(1, "chrome-63.0.3234.0") + text(2, "mcs.android.com") + text(3, "4242") + text(4, "4242")
    + text(5, "9876543210987654321") + text(6, "android-1092") + number(7, 1)
    + text(8, text(1, "new_vc") + text(2, "1")) + text(10, "101") + text(10, "102") + number(12, 0)
    + text(13, text(1, "") + number(2, 1) + number(3, 20000)) + number(14, 1) + number(16, 2) + number(17, 1)
    # A field that nobody here knows: telemetry of the client's.
    + text(22, number(1, 7)),
)
LOGIN_RESPONSE = packet(
    3,
    text(1, "chrome-63.0.3234.0") + number(6, 1) + text(7, number(3, 240000)) + number(8, 1795234567890),
)
LOGIN_ERROR = packet(3, text(1, "x") + text(3, number(1, 401) + text(2, "unknown device or wrong secret")))
PING = packet(0)
PING_WITH_LAST = packet(0, number(2, 5))
HEARTBEAT_ACK = packet(1, number(2, 300))
CLOSE = packet(4)
STREAM_ACK = packet(7, number(2, 1) + text(3, "") + text(7, number(1, 13) + text(2, b"")) + number(10, 11))
SELECTIVE_ACK = packet(
    7, number(2, 1) + text(3, "") + text(7, number(1, 12) + text(2, text(1, "101") + text(1, "103"))))
STREAM_ERROR = packet(10, text(1, "not_logged_in") + text(2, "the first packet must be a login"))
PAYLOAD = '{"aps":{"alert":"Milk – and bread"},"todo":"milk"}'.encode()
NOTIFICATION = packet(
    8,
    text(2, "7215545057280001") + text(3, "ABCDE12345") + text(5, "com.example.todo") + text(6, "list-7")
    + app_data("aldaba.apns-id", "11111111-2222-3333-4444-555555555555")
    + app_data("aldaba.priority", "5") + app_data("aldaba.environment", "sandbox")
    + app_data("aldaba.accepted", "1795234567000") + app_data("aldaba.push-type", "alert")
    + app_data("aldaba.expiration", "1795238167000")
    + text(9, "7215545057280001") + number(11, 1) + number(17, 3600) + number(18, 1795234567000) + number(19, 2)
    + text(21, PAYLOAD),
)
RECEIPTS = packet(
    8,
    text(2, "out-7") + text(4, "aldaba") + text(5, "aldaba.receipts") + text(9, "out-7") + number(11, 4)
    + number(17, 86400) + number(18, 1795234569000)
    + text(21, text(1, number(1, 7215545057280001) + text(2, "handed") + number(3, 1795234568123) + text(4, "app"))
           + text(1, number(1, 7215545057280002) + text(2, "action(snooze)") + number(3, 1795234568124)
                  + text(4, "desktop") + text(5, "second button"))
           # Only a server sees this one, and the next is no state at all.
           + text(1, number(1, 7215545057280003) + text(2, "acked") + number(3, 1) + text(4, "agent"))
           + text(1, number(1, 7215545057280004) + text(2, "seen") + number(3, 1) + text(4, "agent"))),
)
LONG = packet(8, text(5, "x") + text(21, b"y" * 9000))
CHECKIN_REQUEST = number(2, 4242) + text(4, number(12, 3)) + fixed64(13, 9876543210987654321) + number(14, 3)
CHECKIN_RESPONSE = number(1, 1) + number(3, 1795234567890) + fixed64(7, 4242) + fixed64(8, 9876543210987654321)

FILES = {
    "login": LOGIN,
    "login-response": LOGIN_RESPONSE,
    "login-error": LOGIN_ERROR,
    "ping": PING,
    "ping-with-last": PING_WITH_LAST,
    "heartbeat-ack": HEARTBEAT_ACK,
    "close": CLOSE,
    "stream-ack": STREAM_ACK,
    "selective-ack": SELECTIVE_ACK,
    "stream-error": STREAM_ERROR,
    "notification": NOTIFICATION,
    "receipts": RECEIPTS,
    "long": LONG,
    "session": bytes([41]) + LOGIN + PING + STREAM_ACK + LONG + SELECTIVE_ACK + RECEIPTS + CLOSE,
    "checkin-request": CHECKIN_REQUEST,
    "checkin-response": CHECKIN_RESPONSE,
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, data in FILES.items():
        (FOLDER / f"{name}.bin").write_bytes(data)
