import PushCore

/// The credentials with which a device logs in.
package struct MCSCredentials: Hashable, Sendable {
    /// The device's id.
    package var device: DeviceID
    /// The device's secret; never logged.
    @Secret package var secret: UInt64
    /// Every id that is stored and whose acknowledgement the server has not confirmed.
    package var received: [NotificationID]

    /// Takes the values as they are; nothing is checked.
    package init(device: DeviceID, secret: UInt64, received: [NotificationID]) {
        self.device = device
        self.secret = secret
        self.received = received
    }
}

// Neither a log line nor a dump of a value that holds credentials shows the secret.
extension MCSCredentials: CustomStringConvertible, CustomReflectable {
    package var description: String { "device \(device), \(received.count) received" }
    /// The reflection of the credentials: the device and the received ids, without the secret.
    package var customMirror: Mirror { Mirror(self, children: ["device": device, "received": received]) }
}

/// Why a device's session ended.
package enum MCSClientCloseReason: Hashable, Sendable {
    /// The connection could not be made, or broke; the text describes the cause.
    case disconnected(String)
    /// The server's certificate was not accepted, or it has no TLS; the text describes the cause.
    case untrusted(String)
    /// The server answered the login with an error: 401 unknown device or wrong secret, 503 try again later.
    case loginRefused(code: Int32, message: String)
    /// Too many devices log in: this one is to come again after so many milliseconds.
    case busy(retryAfter: Int64)
    /// The login was not answered within ``MCSClientConfiguration/loginTimeout``.
    case loginTimedOut
    /// The server speaks this version of MCS, which is not supported.
    case unsupportedVersion(UInt8)
    /// Bytes that are no packets.
    case malformed(MCSFrameError)
    /// A packet that is not allowed in the session's state; the text names it.
    case protocolViolation(String)
    /// The server sent Close: it stops, or a newer session of the same device was opened.
    case closedByServer
    /// The server ended the session with a StreamErrorStanza; its type and text, as they came.
    case streamError(type: String, text: String)
    /// The server answered no heartbeat.
    case silent
    /// ``MCSClientSession/end()`` was called.
    case ended

    /// The reason as the end of a sentence that begins with the server's address.
    package var words: String {
        switch self {
        case .disconnected(let words), .untrusted(let words): words
        case .loginRefused(let code, let message): "it refused the login: \(code) \(message)"
        case .busy: "it has too many logins now"
        case .loginTimedOut: "it did not answer the login in time"
        case .unsupportedVersion(let version): "it speaks version \(version) of MCS, which is not supported"
        case .malformed(let error): "it sent bytes that are no packets: \(error)"
        case .protocolViolation(let fault): "it broke the protocol: \(fault)"
        case .closedByServer: "it ended the session"
        case .streamError(let type, let text): "it ended the session: \(type) \(text)"
        case .silent: "it does not answer any more"
        case .ended: "this device ended the session"
        }
    }
}

/// An action for the owner of a device's session to carry out, in the order of the list.
package enum MCSClientDirective: Hashable, Sendable {
    /// Write the version byte, before any packet.
    case sendVersion(UInt8)
    /// Write a packet.
    case send(MCSPacket)
    /// The server took the login; its time of day, by its own clock.
    case loggedIn(serverTime: Timestamp)
    /// Store these in one transaction, then call ``MCSClientSession/acknowledge(_:)`` with their ids. The store drops
    /// those that it has, and those count as stored.
    case store([OutgoingNotification])
    /// A data stanza that is no notification was acknowledged and dropped; the text describes the fault.
    case passedOver(persistentID: String, reason: String)
    /// A relay frame from another device, or from the server.
    case relayed([UInt8])
    /// The server will never send these again: forget that they were received.
    case confirmed([NotificationID])
    /// The server does not take what was sent under this persistent id, and is done with it: it is among those that
    /// ``upstreamConfirmed(_:)`` names next.
    case upstreamRefused(persistentID: String, UpstreamRejection)
    /// The upstream messages of these persistent ids are durable, or were refused. Some may have been sent over an
    /// earlier connection, and an id may occur twice.
    case upstreamConfirmed([String])
    /// Flush what was sent, then close the connection; nothing follows.
    case close(MCSClientCloseReason)
}

/// The limits and times of a device's session; times in milliseconds.
package struct MCSClientConfiguration: Hashable, Sendable {
    /// How long the login may take, from the opening of the connection on.
    package var loginTimeout: Int64 = 30_000
    /// After how much silence a heartbeat is sent. The server's login answer overrides it.
    package var heartbeatInterval: Int64 = 240_000
    /// How long a heartbeat may stay unanswered.
    package var answerTimeout: Int64 = 60_000
    /// How many notifications may wait to be stored before the connection is not read any more.
    package var unstoredLimit = 512
    /// How many acknowledged notifications the server may leave unconfirmed before it counts as broken.
    package var unconfirmedLimit = 100_000
    /// How many received ids a login names; the rest is sent again by the server and dropped. A server reads no
    /// more than 16 KiB before it knows the device.
    package var loginIDLimit = 600
    /// How many upstream stanzas may be unconfirmed.
    package var upstreamLimit = 16

    /// The defaults, as documented at each property.
    package init() {}
}
