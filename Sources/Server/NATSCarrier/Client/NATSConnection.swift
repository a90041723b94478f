import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// The properties of a server that a client needs.
private struct ServerInfo: Decodable {
    var nonce: String?
    var tls_required: Bool?
    var max_payload: Int?
}

/// The client's properties, in the order of the protocol's page.
private struct ConnectOptions: Encodable {
    var verbose = false
    var pedantic = false
    var name: String
    var lang = "swift"
    var version = "1.0"
    var `protocol` = 1
    var echo = false
    var headers = true
    var no_responders = true
    var tls_required: Bool
    var user: String?
    var pass: String?
    var auth_token: String?
    var jwt: String?
    var sig: String?
}

/// The handler of a connection to a NATS server: logs in, answers pings, and passes messages on. On its event loop.
final class NATSConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    /// An event of the connection.
    enum Event {
        /// The login was sent. What is sent now, the server has checked when it accepts the login.
        case loggingIn
        /// The server has accepted the login; the largest payload that it takes.
        case ready(maximumPayload: Int)
        case message(NATSMessage)
        /// The connection ended; the reason, where there is one.
        case ended(String?)
    }

    private let address: NATSAddress
    private let host: String
    private let name: String
    private let handle: (Event, NATSConnection) -> Void
    private var decoder = NATSFrameDecoder()
    private var context: ChannelHandlerContext?
    private var reason: String?
    private var maximumPayload = 1 << 20
    private var isReady = false
    private var isLoggingIn = false
    private var loginTimeout: Scheduled<Void>?
    /// Whether a ping was sent and is not answered.
    private var isPinged = false

    init(
        _ address: NATSAddress, host: String, name: String, handle: @escaping (Event, NATSConnection) -> Void
    ) {
        self.address = address
        self.host = host
        self.name = name
        self.handle = handle
    }

    func handlerAdded(context: ChannelHandlerContext) { self.context = context }

    func channelActive(context: ChannelHandlerContext) {
        loginTimeout = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(3)) {
            self.reason = self.reason ?? "it did not accept a login within three seconds"
            self.context?.close(promise: nil)
        }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        decoder.append(unwrapInboundIn(data).readableBytesView)
        do { while let frame = try decoder.next() { try receive(frame, context) } } catch {
            reason = reason ?? "\(error)"
            context.close(promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        reason = reason ?? "\(error)"
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        self.context = nil
        loginTimeout?.cancel()
        handle(.ended(reason), self)
    }

    private func receive(_ frame: NATSFrame, _ context: ChannelHandlerContext) throws {
        switch frame {
        // Later ones tell of changes in the cluster of servers.
        case .info(let json): if !isLoggingIn { try connect(json, context) }
        case .message(let message): handle(.message(message), self)
        case .ping:
            write("PONG\r\n")
            flush()
        case .pong:
            isPinged = false
            guard !isReady else { return }
            isReady = true
            loginTimeout?.cancel()
            handle(.ready(maximumPayload: maximumPayload), self)
        case .ok: break
        case .error(let text):
            // The server itself keeps the connection of a client that may not use a subject.
            reason = reason ?? "the server says: \(text)"
            context.close(promise: nil)
        }
    }

    /// Answers the server's properties with the client's. The server answers the ping once it has accepted them.
    private func connect(_ json: [UInt8], _ context: ChannelHandlerContext) throws {
        isLoggingIn = true
        let info = try JSONDecoder().decode(ServerInfo.self, from: Data(json))
        maximumPayload = info.max_payload ?? maximumPayload
        let usesTLS = address.usesTLS || info.tls_required == true
        if usesTLS { try context.pipeline.syncOperations.addHandler(tlsHandler(), position: .first) }
        var options = ConnectOptions(name: name, tls_required: usesTLS)
        if let path = address.credentials {
            let credentials = try NATSCredentials(file: path)
            options.jwt = credentials.token
            options.sig = try info.nonce.map(credentials.signature)
        } else if address.password == nil {
            options.auth_token = address.user
        } else {
            (options.user, options.pass) = (address.user, address.password)
        }
        write("CONNECT ", content: try JSONEncoder().encode(options), end: "\r\n")
        handle(.loggingIn, self)
        write("PING\r\n")
        flush()
    }

    private func tlsHandler() throws -> NIOSSLClientHandler {
        var configuration = TLSConfiguration.makeClientConfiguration()
        if let path = address.authorities { configuration.trustRoots = .file(path) }
        configuration.minimumTLSVersion = .tlsv12
        // A host that is no address is a name.
        let isAddress = (try? SocketAddress(ipAddress: host, port: 0)) != nil
        let sslContext: NIOSSLContext
        do { sslContext = try NIOSSLContext(configuration: configuration) } catch {
            guard let path = address.authorities else { throw error }
            throw NATSAddress.Unusable(description: "the file of nats' certificates, \(path), cannot be used: \(error)")
        }
        return try NIOSSLClientHandler(context: sslContext, serverHostname: isAddress ? nil : host)
    }

    /// The reason for which no connection was made.
    static func reason(of error: any Error) -> String {
        guard let failure = error as? NIOConnectionError else { return "\(error)" }
        let first = failure.connectionErrors.first?.error ?? failure.dnsAError ?? failure.dnsAAAAError
        return first.map { "\($0)" } ?? "it has no address"
    }

    // MARK: Commands

    /// Subscribes to a subject; ``flush()`` sends it.
    func subscribe(_ subject: String, as number: Int) { write("SUB \(subject) \(number)\r\n") }

    /// Publishes a message; ``flush()`` sends it.
    func publish(_ payload: some Sequence<UInt8>, count: Int, to subject: String, reply: String? = nil) {
        write("PUB \(subject) \(reply.map { "\($0) " } ?? "")\(count)\r\n", content: payload, end: "\r\n")
    }

    /// Asks whether the server is there. Where it did not answer the last time, the connection is closed.
    func ping() {
        guard !isPinged else {
            reason = "the server did not answer a ping"
            context?.close(promise: nil)
            return
        }
        isPinged = true
        write("PING\r\n")
        flush()
    }

    /// Whether the connection takes more bytes than it has queued.
    var isWritable: Bool { context?.channel.isWritable ?? false }

    func flush() { context?.flush() }

    func close() { context?.close(promise: nil) }

    private func write(_ text: String) { write(text, content: EmptyCollection(), end: "") }

    private func write(_ begin: String, content bytes: some Sequence<UInt8>, end: String) {
        guard let context else { return }
        var buffer = context.channel.allocator.buffer(
            capacity: begin.utf8.count + bytes.underestimatedCount + end.utf8.count)
        buffer.writeString(begin)
        buffer.writeBytes(bytes)
        buffer.writeString(end)
        context.write(NIOAny(buffer), promise: nil)
    }
}
