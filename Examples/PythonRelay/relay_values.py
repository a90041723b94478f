"""Messages between devices as Python's own values: those of the package `aldaba`, of this repository or installed."""

import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent.parent.parent / "Packaging/python/src"
if PACKAGE.is_dir():
    sys.path.insert(0, str(PACKAGE))

from aldaba._relay_values import (  # noqa: E402
    DEFAULT_LIMIT, FRAME_DEPTH, FRAME_LIMIT, FRAME_VALUES, LARGEST_LIMIT, FarDate, MessageFault, decode, encode)

__all__ = [
    "DEFAULT_LIMIT", "FRAME_DEPTH", "FRAME_LIMIT", "FRAME_VALUES", "LARGEST_LIMIT", "FarDate", "MessageFault", "decode",
    "encode"]
