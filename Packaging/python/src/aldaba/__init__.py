"""APNs and FCM on your own machine: a server for tests, and what it received."""

from aldaba._program import program
from aldaba._received import Entry, NotReceived
from aldaba.client import AldabaError, Namespace, Server

__all__ = ["AldabaError", "Entry", "Namespace", "NotReceived", "Server", "program"]
