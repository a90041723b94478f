/// The limits on devices that wait to be paired.
public enum PairingLimits {
    /// The maximum number of devices that wait.
    public static let count = 1024
    /// The maximum number of devices of one network that wait.
    public static let share = 64
    /// The time for which a device waits, in milliseconds.
    public static let lifetime: Int64 = 600_000
    /// The reason that a device is told whose pairing is ended for another.
    public static let displaced =
        "too many devices are being paired, and this one has waited the longest; begin again"
}

/// Devices that wait for another one that names the same place, to be paired: a value.
///
/// Guarantees: two devices are brought together at a place, and no third; a device waits at one place, for ten minutes; at
/// most ``PairingLimits/count`` devices wait, and at most ``PairingLimits/share`` of one network. Where more come, the oldest of the network with the most
/// is ended, and its device is told so: strangers who fill the table keep nobody else from pairing.
struct PendingPairings: Sendable {
    /// The group of devices among which one pairing is ended for another: a network, or a device of which no network is
    /// known.
    private enum Source: Hashable {
        case network(String)
        case device(String)
    }

    private struct Waiting {
        var session: RelaySession
        var source: Source
        var until: Int64
    }

    private var waiting: [[UInt8]: Waiting] = [:]
    /// The place of each device that waits.
    private var places: [String: [UInt8]] = [:]
    /// The places of each source, the oldest first.
    private var sources: [Source: [[UInt8]]] = [:]
    private var partners: [RelaySession: RelaySession] = [:]

    /// The number of devices that wait.
    var count: Int { waiting.count }

    /// A device names a place.
    ///
    /// - Parameter network: The network that the device connects from; `nil` where none is known.
    mutating func add(
        _ session: RelaySession, at place: [UInt8], from network: String?, now: Int64
    ) -> [RelayDirectory.Directive] {
        remove(session)
        if let own = places[session.device] { removePlace(own) }
        if let other = removePlace(place), other.until > now {
            partners[session] = other.session
            partners[other.session] = session
            return [
                .send(.peerJoined(device: session.device), to: other.session),
                .send(.peerJoined(device: other.session.device), to: session),
            ]
        }
        let source = network.map(Source.network) ?? .device(session.device)
        let directives = makeSpace(for: source, at: now)
        waiting[place] = Waiting(session: session, source: source, until: now + PairingLimits.lifetime)
        places[session.device] = place
        sources[source, default: []].append(place)
        return directives
    }

    /// The device that this one was brought together with.
    func partner(of session: RelaySession) -> RelaySession? { partners[session] }

    /// Brings two sessions together that another table has found.
    mutating func pair(_ session: RelaySession, with other: RelaySession) {
        remove(session)
        partners[session] = other
        partners[other] = session
    }

    /// A session waits no more and has no partner any more.
    mutating func remove(_ session: RelaySession) {
        if let other = partners.removeValue(forKey: session) { partners[other] = nil }
        if let place = places[session.device], waiting[place]?.session == session { removePlace(place) }
    }

    /// Ends a device's pairing where the source has its share, or where all places are taken.
    private mutating func makeSpace(for source: Source, at now: Int64) -> [RelayDirectory.Directive] {
        if waiting.count >= PairingLimits.count {
            for (place, entry) in waiting where entry.until <= now { removePlace(place) }
        }
        var oldest: [UInt8]?
        if let own = sources[source], own.count >= PairingLimits.share {
            oldest = own.first
        } else if waiting.count >= PairingLimits.count {
            let places = sources.values.max { ($0.count, age($1)) < ($1.count, age($0)) }
            oldest = places?.first
        }
        guard let oldest, let entry = removePlace(oldest) else { return [] }
        return [.send(.refused(PairingLimits.displaced), to: entry.session)]
    }

    /// The moment until which the oldest of a source waits.
    private func age(_ places: [[UInt8]]) -> Int64 { places.first.flatMap { waiting[$0]?.until } ?? .max }

    @discardableResult
    private mutating func removePlace(_ place: [UInt8]) -> Waiting? {
        guard let entry = waiting.removeValue(forKey: place) else { return nil }
        places[entry.session.device] = nil
        sources[entry.source]?.removeAll { $0 == place }
        if sources[entry.source]?.isEmpty ?? false { sources[entry.source] = nil }
        return entry
    }
}
