import Foundation
import RelayWire

/// What waits for devices that are away, until its deadline: a value.
///
/// Guarantees: for one device at most ``countLimit`` messages and ``sizeLimit`` bytes wait, for all of them ``totalLimit``, each for
/// ``patience`` at most; what waited in vain is told to its sender.
struct WaitingRoutes: Sendable {
    static let countLimit = 32
    static let sizeLimit = 512 << 10
    static let totalLimit = 64 << 20
    /// In milliseconds.
    static let patience: Int64 = 300_000

    private struct Waiting {
        var route: RelayRoute
        var account: RelayDirectory.AccountID
        var sender: RelaySession
        var until: Int64
        /// Whether it waits for the device to be woken.
        var isForWaking: Bool
    }

    private var routes: [String: [Waiting]] = [:]
    private var total = 0

    /// - Parameter isForWaking: Whether the device is to be woken for it.
    /// - Returns: Whether it waits now.
    mutating func hold(
        _ route: RelayRoute, for device: String, _ account: RelayDirectory.AccountID, from sender: RelaySession,
        isForWaking: Bool = false, at now: Int64
    ) -> Bool {
        guard let deadline = route.deadline, deadline <= now + Self.patience else { return false }
        let others = routes[device] ?? []
        guard others.count < Self.countLimit,
            others.reduce(route.body.count, { $0 + $1.route.body.count }) <= Self.sizeLimit
        else { return false }
        guard total + route.body.count <= Self.totalLimit else { return false }
        total += route.body.count
        routes[device, default: []].append(
            Waiting(route: route, account: account, sender: sender, until: deadline, isForWaking: isForWaking))
        return true
    }

    /// What waited for a device that has come.
    mutating func take(
        for session: RelaySession, _ account: RelayDirectory.AccountID, at now: Int64
    ) -> [RelayDirectory.Directive] {
        let all = routes.removeValue(forKey: session.device) ?? []
        for waiting in all { total -= waiting.route.body.count }
        return all.map { waiting in
            guard waiting.account == account, waiting.until > now else { return Self.ended(waiting, .expired) }
            return .forward(waiting.route, to: session, from: waiting.sender)
        }
    }

    /// A device takes back what waits for another.
    mutating func withdraw(_ id: UUID, for device: String, from sender: String) {
        guard let all = routes[device] else { return }
        let rest = all.filter { $0.route.id != id || $0.sender.device != sender }
        total -= all.reduce(0) { $0 + $1.route.body.count } - rest.reduce(0) { $0 + $1.route.body.count }
        routes[device] = rest.isEmpty ? nil : rest
    }

    /// What has waited in vain.
    mutating func due(at now: Int64) -> [RelayDirectory.Directive] {
        var directives: [RelayDirectory.Directive] = []
        for (device, all) in routes {
            let late = all.filter { $0.until <= now }
            guard !late.isEmpty else { continue }
            for waiting in late { total -= waiting.route.body.count }
            directives += late.map { Self.ended($0, $0.isForWaking ? .asleep : .expired) }
            let rest = all.filter { $0.until > now }
            routes[device] = rest.isEmpty ? nil : rest
        }
        return directives
    }

    /// A device cannot be woken: what its senders would not have waited for otherwise ends.
    mutating func notWoken(_ device: String) -> [RelayDirectory.Directive] {
        let all = routes[device] ?? []
        let ended = all.filter { $0.isForWaking && !$0.route.waits }
        guard !ended.isEmpty else { return [] }
        for waiting in ended { total -= waiting.route.body.count }
        let rest = all.filter { !$0.isForWaking || $0.route.waits }
        routes[device] = rest.isEmpty ? nil : rest
        return ended.map { Self.ended($0, .notWoken) }
    }

    private static func ended(_ waiting: Waiting, _ reason: RelayUndelivered) -> RelayDirectory.Directive {
        .send(.undelivered(id: waiting.route.id, reason), to: waiting.sender)
    }
}
