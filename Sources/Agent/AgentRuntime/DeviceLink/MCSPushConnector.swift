import AgentEngine
import DeviceChannel
import Logging
import NIOCore
import Networking
import PushCore

/// The device channel over MCS and TLS.
package struct MCSPushConnector: PushConnector {
    private let client: MCSClient
    private let logger: Logger

    /// Connects to nothing yet.
    ///
    /// - Parameters:
    ///   - certificateAuthorityFile: A PEM file of the authorities that may sign the server's certificate; `nil` trusts
    ///     the system's.
    ///   - group: Has the connection's event loop.
    /// - Throws: when the authorities' file cannot be read.
    package init(
        host: String, port: Int, certificateAuthorityFile: String?, group: any EventLoopGroup, logger: Logger
    ) throws {
        let target = MCSClientTarget(
            host: host, port: port, trust: certificateAuthorityFile.map { .certificateFile($0) } ?? .system)
        client = try MCSClient(target, group: group)
        self.logger = logger
    }

    /// Connects over TLS and logs in; the server's 401 is ``PushCloseReason/loginRefused``, everything else
    /// ``PushCloseReason/lost(_:)``.
    package func connect(
        _ identity: DeviceIdentity, received: [NotificationID], events: @escaping @Sendable (PushEvent) -> Void
    ) -> any PushConnection {
        let credentials = MCSCredentials(device: identity.device, secret: identity.secret, received: received)
        return MCSPushConnection(
            connection: client.connect(credentials, delegate: MCSPushDelegate(events: events, logger: logger)))
    }
}

private struct MCSPushConnection: PushConnection {
    let connection: MCSClientConnection

    func acknowledge(_ ids: [NotificationID]) { connection.acknowledge(ids) }
    func report(_ receipts: [Receipt], as batch: String) { connection.send(receipts, persistentID: batch) }
    func send(_ message: QueuedUpstream) {
        connection.send(persistentID: message.persistentID) { now in MCSDataMessageStanza(message, now: now) }
    }
    func relay(_ frame: [UInt8]) { connection.relay(frame) }
    func probe() { connection.probe() }
    func close() { connection.close() }
}

/// Converts the connection's calls to events.
final class MCSPushDelegate: MCSClientDelegate {
    private let events: @Sendable (PushEvent) -> Void
    private let logger: Logger

    init(events: @escaping @Sendable (PushEvent) -> Void, logger: Logger) {
        self.events = events
        self.logger = logger
    }

    func loggedIn(_ connection: MCSClientConnection, serverTime: Timestamp) { events(.loggedIn) }

    func received(_ connection: MCSClientConnection, _ notifications: [OutgoingNotification]) {
        events(.arrived(notifications))
    }

    func confirmed(_ connection: MCSClientConnection, _ ids: [NotificationID]) { events(.confirmed(ids)) }

    func relayed(_ connection: MCSClientConnection, _ frame: [UInt8]) { events(.relayed(frame)) }

    func upstreamConfirmed(_ connection: MCSClientConnection, _ persistentIDs: [String]) {
        events(.reportConfirmed(persistentIDs))
    }

    /// Logs a refusal. A refused message is confirmed too, and so never sent again: only the log has the reason.
    func upstreamRefused(_ connection: MCSClientConnection, persistentID: String, _ refusal: UpstreamRejection) {
        if persistentID.hasPrefix(QueuedUpstream.persistentPrefix) {
            return events(.refused(persistentID, code: "\(refusal.code) \(refusal.reason)"))
        }
        logger.warning(
            "The server refused a report for good; it is not sent again.",
            metadata: [LogKey.error: "\(refusal.code) \(refusal.reason)"])
    }

    /// Does nothing: the connection accepts all batches that are ever sent at once, so it has ended. The next
    /// connection sends them again.
    func upstreamNotSent(_ connection: MCSClientConnection, persistentID: String) {}

    func didDropStanza(_ connection: MCSClientConnection, persistentID: String, reason: String) {
        logger.warning("The server sent something that is no notification.", metadata: [LogKey.error: "\(reason)"])
    }

    func closed(_ connection: MCSClientConnection, _ reason: MCSClientCloseReason) {
        switch reason {
        case .loginRefused(code: 401, _): events(.closed(.loginRefused))
        case .busy(let retryAfter): events(.closed(.busy(retryAfter)))
        default: events(.closed(.lost(reason.words)))
        }
    }
}
