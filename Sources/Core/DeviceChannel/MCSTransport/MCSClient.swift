import NIOCore
import NIOPosix
import NIOSSL
import PushCore

/// The address of a server for devices, and the certificates that are trusted.
package struct MCSClientTarget: Hashable, Sendable {
    /// The trusted certificate authorities.
    package enum Trust: Hashable, Sendable {
        /// The system's certificate authorities.
        case system
        /// The certificate authorities in a PEM file, and no others.
        case certificateFile(String)
    }

    /// A host name or an IP address, which the server's certificate must contain.
    package var host: String
    /// The TCP port of the device endpoint.
    package var port: Int
    /// The certificate authorities that may sign the server's certificate.
    package var trust: Trust

    /// Creates a target; nothing is looked up or connected.
    package init(host: String, port: Int, trust: Trust) {
        self.host = host
        self.port = port
        self.trust = trust
    }
}

/// The reason why a client could not be created.
package enum MCSClientError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The file of certificate authorities cannot be used, for a reason.
    case unusableCertificates(path: String, reason: String)

    package var description: String {
        switch self {
        case .unusableCertificates(let path, let reason):
            "cannot use \(path) as certificate authorities: \(reason); it must be a readable PEM file"
        }
    }
}

/// Makes connections of devices to one server. Thousands may share one client and one event loop group.
package final class MCSClient: Sendable {
    private let target: MCSClientTarget
    private let configuration: MCSClientConfiguration
    private let group: any EventLoopGroup
    private let tls: NIOSSLContext

    /// Reads the trusted certificates once.
    ///
    /// - Throws: ``MCSClientError``.
    package init(
        _ target: MCSClientTarget, configuration: MCSClientConfiguration = MCSClientConfiguration(),
        group: any EventLoopGroup
    ) throws(MCSClientError) {
        self.target = target
        self.configuration = configuration
        self.group = group
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.certificateVerification = .fullVerification
        tls.minimumTLSVersion = .tlsv12
        do {
            if case .certificateFile(let path) = target.trust {
                let roots = try NIOSSLCertificate.fromPEMFile(path)
                tls.trustRoots = .certificates(roots)
            }
            self.tls = try NIOSSLContext(configuration: tls)
        } catch {
            let path = if case .certificateFile(let path) = target.trust { path } else { "the system's certificates" }
            throw .unusableCertificates(path: path, reason: "\(error)")
        }
    }

    /// Makes one attempt to connect and log in. The delegate receives the events; `closed` is called in any case.
    ///
    /// - Parameters:
    ///   - loop: The event loop of the connection, one of the group's; any of them if `nil`.
    ///   - delegate: The delegate, which is retained until `closed` was called.
    package func connect(
        _ credentials: MCSCredentials, on loop: (any EventLoop)? = nil, delegate: any MCSClientDelegate
    ) -> MCSClientConnection {
        let loop = loop ?? group.next()
        let connection = MCSClientConnection(device: credentials.device, eventLoop: loop)
        let (tls, target, configuration) = (self.tls, self.target, self.configuration)
        loop.execute {
            connection.attach(
                MCSClientShell(
                    credentials: credentials, host: target.host, configuration: configuration, connection: connection,
                    delegate: delegate))
            let bootstrap = Self.bootstrap(on: loop, configuration: configuration)
                .channelInitializer { channel in
                    channel.eventLoop.makeCompletedFuture {
                        guard let shell = connection.shell else { throw ChannelError.ioOnClosedChannel }
                        try channel.pipeline.syncOperations.addHandlers([
                            MCSRejectionReader(shell),
                            NIOSSLClientHandler(context: tls, serverHostname: target.serverName),
                            MCSChannelHandler(peer: shell),
                        ])
                    }
                }
            target.connect(bootstrap).whenFailure { error in connection.connectFailed(error) }
        }
        return connection
    }

    private static func bootstrap(
        on loop: any EventLoop, configuration: MCSClientConfiguration
    ) -> ClientBootstrap {
        ClientBootstrap(group: loop)
            .connectTimeout(.milliseconds(min(configuration.loginTimeout, 3_600_000)))
            .channelOption(ChannelOptions.socketOption(.so_keepalive), value: 1)
            .channelOption(ChannelOptions.tcpOption(.tcp_nodelay), value: 1)
            .channelOption(
                ChannelOptions.recvAllocator, value: MCSChannelOptions.receiveAllocator(maximum: 16 * 1024)
            )
            .channelOption(ChannelOptions.maxMessagesPerRead, value: MCSChannelOptions.maximumReadsPerTurn)
    }
}

extension MCSClientTarget {
    /// The host's address; `nil` for a name, which is looked up at each connection.
    private var address: SocketAddress? { try? SocketAddress(ipAddress: host, port: port) }

    /// The server name for TLS; `nil` for an IP address, which is checked against the connection's address.
    fileprivate var serverName: String? { address == nil ? host : nil }

    fileprivate func connect(_ bootstrap: ClientBootstrap) -> EventLoopFuture<any Channel> {
        guard let address else { return bootstrap.connect(host: host, port: port) }
        return bootstrap.connect(to: address)
    }
}
