// An extension that only shows pictures imports this module alone.
@_exported import UserNotifications

@_exported import struct AgentProtocol.MediaFailure
