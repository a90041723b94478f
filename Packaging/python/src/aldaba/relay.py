"""Relaying to a person's other devices: their apps are found and asked, and ask the services of this app.

    from aldaba.relay import Relay

    with Relay("com.example.tea", secret=secret) as relay:
        for device in relay.devices():
            print(device.name, [app.id for app in device.apps])

`Relay` is for scripts and threads, `AsyncRelay` for asyncio.
"""

from aldaba._agent_values import AgentError
from aldaba._relay_async import AsyncConnection, AsyncRelay
from aldaba._relay_documents import AsyncDocuments, Document, DocumentChange, DocumentEntry, Documents
from aldaba._relay_stream_async import AsyncIncomingStream, AsyncOutgoingStream, AsyncStreams
from aldaba._relay_stream_sync import IncomingStream, OutgoingStream, Streams
from aldaba._relay_streams import StreamEnd, StreamError
from aldaba._relay_sync import Connection, Relay
from aldaba._relay_types import (
    Access, App, Change, ChangeKind, CloseReason, CommandState, Device, DeviceFilter, Launch, Life, Presence, Question,
    RelayError, ServiceFailure, Status)
from aldaba._relay_values import FarDate, Message, MessageFault

__all__ = [
    "Access", "AgentError", "App", "AsyncConnection", "AsyncDocuments", "AsyncIncomingStream", "AsyncOutgoingStream",
    "AsyncRelay", "AsyncStreams", "Change", "ChangeKind", "CloseReason", "CommandState", "Connection", "Device",
    "DeviceFilter", "Document", "DocumentChange", "DocumentEntry", "Documents", "FarDate", "IncomingStream", "Launch",
    "Life", "Message", "MessageFault", "OutgoingStream", "Presence", "Question", "Relay", "RelayError",
    "ServiceFailure", "Status", "StreamEnd", "StreamError", "Streams"]
