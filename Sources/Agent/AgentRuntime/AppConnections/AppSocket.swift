import AgentEngine
import AgentProtocol
import CLinux
import Foundation
import NIOCore
import NIOPosix
import Platform
import Synchronization

/// Receives the events of the apps' connections. Called on the network's event loops; must not block.
package protocol AppSocketDelegate: AnyObject, Sendable {
    /// Receives the messages of one read, in order. Nothing more is read until ``AppConnection/resume()``.
    func received(_ messages: [AppMessage], from connection: AppConnection)
    /// The connection is over, at either end; called once, and nothing comes from it afterwards.
    func closed(_ connection: AppConnection)
}

/// A connection of an app. May be used on any thread; calls after its end have no effect.
package final class AppConnection: Sendable {
    private static let lastNumber = Atomic(0)

    /// The connection as the engine knows it.
    package let id: AppConnectionID
    /// The process at the other end, as the kernel reported it when the connection was accepted.
    package let peer: Peer
    private let channel: any Channel

    /// Creates a connection over a channel whose pipeline encodes messages.
    package init(peer: Peer, channel: any Channel) {
        id = AppConnectionID(
            number: Self.lastNumber.add(1, ordering: .relaxed).newValue, process: peer.process)
        self.peer = peer
        self.channel = channel
    }

    /// Writes messages in order and together. What an app does not read stays in the channel, from which nothing is
    /// read meanwhile.
    package func send(_ messages: [AgentMessage]) {
        guard !messages.isEmpty else { return }
        channel.writeAndFlush(messages, promise: nil)
    }

    /// Sends a last message and closes.
    package func refuse(code: String, message: String) {
        let last = [AgentMessage.refused(version: AgentFrame.version, code: code, message: message)]
        channel.writeAndFlush(last).whenComplete { [channel] _ in
            channel.close(promise: nil)
        }
    }

    /// Reads on, once the app has taken what was sent to it.
    package func resume() { channel.triggerUserOutboundEvent(AppConnectionHandler.Resume(), promise: nil) }

    /// Ends it; what is written and not sent yet may be lost.
    package func close() { channel.close(promise: nil) }
}

/// The Unix socket where apps find the agent.
package struct AppSocket: Sendable {
    /// The most connections. Further ones are closed at once, unless a silent one can be closed for them.
    static let connectionLimit = 256

    /// The socket's path.
    package let path: String
    private let channel: any Channel

    private init(path: String, channel: any Channel) {
        self.path = path
        self.channel = channel
    }

    /// Listens; the folder is made 0700 where it is missing, the socket is 0600.
    ///
    /// - Parameter program: The file that a process runs.
    /// - Throws: ``AgentStartError`` when the path is too long or another agent answers there.
    package static func listen(
        path: String, group: any EventLoopGroup, delegate: any AppSocketDelegate,
        program: @escaping @Sendable (pid_t) -> String? = PeerCheck.program(of:)
    ) async throws -> AppSocket {
        guard path.utf8.count <= UnixAddress.longestPath else { throw AgentStartError.socketPathTooLong(path: path) }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        do {
            try PrivateFolder.prepare(folder, shut: false)
        } catch {
            throw AgentStartError(error)
        }
        if FileManager.default.fileExists(atPath: path) {
            if await answers(path: path, group: group) { throw AgentStartError.socketInUse(path: path) }
            unlink(path)
        }
        let visitors = AppConnectionLimiter(limit: connectionLimit)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 64)
            .childChannelOption(.autoRead, value: false)
            .childChannelOption(.maxMessagesPerRead, value: 4)
            .childChannelInitializer { channel in
                peer(of: channel, program).flatMapThrowing { peer in
                    guard visitors.enter(channel) else { throw ChannelError.operationUnsupported }
                    channel.closeFuture.whenComplete { _ in visitors.leave(channel) }
                    try channel.pipeline.syncOperations.addHandler(
                        AppConnectionHandler(
                            connection: AppConnection(peer: peer, channel: channel), delegate: delegate,
                            markActive: { visitors.markActive(channel) }))
                }
            }
        let channel = try await bootstrap.bind(unixDomainSocketPath: path).get()
        chmod(path, 0o600)
        return AppSocket(path: path, channel: channel)
    }

    /// Takes no more connections and removes the socket's file; those that are open stay.
    package func close() async {
        try? await channel.close()
        unlink(path)
    }

    private static func answers(path: String, group: any EventLoopGroup) async -> Bool {
        guard let probe = try? await ClientBootstrap(group: group).connect(unixDomainSocketPath: path).get() else {
            return false
        }
        try? await probe.close()
        return true
    }

    private static func peer(
        of channel: any Channel, _ program: @escaping @Sendable (pid_t) -> String?
    ) -> EventLoopFuture<Peer> {
        guard let socket = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeFailedFuture(ChannelError.operationUnsupported)
        }
        let credentials: EventLoopFuture<aldaba_peer> = socket.unsafeGetSocketOption(
            level: .socket, name: .init(rawValue: aldaba_peer_credentials_option))
        return credentials.map { Peer(process: $0.pid, user: $0.uid, program: program($0.pid)) }
    }
}
