import NIOCore
import NIOPosix
import NIOSSL
import PushCore

/// A complete response.
package struct HTTP2Response: Sendable, Hashable {
    /// The HTTP status.
    package var status: Int
    /// The header fields, `:status` among them; no trailers.
    package var headers: HeaderBlock
    /// The whole body; empty where there is none.
    package var body: [UInt8]

    /// The value of the first field with a name, as text.
    package func header(_ name: StaticString) -> String? { headers.first(name).map { headers.text($0) } }
}

/// The reason why a request has no response.
package enum HTTP2RequestError: Error, Hashable, Sendable {
    /// The connection ended before the response; whether the request took effect is not known.
    case connectionClosed(reason: String)
    /// The peer did not process the request (RFC 9113, section 8.7); it is safe to send it again.
    case notProcessed
    /// The peer ended the stream with this HTTP/2 error code.
    case streamReset(code: UInt32)
    /// No response within the deadline; whether the request took effect is not known.
    case timedOut
    /// The response contained no valid `:status`.
    case malformedResponse
}

/// An HTTP/2 connection to a server.
package final class HTTP2Client: Sendable {
    private let handler: NIOLoopBound<HTTP2ClientHandler>
    private let channel: any Channel

    private init(handler: NIOLoopBound<HTTP2ClientHandler>, channel: any Channel) {
        self.handler = handler
        self.channel = channel
    }

    /// Connects; with TLS the server's certificate is checked against the context's trust roots and `host`.
    ///
    /// - Throws: The error of the socket or the TLS handshake, or the time-out's error.
    package static func connect(
        host: String, port: Int, tls: NIOSSLContext?, limits: HTTP2Limits = HTTP2Limits(),
        timeout: TimeAmount = .seconds(10), on group: any EventLoopGroup
    ) async throws -> HTTP2Client {
        let (channel, handler) = try await ClientBootstrap(group: group)
            .connectTimeout(timeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    if let tls {
                        // An address has no server name indication; its certificate is checked by address.
                        let isAddress = (try? SocketAddress(ipAddress: host, port: port)) != nil
                        try pipeline.addHandler(
                            NIOSSLClientHandler(context: tls, serverHostname: isAddress ? nil : host))
                    }
                    let handler = HTTP2ClientHandler(
                        limits: limits, waitsForTLS: tls != nil, eventLoop: channel.eventLoop)
                    try pipeline.addHandler(handler)
                    return (channel, NIOLoopBound(handler, eventLoop: channel.eventLoop))
                }
            }
        let client = HTTP2Client(handler: handler, channel: channel)
        try await channel.eventLoop.flatSubmit { handler.value.whenReady }.get()
        return client
    }

    /// Sends a request and waits for its response.
    ///
    /// - Parameter headers: Pseudo-header fields first.
    /// - Throws: ``HTTP2RequestError``.
    package func request(
        headers: HeaderBlock, body: [UInt8], timeout: TimeAmount = .seconds(30)
    ) async throws -> HTTP2Response {
        let handler = self.handler
        return try await channel.eventLoop.flatSubmit {
            handler.value.request(headers: headers, body: body, timeout: timeout)
        }.get()
    }

    /// Closes the connection; open requests end with `connectionClosed`.
    package func close() async {
        // A closed connection needs no further closing.
        try? await channel.close().get()
    }
}

extension NIOSSLContext {
    /// Creates a client's context for HTTP/2: full verification against `trustRoots`, ALPN `h2`.
    ///
    /// - Parameter identity: The client's own certificate with its key, PEM in any order; `nil` for none.
    package static func http2Client(trustRoots: NIOSSLTrustRoots, identity: ClientIdentity? = nil) throws
        -> NIOSSLContext
    {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.minimumTLSVersion = .tlsv12
        configuration.trustRoots = trustRoots
        configuration.applicationProtocols = ["h2"]
        if let identity {
            configuration.certificateChain = identity.chain.map { .certificate($0) }
            configuration.privateKey = .privateKey(identity.key)
        }
        return try NIOSSLContext(configuration: configuration)
    }
}
