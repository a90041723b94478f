"""Documents: small dictionaries under names, which an app shares with itself on the person's other devices."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Generator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aldaba._agent_codec import read, read_fields
from aldaba._relay_requests import KEEPING_SECONDS, Notice, Order, outcome, text
from aldaba._relay_types import RelayError, Status
from aldaba._relay_values import Message, MessageFault, encode

if TYPE_CHECKING:
    from aldaba._relay_async import AsyncRelay
    from aldaba._relay_sync import Relay

NAME_LIMIT = 128
DOCUMENT_LIMIT, DOCUMENT_DEPTH, DOCUMENT_VALUES = 8 << 10, 14, 2048
UNREAD_LIMIT = 1024
# The seconds between two tries to watch again, as long as the server cannot be asked.
PAUSE = 1.0


@dataclass(frozen=True)
class Document:
    """A document; each change raises its revision."""

    name: str
    revision: int
    content: dict[str, Any]


@dataclass(frozen=True)
class DocumentEntry:
    """A document of the list: how many bytes it has, sealed."""

    name: str
    revision: int
    bytes: int


@dataclass(frozen=True)
class DocumentChange:
    """What has become of a document: its `content`, or that it was `removed`, or is `unreadable` on this device.

    `missed` is set alone: changes may have been lost, and whoever needs them all reads the documents again.
    """

    name: str | None = None
    revision: int | None = None
    content: dict[str, Any] | None = None
    removed: bool = False
    unreadable: bool = False
    missed: bool = False


class DocumentWatch:
    """The last change of each document that nobody has read, at most 1,024 of them."""

    def __init__(self) -> None:
        self._waiting: dict[str | None, DocumentChange] = {}
        self._is_lost = self._has_missed = False

    def told(self, change: DocumentChange) -> None:
        """A document has changed."""
        self._waiting.pop(change.name, None)
        self._waiting[change.name] = change
        if len(self._waiting) > UNREAD_LIMIT:
            self._waiting.clear()
            self._has_missed = True

    def lost(self) -> None:
        """The agent tells no more changes."""
        self._is_lost = True

    def back(self) -> None:
        """The agent can be asked again."""
        self._has_missed = self._has_missed or self._is_lost

    def must_ask_again(self) -> bool:
        """Whether the agent is to be asked for changes anew. Tells it once."""
        was_lost, self._is_lost = self._is_lost, False
        return was_lost

    def take(self) -> DocumentChange | None:
        """Removes and returns the change that waits longest."""
        if self._has_missed:
            self._has_missed = False
            return DocumentChange(missed=True)
        return self._waiting.pop(next(iter(self._waiting))) if self._waiting else None


# The requests


def _named(what: str, name: str, revision: int | None = None, **members: object) -> Message:
    if not text("the name of a document", name, NAME_LIMIT):
        raise MessageFault("a document has no name")
    told = {"type": "document", "what": what, "name": name, **members}
    return told if revision is None else told | {"revision": revision}


def _revision(notice: Notice) -> int:
    return read(int, outcome(notice).get("revision"), "revision")


def put(name: str, content: Message, revision: int | None) -> Order[int]:
    encode(content, DOCUMENT_LIMIT, depth=DOCUMENT_DEPTH, values=DOCUMENT_VALUES, whole="the document's content")
    return Order(_named("put", name, revision, content=content), _revision, KEEPING_SECONDS)


def get(name: str) -> Order[Document | None]:
    def found(notice: Notice) -> Document | None:
        try:
            return read(Document, {"name": name, **outcome(notice)}, "document")
        except RelayError as error:
            if error.status is Status.NOT_FOUND:
                return None
            raise

    return Order(_named("get", name), found, KEEPING_SECONDS)


@dataclass(frozen=True)
class _Page:
    documents: tuple[DocumentEntry, ...]
    next: int | None = None


def listed(after: int) -> Order[_Page]:
    def page(notice: Notice) -> _Page:
        return read_fields(_Page, dict(outcome(notice)), "documents")

    return Order({"type": "document", "what": "list", "after": after}, page, KEEPING_SECONDS)


def remove(name: str, revision: int | None) -> Order[int]:
    return Order(_named("remove", name, revision), _revision, KEEPING_SECONDS)


def watch() -> Order[None]:
    def begun(notice: Notice) -> None:
        outcome(notice)

    return Order({"type": "document", "what": "watch"}, begun, KEEPING_SECONDS)


# The clients


class Documents:
    """The documents of an app, for `Relay`. With `revision` a change is refused where that is not the present one.

    Such a refusal is a `RelayError` of the status `CONFLICT`, whose `revision` is; 0 says that there is none.
    """

    def __init__(self, relay: Relay) -> None:
        self._relay = relay

    def put(self, name: str, content: Message, *, revision: int | None = None) -> int:
        """Keeps a content under a name, and returns its revision once the server has stored it."""
        return self._relay._order(put(name, content, revision))

    def get(self, name: str) -> Document | None:
        """The document of a name; `None` where there is none."""
        return self._relay._order(get(name))

    def list(self) -> list[DocumentEntry]:
        """The documents of the app."""
        page = self._relay._order(listed(0))
        found = [*page.documents]
        while page.next is not None:
            page = self._relay._order(listed(page.next))
            found += page.documents
        return found

    def remove(self, name: str, *, revision: int | None = None) -> int:
        """Removes a document, and returns the revision that this is."""
        return self._relay._order(remove(name, revision))

    def changes(self, *, timeout: float | None = None) -> Generator[DocumentChange, None, None]:
        """Tells each change from now on, also by this device.

        Ends when the client is closed, or nothing was told for `timeout` seconds.
        """
        reader = DocumentWatch()
        with self._relay._changed:
            self._relay._session.readers.append(reader)
        try:
            self._relay._order(watch())
            while (change := self._relay._taken(reader.take, timeout)) is not None:
                if change.missed and reader.must_ask_again() and not self._watch_again():
                    break
                yield change
        finally:
            with self._relay._changed:
                self._relay._session.readers.remove(reader)
        self._relay._raise_end()

    def _watch_again(self) -> bool:
        """Whether the agent tells changes again; not where the client was closed meanwhile."""
        while not self._relay._is_closing.is_set() and self._relay._session.closed is None:
            try:
                self._relay._order(watch())
                return True
            except RelayError:
                self._relay._is_closing.wait(PAUSE)
        return False


class AsyncDocuments:
    """The documents of an app, for `AsyncRelay`: as `Documents`, to be awaited."""

    def __init__(self, relay: AsyncRelay) -> None:
        self._relay = relay

    async def put(self, name: str, content: Message, *, revision: int | None = None) -> int:
        """Keeps a content under a name, and returns its revision once the server has stored it."""
        return await self._relay._order(put(name, content, revision))

    async def get(self, name: str) -> Document | None:
        """The document of a name; `None` where there is none."""
        return await self._relay._order(get(name))

    async def list(self) -> list[DocumentEntry]:
        """The documents of the app."""
        page = await self._relay._order(listed(0))
        found = [*page.documents]
        while page.next is not None:
            page = await self._relay._order(listed(page.next))
            found += page.documents
        return found

    async def remove(self, name: str, *, revision: int | None = None) -> int:
        """Removes a document, and returns the revision that this is."""
        return await self._relay._order(remove(name, revision))

    async def changes(self, *, timeout: float | None = None) -> AsyncGenerator[DocumentChange, None]:
        """Tells each change from now on, also by this device. Ends as that of `Documents` does."""
        reader = DocumentWatch()
        self._relay._session.readers.append(reader)
        try:
            await self._relay._order(watch())
            while (change := await self._relay._taken(reader.take, timeout)) is not None:
                if change.missed and reader.must_ask_again() and not await self._watch_again():
                    break
                yield change
        finally:
            self._relay._session.readers.remove(reader)
        self._relay._raise_end()

    async def _watch_again(self) -> bool:
        while not self._relay._is_closing and self._relay._session.closed is None:
            try:
                await self._relay._order(watch())
                return True
            except RelayError:
                await asyncio.sleep(PAUSE)
        return False
