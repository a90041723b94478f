import Networking
import PushCore

/// Delays log-ins: who failed must wait longer and longer. Others' failures lock nobody out, since a network from which
/// a person has logged in counts its own failures alone.
package struct LogInThrottle: Sendable {
    /// The subject for which failures are counted.
    private enum Key: Hashable, Sendable {
        case network(ClientAddress?)
        case name(String)
        case nameInNetwork(String, ClientAddress?)

        /// The failures that cost no time.
        var free: Int {
            switch self {
            case .network: 20
            case .name: 20
            case .nameInNetwork: 5
            }
        }

        /// The longest pause.
        var longest: Int64 {
            switch self {
            case .network, .nameInNetwork: 900_000
            case .name: 60_000
            }
        }
    }

    private struct Failures: Sendable {
        var count: Int
        var at: Timestamp
    }

    /// Failures are forgotten after so long without another.
    private static let memory = Duration.seconds(3600)
    private let limit: Int
    private var failures: [Key: Failures] = [:]

    /// A throttle without failures.
    ///
    /// - Parameter limit: The most names and networks that are counted; beyond them the oldest are forgotten.
    package init(limit: Int = 10_000) { self.limit = limit }

    /// The number of names and networks that are counted.
    package var count: Int { failures.count }

    /// How many milliseconds a log-in must wait; 0 for none.
    ///
    /// - Parameter isKnown: Whether the person has logged in from that network before.
    package func pause(
        name: String, address: ClientAddress?, isKnown: Bool, at now: Timestamp
    ) -> Int64 {
        Self.keys(name, address, isKnown: isKnown).map { pause($0, at: now) }.max() ?? 0
    }

    /// Counts a log-in that failed.
    package mutating func noteFailure(name: String, address: ClientAddress?, isKnown: Bool, at now: Timestamp) {
        for key in Self.keys(name, address, isKnown: isKnown) {
            let known = failures[key].flatMap { now > $0.at + Self.memory ? nil : $0.count } ?? 0
            failures[key] = Failures(count: known + 1, at: now)
        }
        trim(at: now)
    }

    /// Forgets the failures of a name in the network from which the person has logged in, and the one that was counted for
    /// this log-in before its password was checked.
    package mutating func noteSuccess(name: String, address: ClientAddress?, isKnown: Bool) {
        for key in Self.keys(name, address, isKnown: isKnown) {
            guard let known = failures[key], known.count > 1, key != .nameInNetwork(name, address) else {
                failures[key] = nil
                continue
            }
            failures[key]?.count = known.count - 1
        }
    }

    private static func keys(_ name: String, _ address: ClientAddress?, isKnown: Bool) -> [Key] {
        let own: [Key] = [.nameInNetwork(name, address), .network(address)]
        return isKnown ? own : own + [.name(name)]
    }

    private func pause(_ key: Key, at now: Timestamp) -> Int64 {
        guard let found = failures[key], found.count >= key.free, now <= found.at + Self.memory else { return 0 }
        let length = min(key.longest, 1000 << Int64(min(found.count - key.free, 20)))
        return max(0, length - now.milliseconds(since: found.at))
    }

    private mutating func trim(at now: Timestamp) {
        guard failures.count > limit else { return }
        failures = failures.filter { now <= $0.value.at + Self.memory }
        guard failures.count > limit else { return }
        // A tenth at a time, so that a flood of names does not sort them at each failure.
        let oldest = failures.sorted { $0.value.at < $1.value.at }.prefix(failures.count - limit + limit / 10)
        for (key, _) in oldest { failures[key] = nil }
    }
}
