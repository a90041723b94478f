import Machine

/// Which of the person's devices a connection is begun with, where, and when again: a value.
///
/// Of two devices one begins. After a connection could not be made, or broke, the next attempt comes after 2 s, 4 s, … 60 s. At most
/// ``limit`` announcements are known at a time.
struct DirectDialling {
    static let limit = 256

    /// What is to be dialled.
    struct Dial: Hashable {
        var peer: String
        var address: String
        var port: UInt16
    }

    private var sightings: [String: NearbySighting] = [:]
    private var order: [String] = []
    private var pauses: [String: (until: Int64, backOff: BackOff)] = [:]
    private var dialled: Set<String> = []

    mutating func appeared(_ sighting: NearbySighting) {
        guard LocalAddress.isPrivate(sighting.address), sighting.port > 0 else { return }
        if sightings[sighting.id] == nil {
            guard sightings.count < Self.limit else { return }
            order.append(sighting.id)
        }
        sightings[sighting.id] = sighting
    }

    mutating func vanished(_ id: String) {
        sightings[id] = nil
        order.removeAll { $0 == id }
    }

    mutating func forgetAll() {
        pauses = [:]
        dialled = []
    }

    /// A connection could not be made, or is over.
    mutating func ended(_ peer: String, at now: Int64) {
        dialled.remove(peer)
        var backOff = pauses[peer]?.backOff ?? BackOff(base: 2000, cap: 60_000)
        pauses[peer] = (now + backOff.next(), backOff)
    }

    /// A connection was of use: the next pause is a first one.
    mutating func succeeded(_ peer: String) { pauses[peer] = nil }

    /// What is to be dialled now, each device once, the newest announcement first.
    ///
    /// - Parameters:
    ///   - match: The device of an announcement; `nil` where it is none that this one begins with.
    ///   - isConnected: Whether there is a connection to it.
    mutating func dials(
        at now: Int64, match: (NearbySighting) -> String?, isConnected: (String) -> Bool
    ) -> [Dial] {
        var dials: [Dial] = []
        for id in order.reversed() {
            guard let sighting = sightings[id], let peer = match(sighting), !dialled.contains(peer),
                !isConnected(peer), (pauses[peer]?.until ?? 0) <= now
            else { continue }
            dialled.insert(peer)
            dials.append(Dial(peer: peer, address: sighting.address, port: sighting.port))
        }
        return dials
    }

    /// When a pause ends next.
    func deadline(after now: Int64) -> Int64? {
        pauses.values.map(\.until).filter { $0 > now }.min()
    }
}
