import DeviceSession
import NIOConcurrencyHelpers
import NIOCore

/// The open connections of an endpoint: how many there are, and all of them when it stops.
final class DeviceConnectionRegistry: Sendable {
    private struct State {
        var connections: [ObjectIdentifier: DeviceConnectionPort] = [:]
        var isStopping = false
        var whenEmpty: [EventLoopPromise<Void>] = []
    }

    private let state = NIOLockedValueBox(State())
    private let metrics: DeviceEndpointMetrics

    init(metrics: DeviceEndpointMetrics) { self.metrics = metrics }

    /// Takes a connection in; `false` when the endpoint is stopping.
    func add(_ connection: DeviceConnectionPort) -> Bool {
        let count: Int? = state.withLockedValue { state in
            guard !state.isStopping else { return nil }
            state.connections[ObjectIdentifier(connection)] = connection
            return state.connections.count
        }
        if let count { metrics.connections.record(count) }
        return count != nil
    }

    func remove(_ connection: DeviceConnectionPort) {
        let (count, promises) = state.withLockedValue { state -> (Int?, [EventLoopPromise<Void>]) in
            guard state.connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return (nil, []) }
            guard state.connections.isEmpty else { return (state.connections.count, []) }
            defer { state.whenEmpty = [] }
            return (0, state.whenEmpty)
        }
        if let count { metrics.connections.record(count) }
        for promise in promises { promise.succeed() }
    }

    /// How many connections are told to close at a time, at least.
    static let sliceSize = 256
    /// Milliseconds between two slices.
    static let sliceInterval: Int64 = 5
    /// All slices begin within about this many intervals, however many connections there are.
    static let mostSlices = 100

    /// Refuses connections from now on and tells those that are open to close, slice by slice: what each says and does at its
    /// end would otherwise stand in the way of everybody else's on its event loop, and all devices would come back at once.
    ///
    /// - Returns: Succeeds on the loop when none is left.
    func stop(on loop: any EventLoop) -> EventLoopFuture<Void> {
        let promise = loop.makePromise(of: Void.self)
        let connections = state.withLockedValue { state in
            state.isStopping = true
            if !state.connections.isEmpty { state.whenEmpty.append(promise) }
            return Array(state.connections.values)
        }
        if connections.isEmpty { promise.succeed() }
        let size = max(Self.sliceSize, connections.count / Self.mostSlices)
        end(connections[...], size: size, on: loop)
        return promise.futureResult
    }

    private func end(_ connections: ArraySlice<DeviceConnectionPort>, size: Int, on loop: any EventLoop) {
        for connection in connections.prefix(size) { connection.end(.stopping) }
        let rest = connections.dropFirst(size)
        guard !rest.isEmpty else { return }
        loop.scheduleTask(in: .milliseconds(Self.sliceInterval)) { self.end(rest, size: size, on: loop) }
    }
}
