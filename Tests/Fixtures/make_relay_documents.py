"""Writes Tests/Fixtures/relay-documents: what devices, the server and apps say to each other about documents, as bytes, and the same among the
seeds of RelayFuzz.

The bytes are made by the Python package's own encoder, and nothing of the Swift code is used.
Run it again after a change: python3 Tests/Fixtures/make_relay_documents.py
"""

import pathlib
import sys
import uuid

ROOT = pathlib.Path(__file__).parent.parent.parent
sys.path.insert(0, str(ROOT / "Examples/PythonRelay"))
from relay_values import encode  # noqa: E402

ID = uuid.UUID(bytes=bytes(range(1, 17)))
KEY = bytes(range(32))


def sealed(**more):
    return {"key": KEY, "revision": 3, "body": b"sealed", **more}


def ask(what, **members):
    return {"type": "documentAsk", "id": ID, "what": what, **members}


def answer(what, **members):
    return {"type": "documentAnswer", "id": ID, "what": what, **members}


def order(what, **members):
    return {"type": "document", "request": 5, "what": what, **members}


MESSAGES = {
    "document-changed": {"type": "documentsChanged"},
    "document-ask-put": ask("put", over=2, **sealed()),
    "document-ask-remove": ask("put", over=2, **sealed(removed=True)),
    "document-ask-get": ask("get", key=KEY),
    "document-ask-list": ask("list", after=7),
    "document-ask-list-former": ask("list", after=0, token=bytes(32)),
    "document-answer-kept": answer("kept", revision=3),
    "document-answer-conflict": answer("conflict", revision=3, removed=True),
    "document-answer-documents": answer(
        "documents", documents=[sealed(number=9), sealed(number=10, removed=True)], all=False, last=12),
    "document-answer-refused": answer("refused", reason="full"),
    "document-order-put": order("put", name="place", content={"page": 7, "where": {"on": True}}, revision=2),
    "document-order-get": order("get", name="añ"),
    "document-order-list": order("list", after=32),
    "document-order-remove": order("remove", name="place"),
    "document-order-watch": order("watch"),
    "document-plain": {"app": "com.example.notes", "name": "place", "content": {"page": 7}},
    "document-plain-removed": {"app": "com.example.notes", "name": "place"},
}

for folder in (ROOT / "Tests/Fixtures/relay-documents", ROOT / "Fuzzing/Seeds/RelayFuzz"):
    folder.mkdir(exist_ok=True)
    for name, message in MESSAGES.items():
        (folder / name).write_bytes(encode(message))
