import DeviceChannel
import NIOConcurrencyHelpers
import NIOCore

/// A connection of an endpoint, as its registry knows it.
protocol EndpointConnection: AnyObject, Sendable {
    /// Asks the client to connect again, and closes the connection: the server stops. Called on any thread.
    func stop()
}

/// The open connections of an endpoint: their number, and all of them for stopping.
final class DeviceConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: any EndpointConnection] = [:]
        var isStopping = false
        var whenEmpty: [EventLoopPromise<Void>] = []
    }

    private let state = NIOLockedValueBox(State())
    private let metrics: DeviceEndpointMetrics

    init(metrics: DeviceEndpointMetrics) { self.metrics = metrics }

    /// Adds a connection; `false` when the endpoint is stopping.
    func add(_ connection: any EndpointConnection) -> Bool {
        let count: Int? = state.withLockedValue { state in
            guard !state.isStopping else { return nil }
            state.connections[ObjectIdentifier(connection)] = connection
            return state.connections.count
        }
        if let count { metrics.connections.record(count) }
        return count != nil
    }

    func remove(_ connection: any EndpointConnection) {
        let (count, promises) = state.withLockedValue { state -> (Int?, [EventLoopPromise<Void>]) in
            guard state.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return (nil, []) }
            guard state.connections.isEmpty else { return (state.connections.count, []) }
            defer { state.whenEmpty = [] }
            return (0, state.whenEmpty)
        }
        if let count { metrics.connections.record(count) }
        for promise in promises { promise.succeed() }
    }

    /// The time between two slices, in milliseconds.
    static let sliceInterval: Int64 = 5

    /// Refuses connections from now on and asks the open ones to close, slice by slice. Closing all at once would block
    /// their event loops for other connections, and all devices would reconnect at once.
    ///
    /// - Returns: A future that succeeds on the loop when no connection is left.
    func stop(_ pace: DeviceEndpointConfiguration.StopPace, on loop: any EventLoop) -> EventLoopFuture<Void> {
        let promise = loop.makePromise(of: Void.self)
        let connections = state.withLockedValue { state in
            state.isStopping = true
            if !state.connections.isEmpty { state.whenEmpty.append(promise) }
            return Array(state.connections.values)
        }
        if connections.isEmpty { promise.succeed() }
        let size = max(pace.slice, connections.count / pace.slices)
        end(connections[...], size: size, on: loop)
        return promise.futureResult
    }

    private func end(_ connections: ArraySlice<any EndpointConnection>, size: Int, on loop: any EventLoop) {
        for connection in connections.prefix(size) { connection.stop() }
        let rest = connections.dropFirst(size)
        guard !rest.isEmpty else { return }
        loop.scheduleTask(in: .milliseconds(Self.sliceInterval)) { self.end(rest, size: size, on: loop) }
    }
}
