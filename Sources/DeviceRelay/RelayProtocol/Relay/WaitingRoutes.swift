import Foundation

/// The messages queued for devices that are away, until their deadlines. A value.
///
/// Guarantees: for one device at most ``countLimit`` messages and ``sizeLimit`` bytes are queued, for all of them
/// ``totalLimit`` bytes, each for at most ``timeout``. The sender is notified of an undelivered message.
struct WaitingRoutes: Sendable {
    static let countLimit = 32
    static let sizeLimit = 512 << 10
    static let totalLimit = 64 << 20
    /// How many bytes are counted for each beside its body.
    static let weight = 256
    /// The longest time that a message waits, in milliseconds.
    static let timeout: Int64 = 300_000

    private struct Waiting {
        var route: RelayRoute
        var account: RelayDirectory.AccountID
        var sender: RelaySession
        var until: Int64
        /// Whether it waits for the device to be woken.
        var isForWaking: Bool

        /// The bytes that count against the limits: the body, and ``WaitingRoutes/weight``.
        var size: Int { route.body.count + WaitingRoutes.weight }
    }

    private var routes: [String: [Waiting]] = [:]
    private var total = 0
    /// When something of which device falls due, the soonest first; each that waits is there once.
    private var ends: ArraySlice<End> = []

    private struct End: Comparable {
        var at: Int64
        var device: String

        static func < (one: End, other: End) -> Bool { (one.at, one.device) < (other.at, other.device) }
    }

    /// When to call ``due(at:)`` next.
    var nextMoment: Int64? { ends.first?.at }

    /// The place of an end, or where it would be.
    private func place(_ end: End) -> Int {
        var (low, high) = (ends.startIndex, ends.endIndex)
        while low < high {
            let middle = low + (high - low) / 2
            if ends[middle] < end { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// Removes the sizes and deadlines of messages that are no longer queued.
    private mutating func gone(_ waiting: [Waiting], _ device: String) {
        for waiting in waiting {
            total -= waiting.size
            let end = End(at: waiting.until, device: device)
            let place = place(end)
            if place < ends.endIndex, ends[place] == end { ends.remove(at: place) }
        }
    }

    /// - Parameter isForWaking: Whether the device is to be woken for it.
    /// - Returns: Whether it waits now.
    mutating func hold(
        _ route: RelayRoute, for device: String, _ account: RelayDirectory.AccountID, from sender: RelaySession,
        isForWaking: Bool = false, at now: Int64
    ) -> Bool {
        guard let deadline = route.deadline, deadline <= now + Self.timeout else { return false }
        let others = routes[device] ?? []
        let new = Waiting(route: route, account: account, sender: sender, until: deadline, isForWaking: isForWaking)
        guard others.count < Self.countLimit,
            others.reduce(route.body.count, { $0 + $1.route.body.count }) <= Self.sizeLimit,
            total + new.size <= Self.totalLimit
        else { return false }
        total += new.size
        routes[device, default: []].append(new)
        let end = End(at: deadline, device: device)
        ends.insert(end, at: place(end))
        return true
    }

    /// Takes the messages for a device that has come online.
    mutating func take(
        for session: RelaySession, _ account: RelayDirectory.AccountID, at now: Int64
    ) -> [RelayDirectory.Directive] {
        let all = routes.removeValue(forKey: session.device) ?? []
        gone(all, session.device)
        return all.map { waiting in
            guard waiting.account == account, waiting.until > now else {
                return Self.undeliveredNotice(for: waiting, .expired)
            }
            return .forward(waiting.route, to: session, from: waiting.sender)
        }
    }

    /// Whether messages of an account wait.
    func hasMessages(of account: RelayDirectory.AccountID) -> Bool {
        routes.values.contains { $0.contains { $0.account == account } }
    }

    /// A device takes back what waits for another.
    mutating func withdraw(_ id: UUID, for device: String, from sender: String) {
        guard let all = routes[device] else { return }
        let rest = all.filter { $0.route.id != id || $0.sender.device != sender }
        gone(all.filter { $0.route.id == id && $0.sender.device == sender }, device)
        routes[device] = rest.isEmpty ? nil : rest
    }

    /// Takes the messages whose deadline has passed.
    mutating func due(at now: Int64) -> [RelayDirectory.Directive] {
        var directives: [RelayDirectory.Directive] = []
        while let next = ends.first, next.at <= now {
            let all = routes[next.device] ?? []
            let late = all.filter { $0.until <= now }
            // Each iteration removes an end, so that the loop terminates.
            guard !late.isEmpty else {
                ends.removeFirst()
                continue
            }
            gone(late, next.device)
            let device = next.device
            directives += late.map { Self.undeliveredNotice(for: $0, $0.isForWaking ? .asleep : .expired) }
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
        gone(ended, device)
        let rest = all.filter { !$0.isForWaking || $0.route.waits }
        routes[device] = rest.isEmpty ? nil : rest
        return ended.map { Self.undeliveredNotice(for: $0, .notWoken) }
    }

    private static func undeliveredNotice(for waiting: Waiting, _ reason: RelayUndelivered) -> RelayDirectory.Directive
    {
        .send(.undelivered(id: waiting.route.id, reason), to: waiting.sender)
    }
}
