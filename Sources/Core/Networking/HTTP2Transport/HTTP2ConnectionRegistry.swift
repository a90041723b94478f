import NIOCore
import Synchronization

/// The live connections of a listener, so that all of them can be shut down. Thread-safe.
final class HTTP2ConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: NIOLoopBound<HTTP2ServerHandler>] = [:]
        var isShuttingDown = false
        var whenEmpty: EventLoopPromise<Void>?
    }

    private let state = Mutex(State())

    func opened(_ handler: HTTP2ServerHandler, on loop: any EventLoop) {
        let isShuttingDown = state.withLock { state in
            state.connections[ObjectIdentifier(handler)] = NIOLoopBound(handler, eventLoop: loop)
            return state.isShuttingDown
        }
        if isShuttingDown { handler.shutDown(debugData: Self.goodbye) }
    }

    func closed(_ handler: HTTP2ServerHandler, on loop: any EventLoop) {
        let promise = state.withLock { state -> EventLoopPromise<Void>? in
            state.connections[ObjectIdentifier(handler)] = nil
            guard state.connections.isEmpty, state.isShuttingDown else { return nil }
            defer { state.whenEmpty = nil }
            return state.whenEmpty
        }
        promise?.succeed()
    }

    /// The number of open connections.
    var count: Int { state.withLock { $0.connections.count } }

    /// Sends GOAWAY on every connection; the promise succeeds once the last one is closed.
    func shutDown(_ promise: EventLoopPromise<Void>) {
        let connections = state.withLock { state in
            state.isShuttingDown = true
            if !state.connections.isEmpty { state.whenEmpty = promise }
            return Array(state.connections.values)
        }
        if connections.isEmpty { promise.succeed() }
        for connection in connections {
            connection.eventLoop.execute { connection.value.shutDown(debugData: Self.goodbye) }
        }
    }

    /// Closes the remaining connections.
    func closeAll() {
        for connection in state.withLock({ Array($0.connections.values) }) {
            connection.eventLoop.execute { connection.value.close() }
        }
    }

    private static let goodbye = Array(#"{"reason":"Shutdown"}"#.utf8)
}
