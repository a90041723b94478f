import NIOCore
import Synchronization

/// The gateway's connections that have begun, so that each can be stopped with the server. Thread-safe.
final class LegacyConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: NIOLoopBound<LegacyConnection>] = [:]
        var isStopping = false
        var whenEmpty: EventLoopPromise<Void>?
    }

    private let state = Mutex(State())

    /// Adds a connection that has begun; called on its event loop.
    ///
    /// - Returns: Whether the server is stopping already.
    func opened(_ connection: LegacyConnection, on loop: any EventLoop) -> Bool {
        let bound = NIOLoopBound(connection, eventLoop: loop)
        return state.withLock { state in
            state.connections[ObjectIdentifier(connection)] = bound
            return state.isStopping
        }
    }

    /// Removes a connection whose channel is closed and that has no outstanding pushes.
    func closed(_ connection: LegacyConnection) {
        let promise = state.withLock { state -> EventLoopPromise<Void>? in
            state.connections[ObjectIdentifier(connection)] = nil
            guard state.connections.isEmpty, state.isStopping else { return nil }
            defer { state.whenEmpty = nil }
            return state.whenEmpty
        }
        promise?.succeed()
    }

    /// Stops every connection; the promise succeeds once the last one is done.
    func stop(_ promise: EventLoopPromise<Void>) {
        let connections = state.withLock { state in
            state.isStopping = true
            if !state.connections.isEmpty { state.whenEmpty = promise }
            return Array(state.connections.values)
        }
        if connections.isEmpty { promise.succeed() }
        for connection in connections { connection.eventLoop.execute { connection.value.stop() } }
    }

    /// Closes the remaining connections without waiting for them.
    func giveUp() {
        let (connections, promise) = state.withLock { state in
            defer { state.whenEmpty = nil }
            return (Array(state.connections.values), state.whenEmpty)
        }
        for connection in connections { connection.eventLoop.execute { connection.value.close() } }
        promise?.succeed()
    }
}
