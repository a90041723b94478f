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

    /// Creates a response; the status is also the field `:status` of one that was received.
    package init(status: Int, headers: HeaderBlock, body: [UInt8]) {
        self.status = status
        self.headers = headers
        self.body = body
    }

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

/// An event of a connection whose user observes it.
package enum HTTP2ClientEvent: Sendable {
    /// SETTINGS, the first or changed ones, with the number of streams that the server allows to be open.
    case settings(streamLimit: Int)
    /// GOAWAY: no new stream is opened, and requests above `lastStream` end as not processed right after it.
    case goAway(lastStream: Int32, code: UInt32, debugData: [UInt8])
    /// The acknowledgement of a PING.
    case pingAcknowledged
    /// The end of a request, by the number that ``HTTP2Client/send(request:headers:body:)`` gave it.
    case ended(request: Int, Result<HTTP2Response, HTTP2RequestError>)
    /// The end of the connection and of its open requests, which may have taken effect, apart from `unprocessed`.
    /// Requests that are sent later end as not processed.
    case closed(reason: String, unprocessed: Set<Int>)
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
        let (channel, handler) = try await bootstrap(group, timeout: timeout).connect(host: host, port: port) {
            channel in
            channel.eventLoop.makeCompletedFuture {
                // An address has no server name indication; its certificate is checked by address.
                let isAddress = (try? SocketAddress(ipAddress: host, port: port)) != nil
                return try configure(channel, tls: tls, serverName: isAddress ? nil : host, limits: limits)
            }
        }
        return try await ready(channel, handler)
    }

    /// Connects to an address and observes the connection; with TLS the server's certificate is checked against the
    /// context's trust roots and `serverName`, or the address where that is `nil`.
    ///
    /// - Parameter onEvent: Called on the connection's event loop, also for what happens before this returns. Where this
    ///   throws, the connection is closed or will be.
    /// - Throws: The error of the socket or the TLS handshake, or the time-out's error.
    package static func connect(
        to address: SocketAddress, serverName: String?, tls: NIOSSLContext?, limits: HTTP2Limits, timeout: TimeAmount,
        on group: any EventLoopGroup, onEvent: @escaping @Sendable (HTTP2ClientEvent) -> Void
    ) async throws -> HTTP2Client {
        let (channel, handler) = try await bootstrap(group, timeout: timeout).connect(to: address) { channel in
            channel.eventLoop.makeCompletedFuture {
                try configure(channel, tls: tls, serverName: serverName, limits: limits, onEvent: onEvent)
            }
        }
        let overdue = channel.eventLoop.scheduleTask(in: timeout) { channel.close(promise: nil) }
        defer { overdue.cancel() }
        return try await ready(channel, handler)
    }

    private static func bootstrap(_ group: any EventLoopGroup, timeout: TimeAmount) -> ClientBootstrap {
        ClientBootstrap(group: group).connectTimeout(timeout).channelOption(.tcpOption(.tcp_nodelay), value: 1)
    }

    private static func configure(
        _ channel: any Channel, tls: NIOSSLContext?, serverName: String?, limits: HTTP2Limits,
        onEvent: (@Sendable (HTTP2ClientEvent) -> Void)? = nil
    ) throws -> (any Channel, NIOLoopBound<HTTP2ClientHandler>) {
        let pipeline = channel.pipeline.syncOperations
        if let tls { try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: serverName)) }
        let handler = HTTP2ClientHandler(
            limits: limits, waitsForTLS: tls != nil, eventLoop: channel.eventLoop, observer: onEvent)
        try pipeline.addHandler(handler)
        return (channel, NIOLoopBound(handler, eventLoop: channel.eventLoop))
    }

    private static func ready(
        _ channel: any Channel, _ handler: NIOLoopBound<HTTP2ClientHandler>
    ) async throws -> HTTP2Client {
        try await channel.eventLoop.flatSubmit { handler.value.whenReady }.get()
        return HTTP2Client(handler: handler, channel: channel)
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

    /// Sends a request of an observed connection, from any thread. Its end is an event; it has no deadline.
    package func send(request: Int, headers: HeaderBlock, body: [UInt8]) {
        perform { $0.send(request: request, headers: headers, body: body) }
    }

    /// Resets the stream of such a request, whose end is then no event.
    package func abandon(request: Int) { perform { $0.abandon(request: request) } }

    /// Calls a closure on the event loop of the connection, after the end of each request that is sent in vain before.
    package func settle(_ done: @escaping @Sendable () -> Void) { perform { _ in done() } }

    /// Sends PING; its acknowledgement is an event.
    package func ping() { perform { $0.ping() } }

    /// Closes the connection without waiting for its end.
    package func beginClosing() { channel.close(promise: nil) }

    private func perform(_ action: @escaping @Sendable (HTTP2ClientHandler) -> Void) {
        let handler = self.handler
        if channel.eventLoop.inEventLoop {
            action(handler.value)
        } else {
            channel.eventLoop.execute { action(handler.value) }
        }
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
