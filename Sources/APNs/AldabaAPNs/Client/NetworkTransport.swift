import NIOCore
import NIOSSL
import Networking
import PushCore
import Synchronization

/// Connections over TLS. The host's name is resolved for each connection, and its addresses are tried in random order.
struct NetworkTransport: PoolTransport {
    let host: String
    let port: Int
    let tls: NIOSSLContext
    /// The number of bytes of a response's body that are kept.
    let responseBytes: Int
    let group: any EventLoopGroup
    let resolver: any HostResolver
    let addressGuard: AddressGuard?
    /// The time for each address.
    private static let timeout = TimeAmount.seconds(10)

    func dial(onEvent: @escaping @Sendable (HTTP2ClientEvent) -> Void) -> any PoolConnection {
        let connection = NetworkConnection(onEvent: onEvent)
        let task = Task {
            do { connection.handleClient(try await connect(connection)) } catch {
                connection.handleFailure(ConnectionFault.words(error, host: host))
            }
        }
        connection.handleDial(task)
        return connection
    }

    private func connect(_ connection: NetworkConnection) async throws -> HTTP2Client {
        let addresses = try await resolver.addresses(of: host, port: port).shuffled()
        try addressGuard?.check(addresses)
        // An address has no server name indication. Text that is no address is a name.
        let isAddress = (try? SocketAddress(ipAddress: host, port: port)) != nil
        var limits = HTTP2Limits()
        limits.bodyBytes = responseBytes
        var failure: any Error = HostUnknown("the host has no address")
        for address in addresses {
            try Task.checkCancellation()
            let attempt = connection.beginAttempt()
            do {
                return try await HTTP2Client.connect(
                    to: address, serverName: isAddress ? nil : host, tls: tls, limits: limits,
                    timeout: Self.timeout, on: group
                ) { connection.handleEvent($0, of: attempt) }
            } catch { failure = error }
        }
        throw failure
    }
}

/// A connection that is being made, and then is.
private final class NetworkConnection: PoolConnection {
    private struct State {
        var client: HTTP2Client?
        /// Whether events are passed on as they come.
        var isOpen = false
        var dial: Task<Void, Never>?
        var attempt = 0
        /// The events that came before the client was known.
        var early: [HTTP2ClientEvent] = []
        var isClosed = false
    }

    private let state = Mutex(State())
    private let onEvent: @Sendable (HTTP2ClientEvent) -> Void

    init(onEvent: @escaping @Sendable (HTTP2ClientEvent) -> Void) { self.onEvent = onEvent }

    func handleDial(_ task: Task<Void, Never>) {
        let isClosed = state.withLock { state in
            state.dial = task
            return state.isClosed
        }
        if isClosed { task.cancel() }
    }

    func beginAttempt() -> Int {
        state.withLock { state in
            state.early = []
            state.attempt += 1
            return state.attempt
        }
    }

    func handleEvent(_ event: HTTP2ClientEvent, of attempt: Int) {
        let isEarly = state.withLock { state in
            guard state.attempt == attempt else { return true }
            if !state.isOpen { state.early.append(event) }
            return !state.isOpen
        }
        if !isEarly { onEvent(event) }
    }

    /// Passes on the events that came early, in order, and then all others as they come. The receiver may send requests
    /// from the first one on.
    func handleClient(_ client: HTTP2Client) {
        while true {
            let (events, isClosed) = state.withLock { state in
                defer { state.early = [] }
                if !state.isClosed { state.client = client }
                state.isOpen = state.early.isEmpty
                return (state.early, state.isClosed)
            }
            if isClosed { client.beginClosing() }
            if events.isEmpty { return }
            for event in events { onEvent(event) }
        }
    }

    func handleFailure(_ reason: String) { onEvent(.closed(reason: reason, unprocessed: [])) }

    private var client: HTTP2Client? { state.withLock { $0.client } }

    func send(request: Int, headers: HeaderBlock, body: [UInt8]) {
        client?.send(request: request, headers: headers, body: body)
    }

    func abandon(request: Int) { client?.abandon(request: request) }

    func ping() { client?.ping() }

    func settle(_ done: @escaping @Sendable () -> Void) {
        // Nothing can have been sent without a client.
        if let client { client.settle(done) } else { done() }
    }

    func close() {
        let (client, dial) = state.withLock { state in
            state.isClosed = true
            // The client holds the handler of its events, which is this connection.
            defer { (state.client, state.dial, state.early) = (nil, nil, []) }
            return (state.client, state.dial)
        }
        client?.beginClosing()
        if client == nil { dial?.cancel() }
    }
}
