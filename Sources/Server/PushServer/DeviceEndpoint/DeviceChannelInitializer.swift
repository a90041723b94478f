import DeviceChannel
import NIOCore
import NIOSSL
import Networking

/// Adds the handlers of new connections of the device endpoint: first those that find out the protocol, then those of the protocol.
struct DeviceChannelInitializer: Sendable {
    /// Returns the server's certificate and key, for each connection anew.
    let tls: @Sendable () -> NIOSSLContext
    let surroundings: DeviceConnectionContext
    /// The endpoint of browsers; `nil` where only MCS is spoken.
    let browsers: BrowserEndpoint?

    /// Adds the first handlers of a new connection; throws, which closes it, when it is not admitted.
    func admit(_ channel: any Channel) throws {
        guard surroundings.limiter.admit(channel) else { throw ChannelError.operationUnsupported }
        if let pause = surroundings.logins.reject(at: SessionTime.now().uptime) {
            surroundings.limiter.rejected()
            return try channel.pipeline.syncOperations.addHandler(RejectBeforeTLSHandler(retryAfter: pause))
        }
        try channel.pipeline.syncOperations.addHandler(
            HandshakeCountHandler(surroundings.logins, sentAway: surroundings.limiter.rejected))
        guard let browsers else {
            try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls()))
            return try addMCS(to: channel)
        }
        let silent = SilentConnection(channel)
        guard surroundings.registry.add(silent) else { throw ChannelError.operationUnsupported }
        channel.closeFuture.whenComplete { [registry = surroundings.registry] _ in registry.remove(silent) }
        // Without TLS only what does not leave the machine, or a proxy that has ended TLS, may speak.
        guard browsers.configuration.isTrusted(channel.remoteAddress) else {
            return try addTLS(to: channel, silent, browsers)
        }
        let first = FirstByteHandler(logger: surroundings.logger) { isHTTP, channel in
            if isHTTP {
                try browsers.addHandlers(to: channel, isSecured: false) { surroundings.registry.remove(silent) }
            } else {
                try addTLS(to: channel, silent, browsers)
            }
        }
        try channel.pipeline.syncOperations.addHandler(first)
    }

    /// Adds TLS, and after it the choice of the protocol.
    private func addTLS(to channel: any Channel, _ silent: SilentConnection, _ browsers: BrowserEndpoint) throws {
        let choice = FirstByteHandler(logger: surroundings.logger) { isHTTP, channel in
            if isHTTP {
                try browsers.addHandlers(to: channel, isSecured: true) { surroundings.registry.remove(silent) }
            } else {
                try addMCS(to: channel)
                surroundings.registry.remove(silent)
            }
        }
        try channel.pipeline.syncOperations.addHandlers([NIOSSLServerHandler(context: tls()), choice])
    }

    /// Adds the handler of a connection that speaks MCS.
    private func addMCS(to channel: any Channel) throws {
        let port = DeviceConnectionPort(
            calls: surroundings.calls.queue(of: channel.eventLoop), gateway: surroundings.gateway,
            network: surroundings.limiter.address(of: channel).map { "\($0)" })
        guard surroundings.registry.add(port) else { throw ChannelError.operationUnsupported }
        let shell = DeviceConnectionShell(surroundings, port: port)
        port.attach(shell)
        do { try channel.pipeline.syncOperations.addHandler(MCSChannelHandler(peer: shell)) } catch {
            port.detach(nil)
            surroundings.registry.remove(port)
            throw error
        }
    }
}

/// A connection whose protocol is not known yet, or that speaks HTTP: it is closed when the server stops.
private final class SilentConnection: EndpointConnection {
    private let channel: any Channel

    init(_ channel: any Channel) { self.channel = channel }

    func stop() { channel.close(promise: nil) }
}
