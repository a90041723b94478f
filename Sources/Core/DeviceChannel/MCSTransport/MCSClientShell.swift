import NIOCore
import NIOSSL
import Networking
import PushCore

/// Executes the directives of a device's session, on its event loop.
final class MCSClientShell: MCSChannelDelegate {
    private var session: MCSClientSession
    private let credentials: MCSCredentials
    private let host: String
    private let connection: MCSClientConnection
    private var delegate: (any MCSClientDelegate)?
    private var channel: MCSChannelHandler<MCSClientShell>?
    /// Directives that are still to be executed. A delegate may call the connection while it is called; the resulting
    /// directives are appended.
    private var directives: [MCSClientDirective] = []
    private var isPerforming = false

    init(
        credentials: MCSCredentials, host: String, configuration: MCSClientConfiguration,
        connection: MCSClientConnection,
        delegate: any MCSClientDelegate
    ) {
        self.credentials = credentials
        self.host = host
        self.connection = connection
        self.delegate = delegate
        session = MCSClientSession(configuration: configuration, at: .now())
    }

    // MARK: From the connection

    func acknowledge(_ ids: [NotificationID]) {
        perform(session.acknowledge(ids))
        channel?.settle()
    }

    func send(_ receipts: [Receipt], persistentID: String) {
        send(
            try? MCSDataMessageStanza(
                receipts: receipts, persistentID: persistentID, now: SessionTime.now().wall),
            persistentID: persistentID)
    }

    func send(_ stanza: MCSDataMessageStanza?, persistentID: String) {
        if let stanza, let sent = session.send(stanza) {
            perform(sent)
            channel?.settle()
        } else {
            delegate?.upstreamNotSent(connection, persistentID: persistentID)
        }
    }

    func relay(_ frame: [UInt8]) {
        guard let sent = session.relay(frame) else { return }
        perform(sent)
        channel?.settle()
    }

    func probe() {
        perform(session.probe(at: .now()))
        channel?.settle()
    }

    func end() {
        perform(session.end())
    }

    func connectFailed(_ error: any Error) {
        perform(session.failed(reason(of: error)))
    }

    func rejected(retryAfter: Int64) {
        perform(session.failed(.busy(retryAfter: retryAfter)))
    }

    // MARK: From the channel

    var maximumSize: Int { MCSFrame.defaultMaximumSize }
    var wantsRead: Bool { session.wantsRead }
    var deadline: Int64? { session.deadline }

    func opened(_ channel: MCSChannelHandler<MCSClientShell>) {
        guard !session.isClosed else { return channel.close() }
        self.channel = channel
        perform(session.start(credentials))
    }

    func received(version: UInt8) {
        perform(session.received(version: version))
    }

    func received(_ packet: MCSPacket) {
        perform(session.received(packet, at: .now()))
    }

    func readCompleted() {
        perform(session.readCompleted())
    }

    func writabilityChanged(_ isWritable: Bool) {}

    func tick() {
        perform(session.tick(at: .now()))
    }

    func malformed(_ error: MCSFrameError) {
        perform(session.failed(.malformed(error)))
    }

    func closed(_ error: (any Error)?) {
        channel = nil
        perform(session.failed(error.map(reason) ?? .disconnected("it closed the connection")))
    }

    // MARK: Directives

    private func perform(_ more: [MCSClientDirective]) {
        guard !more.isEmpty else { return }
        directives += more
        guard !isPerforming else { return }
        isPerforming = true
        defer { isPerforming = false }
        var next = 0
        while next < directives.count {
            let directive = directives[next]
            next += 1
            perform(directive)
        }
        directives = []
    }

    private func perform(_ directive: MCSClientDirective) {
        switch directive {
        case .sendVersion(let version): channel?.send(version: version)
        case .send(let packet): channel?.send(packet)
        case .loggedIn(let serverTime): delegate?.loggedIn(connection, serverTime: serverTime)
        case .store(let notifications): delegate?.received(connection, notifications)
        case .passedOver(let persistentID, let reason):
            delegate?.didDropStanza(connection, persistentID: persistentID, reason: reason)
        case .relayed(let frame): delegate?.relayed(connection, frame)
        case .confirmed(let ids): delegate?.confirmed(connection, ids)
        case .upstreamRefused(let persistentID, let refusal):
            delegate?.upstreamRefused(connection, persistentID: persistentID, refusal)
        case .upstreamConfirmed(let ids): delegate?.upstreamConfirmed(connection, ids)
        case .close(let reason): finish(reason)
        }
    }

    private func finish(_ reason: MCSClientCloseReason) {
        guard let delegate else { return }
        self.delegate = nil
        channel?.close()
        channel = nil
        connection.detach()
        delegate.closed(connection, reason)
    }

    private func reason(of error: any Error) -> MCSClientCloseReason {
        let words = ConnectionFault.words(error, host: host)
        switch error {
        // A disconnection during the handshake is no evidence about trust: a busy server disconnects too.
        case NIOSSLError.handshakeFailed(.sslError([.eofDuringHandshake])): return .disconnected(words)
        case NIOSSLError.handshakeFailed, is NIOSSLExtraError: return .untrusted(words)
        default: return .disconnected(words)
        }
    }
}
