import CoreValues
import Platform

/// Decides which of the user's devices to connect to, at which address, and when to retry. A value.
///
/// Of two devices only one connects. Where a device announced several addresses, they are tried one after the other.
/// After a connection failed at all of them, or broke, the next attempt follows after 2 s, 4 s, … 60 s, or when the
/// device announces itself anew: it is in another network, has started, or has recognised this one. At most ``limit``
/// announcements are known at a time.
struct DirectDialling {
    static let limit = 256

    /// A connection to be made: the peer and its address.
    struct Dial: Hashable {
        var peer: String
        var interface: Int32
        var address: String
        var port: UInt16
    }

    private var sightings: [String: DiscoveredDevice] = [:]
    private var order: [String] = []
    private var pauses: [String: (until: Timestamp, backOff: BackOff)] = [:]
    private var dialled: Set<String> = []
    /// The salts of each device's earlier announcements: repeating one of them does not end a pause.
    private var salts: [String: [[UInt8]]] = [:]
    private static let saltLimit = 32
    /// The announcements tried for each device since its last pause, and whether no other one is left.
    private var tried: [String: (ids: Set<String>, isLast: Bool)] = [:]

    /// - Parameter own: The addresses that this machine has.
    mutating func appeared(_ sighting: DiscoveredDevice, own: () -> [LocalAddress] = LocalAddress.all) {
        guard LocalAddress.isNear(sighting.address, among: own), sighting.port > 0 else { return }
        if sightings[sighting.id] == nil {
            guard sightings.count < Self.limit else { return }
            order.append(sighting.id)
        }
        sightings[sighting.id] = sighting
    }

    /// An announcement is that of a device.
    mutating func recognised(_ peer: String, salt: [UInt8]) {
        guard salts[peer]?.contains(salt) != true else { return }
        salts[peer] = (salts[peer] ?? []).suffix(Self.saltLimit - 1) + [salt]
        pauses[peer] = nil
        tried[peer] = nil
    }

    mutating func vanished(_ id: String) {
        sightings[id] = nil
        order.removeAll { $0 == id }
    }

    mutating func forgetAll() {
        pauses = [:]
        dialled = []
        tried = [:]
    }

    /// A connection could not be made, or is over.
    mutating func recordEnd(of peer: String, at now: Timestamp) {
        dialled.remove(peer)
        if tried[peer]?.isLast == false { return }
        tried[peer] = nil
        var backOff = pauses[peer]?.backOff ?? BackOff(base: 2000, cap: 60_000)
        pauses[peer] = (now.adding(milliseconds: backOff.next()), backOff)
    }

    /// A connection was of use: the next pause is a first one.
    mutating func succeeded(_ peer: String) {
        pauses[peer] = nil
        tried[peer] = nil
    }

    /// The connections to be made now, one for each device, the newest announcement first.
    ///
    /// - Parameters:
    ///   - match: The device of an announcement; `nil` where it is none that this one begins with.
    ///   - isConnected: Whether there is a connection to it.
    mutating func dials(
        at now: Timestamp, match: (DiscoveredDevice) -> String?, isConnected: (String) -> Bool
    ) -> [Dial] {
        var places: [String: [DiscoveredDevice]] = [:]
        var peers: [String] = []
        for sighting in order.reversed().compactMap({ sightings[$0] }) {
            guard let peer = match(sighting), !dialled.contains(peer), !isConnected(peer),
                (pauses[peer]?.until ?? .distantPast) <= now
            else { continue }
            if places[peer] == nil { peers.append(peer) }
            places[peer, default: []].append(sighting)
        }
        return peers.compactMap { peer in
            let known = tried[peer]?.ids ?? []
            let left = places[peer]?.filter { !known.contains($0.id) } ?? []
            guard let next = left.first ?? places[peer]?.first else { return nil }
            dialled.insert(peer)
            tried[peer] = (known.union([next.id]), left.count <= 1)
            return Dial(peer: peer, interface: next.interface, address: next.address, port: next.port)
        }
    }

    /// When a pause ends next.
    func deadline(after now: Timestamp) -> Timestamp? {
        pauses.values.map(\.until).filter { $0 > now }.min()
    }
}
