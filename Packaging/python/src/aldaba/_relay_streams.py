"""Streams of bytes between two apps: both ends, without input and output."""

from __future__ import annotations

import enum
import hashlib
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aldaba import _relay_requests as requests
from aldaba._agent_codec import read
from aldaba._relay_requests import Notice, Order
from aldaba._relay_types import RelayError, Status
from aldaba._relay_values import Message

if TYPE_CHECKING:
    from aldaba._relay_session import RelaySession

PIECE = 64 << 10
# How far a receiver asks ahead; the agent allows twice as much.
WINDOW = 4 << 20
# With so many bytes unwritten a sender waits: the agent reads slower than the app gives.
UNWRITTEN_LIMIT = 256 << 10
# As many as the agent has of one device.
INCOMING_LIMIT = 16
NOT_KEPT = "the app did not keep the stream"

Say = Callable[[Message], object]


class StreamEnd(str, enum.Enum):
    """Why a stream did not come whole."""

    # The other device, its app, or the route to it was lost, or the sender has taken it back.
    LOST = "lost"
    # The bytes that came are not those that were sent.
    DIGEST_MISMATCH = "digestMismatch"
    # It was read, refused or cancelled here before.
    ENDED_BEFORE = "endedBefore"


class StreamError(Exception):
    """A stream that did not come whole; the bytes read by then are not all. `reason` says why."""

    def __init__(self, reason: StreamEnd) -> None:
        super().__init__(reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"the stream did not come whole ({self.reason.value})"


@dataclass(frozen=True)
class Turn:
    """The receiver goes on at another place than the sender: it has the bytes before it, of this digest."""

    offset: int
    length: int
    prefix: bytes


class Giving:
    """The sending end. It is the waiter of the command that offers the stream."""

    def __init__(self, id: uuid.UUID, size: int) -> None:
        self.id, self.size = id, size
        # The offset up to which bytes were given, and that up to which they were asked for.
        self.given = self._asked = 0
        self._turn: Turn | None = None
        self._is_begun = self._is_whole = self._is_over = False
        # Whether the receiver has as many bytes, so that their digest alone is given.
        self._is_compared = False
        self._error: BaseException | None = None
        self._digest = hashlib.sha256()
        self._say: Say = lambda message: None
        self._unwritten: Callable[[], int] = lambda: 0

    def done(self) -> bool:
        return self._is_over

    def set_result(self, result: object, /) -> None:
        self._is_over = True

    def set_exception(self, exception: Any, /) -> None:
        self._is_over, self._error = True, exception

    def _pulled(self, offset: int, length: int, prefix: bytes) -> None:
        if not 0 <= offset <= self.size or length < 0:
            return
        self._is_begun = True
        if offset == self._asked:
            self._asked = min(self.size, offset + length)
        else:
            self._turn = Turn(offset, length, prefix)

    def _ready(self) -> Giving | None:
        """Itself once there is something to do."""
        may_give = self.given < self._asked and self._unwritten() < UNWRITTEN_LIMIT
        is_due = self._is_begun and self.given == self.size and not self._is_whole
        return self if self._is_over or self._turn is not None or may_give or is_due else None

    def _check(self) -> bool:
        """Whether it has ended. Raises the failure, if it has failed."""
        if self._error is not None:
            raise self._error
        return self._is_over

    def _begin(self, turn: Turn, start: int, digest: Any) -> None:
        """Goes on where the receiver is, or from 0 on where it has something else."""
        if self._turn is turn:
            self._turn, self.given, self._digest = None, start, digest
            self._asked, self._is_whole = min(self.size, start + turn.length), False

    def _begin_forward(self) -> None:
        """The same for bytes that are written once, and cannot be read again."""
        turn = self._turn
        if turn is None:
            return
        if self.given > 0 or self._is_compared:
            raise RelayError(Status.FAILED, "the receiver had other bytes of this size; `streams.send` goes on then")
        self._begin(turn, 0, hashlib.sha256())
        self._is_compared = turn.offset == self.size
        if self._is_compared:
            self._asked = self.size

    def _give(self, data: bytes | memoryview) -> int:
        """Gives as much as is asked for, and a piece at most. Returns how much."""
        if self._turn is not None or self._is_over:
            return 0
        piece = bytes(data[:min(PIECE, self._asked - self.given)])
        if piece:
            self._digest.update(piece)
            if not self._is_compared:
                self._step(step="piece", offset=self.given, bytes=piece)
            self.given += len(piece)
        if self._is_begun and self.given == self.size and not self._is_whole:
            self._is_whole = True
            self._step(step="allGiven", digest=self._digest.digest())
        return len(piece)

    def _step(self, **step: Any) -> None:
        self._say({"type": "stream", "stream": self.id, **step})


class Taking:
    """The receiving end: asks for so much that never more than the window waits to be read."""

    def __init__(self, say: Say, id: uuid.UUID, device: str, service: str, name: str, size: int) -> None:
        self.id, self.device, self.service, self.size = id, device, service, size
        # The name that the sender has given it; no path.
        self.name = name
        self._say = say
        self._waiting: deque[bytes] = deque()
        self._came = self._read = self._asked = 0
        self._is_begun = self._is_whole = self._is_over = False
        self._error: StreamError | None = None
        self._digest = hashlib.sha256()

    def _begin(self) -> None:
        if self._is_begun or self._is_over:
            raise self._error or StreamError(StreamEnd.ENDED_BEFORE)
        self._is_begun = True
        self._ask()

    def _ask(self) -> None:
        end = min(self.size, self._read + WINDOW)
        length = end - self._asked
        is_first = self._read == 0 and self._asked == 0
        # Not for every piece, and at once for the last.
        if not self._is_over and (is_first or length > 0 and (length >= WINDOW // 4 or end == self.size)):
            self._step(step="pull", offset=self._asked, length=length, prefix=b"")
            self._asked = end

    def _next(self) -> tuple[bytes, ...] | None:
        """The next bytes, nothing at the end, `None` where they have not come. Raises `StreamError`."""
        if self._waiting:
            piece = self._waiting.popleft()
            self._read += len(piece)
            self._ask()
            return (piece,)
        if self._error is not None:
            raise self._error
        if not self._is_whole:
            return None
        self._end(StreamEnd.ENDED_BEFORE, Status.SUCCESS)
        return ()

    def _piece(self, offset: int, piece: bytes) -> None:
        if not self._is_over and offset == self._came and self._came + len(piece) <= self._asked:
            self._digest.update(piece)
            self._came += len(piece)
            self._waiting.append(piece)

    def _all_given(self, digest: bytes) -> None:
        if not self._is_begun or self._came != self.size:
            return
        if digest == self._digest.digest():
            self._is_whole = True
        else:
            # The agent tells an empty digest where what passed it has another one.
            self._end(StreamEnd.DIGEST_MISMATCH, Status.FAILED, "what came is not what was sent")

    def _end(self, reason: StreamEnd, status: Status | None = None, detail: str | None = None) -> None:
        """Ends it, and tells the sender how. A second end does nothing."""
        if not self._is_over:
            self._is_over, self._error = True, StreamError(reason)
            if status is not None:
                self._step(step="taken", outcome=requests.failure(0, status, detail)["outcome"])

    def _leave(self, status: Status = Status.FAILED, detail: str = NOT_KEPT) -> None:
        """The app reads no further."""
        self._waiting.clear()
        self._end(StreamEnd.ENDED_BEFORE, status, detail)

    def _step(self, **step: Any) -> None:
        self._say({"type": "stream", "stream": self.id, **step})


class StreamTable:
    """The streams of a client that are under way."""

    def __init__(self, session: RelaySession) -> None:
        self._session = session
        # Set by the shell: makes a receiving end, and tells those who wait that bytes were written.
        self.make: Callable[..., Taking] = Taking
        self.when_written: Callable[[], None] = lambda: None
        self.outgoing: dict[uuid.UUID, Giving] = {}
        self._incoming: dict[uuid.UUID, Taking] = {}

    def begin(self, order: Order[None], stream: Giving) -> int:
        """Offers a stream to another device. Returns the number of its command, for `end`."""
        number = self._session.order(order, stream)
        self.outgoing[stream.id] = stream
        stream._say, stream._unwritten = self._session.say_step, lambda: self._session.unwritten
        return number

    def end(self, stream: Giving, number: int) -> None:
        """A stream to another device has ended, or is taken back."""
        self._session.forget(number)
        self.outgoing.pop(stream.id, None)
        if not stream.done():
            stream.set_exception(RelayError(Status.CANCELLED, "the stream was taken back"))

    def offered(self, notice: Notice) -> Taking | None:
        """Another device offers a stream. None where there are as many as may be."""
        id = read(uuid.UUID, notice.get("stream"), "stream")
        device, service, name = (read(str, notice.get(key, ""), key) for key in ("device", "service", "name"))
        stream = self.make(self._session.say_step, id, device, service, name, read(int, notice.get("size"), "size"))
        self._incoming = {id: each for id, each in self._incoming.items() if not each._is_over}
        if len(self._incoming) >= INCOMING_LIMIT:
            stream._leave(Status.RESOURCE_LIMITS, f"{INCOMING_LIMIT} streams come to this app already")
            return None
        self._incoming[id] = stream
        return stream

    def stepped(self, notice: Notice) -> None:
        """The other end of a stream, or the agent, says something about it."""
        id, step = read(uuid.UUID, notice.get("stream"), "stream"), notice.get("step")
        giving, taking = self.outgoing.get(id), self._incoming.get(id)
        if giving is not None and step == "pull":
            offset, length = (read(int, notice.get(key), key) for key in ("offset", "length"))
            giving._pulled(offset, length, read(bytes, notice.get("prefix", b""), "prefix"))
        elif taking is not None and step == "piece":
            taking._piece(read(int, notice.get("offset"), "offset"), read(bytes, notice.get("bytes", b""), "bytes"))
        elif taking is not None and step == "allGiven":
            taking._all_given(read(bytes, notice.get("digest", b""), "digest"))
        elif taking is not None and step == "lost":
            taking._end(StreamEnd.LOST)

    def lost(self) -> None:
        """The connection to the agent has ended: no more comes."""
        for stream in self._incoming.values():
            stream._end(StreamEnd.LOST)
        self._incoming.clear()
