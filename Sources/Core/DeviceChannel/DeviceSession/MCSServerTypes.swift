import PushCore

/// The contents of a device's login request.
package struct MCSLogin: Hashable, Sendable {
    /// The device's id, as claimed in the login.
    package var device: DeviceID
    /// The device's secret, not checked yet; never logged.
    @Secret package var secret: UInt64
    /// The notifications that the device already has; names that are no notification's id are left out.
    package var received: [NotificationID]

    /// Takes the values of the login unchecked.
    package init(device: DeviceID, secret: UInt64, received: [NotificationID]) {
        self.device = device
        self.secret = secret
        self.received = received
    }
}

/// The verdict on a login.
package enum MCSLoginAnswer: Hashable, Sendable {
    /// The device is known and its secret is right.
    case welcome
    /// Unknown device or wrong secret.
    case refused
    /// The device is kept out for now; it is not to enrol anew.
    case blocked
    /// The login could not be checked; the device is to come again.
    case unavailable
    /// Too many log in now; the device is to come again after so many milliseconds.
    case busy(retryAfter: Int64)
}

/// Why a server's session ended. A closed set, fit for a metric's label.
package enum MCSServerCloseReason: String, Sendable, CaseIterable {
    /// The device sent Close or closed the connection.
    case peer
    /// The device speaks a version of MCS that is not supported.
    case unsupportedVersion = "unsupported_version"
    /// Bytes that are no packets.
    case malformed
    /// Another packet came before the login.
    case notLoggedIn = "not_logged_in"
    /// A packet that has no place where it came: a second login, an acknowledgement of what was never sent.
    case protocolViolation = "protocol_violation"
    /// The login was refused: unknown device or wrong secret.
    case refused
    /// The login could not be checked; the device is to come again.
    case unavailable
    /// The device is kept out for now.
    case blocked
    /// Too many logged in at that time.
    case busy
    /// The connection was not logged in within ``MCSServerConfiguration/loginTimeout``.
    case loginTimeout = "login_timeout"
    /// The device answered no heartbeat.
    case silent
    /// A newer session of the same device was opened.
    case superseded
    /// The device may not log in any more.
    case revoked
    /// The store could not read or record; the device is to come again.
    case storeFailed = "store_failed"
    /// The server stops.
    case stopping
}

/// An action for the owner of a server's session to carry out, in the order of the list.
package enum MCSServerDirective: Hashable, Sendable {
    /// Write the version byte, before the first packet.
    case sendVersion(UInt8)
    /// Write a packet.
    case send(MCSPacket)
    /// Send the packet that carries this notification, made at a moment; see
    /// `OutgoingNotification.encodePacket(into:lastStreamID:now:maximumSize:)`.
    case deliver(OutgoingNotification, lastStreamID: Int32, now: Timestamp)
    /// Check the login, then call ``MCSServerSession/loginAnswered(_:upstream:at:)``.
    case authenticate(MCSLogin)
    /// The session is live: begin to deliver.
    case began
    /// The device has stored these: delete them durably, then call ``MCSServerSession/recorded(stream:durable:at:)``.
    case acknowledged(stream: Int32, [NotificationID])
    /// The device has acknowledged these attempts. They wait nowhere, so nothing has to be made durable.
    case attemptsAcknowledged([NotificationID])
    /// Have the message taken, then call ``MCSServerSession/recorded(stream:durable:at:)``, or
    /// ``MCSServerSession/refused(stream:persistentID:_:of:)`` when it has no receiver. Nothing is confirmed before.
    case upstream(stream: Int32, UpstreamMessage)
    /// Flush what was sent, then close the connection; nothing follows.
    case close(MCSServerCloseReason)
}

/// The limits and times of a server's session; times in milliseconds.
package struct MCSServerConfiguration: Hashable, Sendable {
    /// How long a connection may take until it is logged in.
    package var loginTimeout: Int64 = 30_000
    /// The interval at which an otherwise silent device is to send a heartbeat. The server sends its own when a quarter
    /// more than that has passed in silence.
    package var heartbeatInterval: Int64 = 240_000
    /// How long a heartbeat of the server's may stay unanswered.
    package var answerTimeout: Int64 = 60_000
    /// The silence after which a device that relays is probed, so that others soon learn that it is gone.
    package var relayHeartbeatInterval: Int64 = 30_000
    /// How long it may leave that unanswered: it is gone after two and a half intervals.
    package var relayAnswerTimeout: Int64 = 45_000
    /// The shortest interval at which a device can ask to be sent heartbeats.
    package var shortestHeartbeatInterval: Int64 = 10_000
    /// How long the confirmation of acknowledgements may wait for a packet that carries it. The device needs it only to
    /// forget which ids it received; a packet of its own for each would wake the device and cost more than the
    /// notification.
    package var confirmationDelay: Int64 = 10_000
    /// How many received packets may be unconfirmed before a confirmation is sent at once.
    package var unconfirmedLimit: Int32 = 32
    /// How many notifications may be unacknowledged before no more are sent.
    package var windowLimit = 4096
    /// How many acknowledgements and upstream messages may wait to become durable before the connection is not
    /// read any more.
    package var pendingLimit = 64
    /// How many upstream messages may wait among them.
    package var pendingUpstreamLimit = 4
    /// How many packets may follow a login before its answer.
    package var earlyPacketLimit = 64

    /// The defaults, as documented at each property.
    package init() {}
}
