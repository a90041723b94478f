import Networking
import PushCore

/// Makes connections; a port, so that tests need no network.
protocol PoolTransport: Sendable {
    /// Begins to make a connection. It is ready with its first `settings`; `closed` is its last event.
    ///
    /// - Parameter onEvent: Called in the order of the events, on any thread.
    func dial(onEvent: @escaping @Sendable (HTTP2ClientEvent) -> Void) -> any PoolConnection
}

/// A connection of a transport. Its calls are asynchronous and can be made on any thread.
protocol PoolConnection: Sendable {
    /// Sends a request. Its end is an event.
    func send(request: Int, headers: HeaderBlock, body: [UInt8])
    /// Resets a request's stream. Its end is no event.
    func abandon(request: Int)
    /// Sends PING. Its acknowledgement is an event.
    func ping()
    /// Calls a closure after the events of requests that were sent before, to a connection that has ended.
    func settle(_ done: @escaping @Sendable () -> Void)
    /// Closes the connection.
    func close()
}
