/// The calls that wait for an answer on one bus, each for a bounded time.
package struct BusCalls<Call> {
    /// The default time limit of a call.
    package static var timeout: Duration { .seconds(5) }

    private var waiting: [UInt32: (call: Call, deadline: ContinuousClock.Instant)] = [:]

    /// No call waits.
    package init() {}

    /// When the first of them is too late.
    package var deadline: ContinuousClock.Instant? { waiting.values.map(\.deadline).min() }

    /// Whether one of these waits.
    package func contains(where isMeant: (Call) -> Bool) -> Bool { waiting.values.contains { isMeant($0.call) } }

    /// Remembers one that was sent.
    package mutating func add(_ call: Call, serial: UInt32, timeout: Duration = timeout) {
        waiting[serial] = (call, .now + timeout)
    }

    /// The call that an answer belongs to; `nil` when the call is not open any more.
    package mutating func take(_ serial: UInt32) -> Call? { waiting.removeValue(forKey: serial)?.call }

    /// Removes and returns the calls without an answer in time.
    package mutating func takeLate() -> [Call] {
        let now = ContinuousClock.now
        let late = waiting.filter { $0.value.deadline <= now }
        for serial in late.keys { waiting[serial] = nil }
        return late.sorted { $0.key < $1.key }.map(\.value.call)
    }

    /// Takes all of them.
    package mutating func takeAll() -> [Call] {
        defer { waiting = [:] }
        return waiting.sorted { $0.key < $1.key }.map(\.value.call)
    }
}
