import AgentProtocol
import Foundation

/// Tracks which circular regions the machine is in, and reports when it crosses their edges.
///
/// A value: positions and times come in, crossings come out. A crossing counts when, for 20 seconds, the position is
/// beyond the edge by more than its accuracy, or by half of the radius where that is less. A position whose accuracy is
/// worse than the diameter and than 100 m can only show that the machine is outside. The first known side of a region
/// is no crossing.
package struct RegionWatch: Sendable {
    /// The side of the edge on which the machine is. The owner stores it and passes it to `add`, so that a crossing is
    /// noticed that happened meanwhile.
    package enum State: String, Hashable, Sendable, Codable {
        /// No position has shown it yet.
        case unknown
        /// Within the radius.
        case inside
        /// Beyond the radius.
        case outside
    }

    /// A crossing of an edge.
    package struct Crossing: Hashable, Sendable {
        /// The key of the region.
        package var key: RequestKey
        /// The side on which the machine is now; the owner stores it.
        package var state: State
        /// Whether the request fires: not for the first known side, nor for a direction that the region does not ask
        /// for.
        package var fires: Bool

        /// A crossing of the edge of one region.
        package init(key: RequestKey, state: State, fires: Bool) {
            self.key = key
            self.state = state
            self.fires = fires
        }
    }

    /// Why a region or a position is refused.
    package enum Refusal: Error, Hashable, Sendable {
        /// A value is not finite or out of range: latitude (-90 to 90), longitude (-180 to 180), radius (above 0, up to
        /// ``RegionWatch/largestRadius``) or accuracy (0 and more).
        case notOnEarth
        /// The greatest number of regions is watched already.
        case full
    }

    /// The largest radius in metres: about half the circumference of the earth.
    package static let largestRadius: Double = 20_000_000
    /// How long a crossing must last until it counts: the dwell time, in milliseconds.
    package static let dwell: Int64 = 20_000
    /// The accuracy in metres of positions in a city, such as those by wireless networks.
    private static let ordinaryAccuracy: Double = 100

    private struct Watched: Sendable {
        var region: NotificationTrigger.Region
        var state: State
    }

    private var watched: [RequestKey: Watched] = [:]
    /// Crossings that do not count yet, by region. Few regions have one, so that events need not examine them all.
    private var dwelling: [RequestKey: (state: State, since: Int64)] = [:]
    /// The last position, for regions that are added later.
    private var last: (latitude: Double, longitude: Double, accuracy: Double, since: Int64)?
    private let most: Int

    /// No region is watched.
    ///
    /// - Parameter most: The greatest number of regions.
    package init(most: Int = 4096) { self.most = max(0, most) }

    /// The number of regions.
    package var count: Int { watched.count }

    /// The known side of a region; `nil` for a region that is not watched.
    package func state(of key: RequestKey) -> State? { watched[key]?.state }

    /// When `timePassed` next has something to report, in milliseconds of CLOCK_BOOTTIME; `nil` when no crossing
    /// dwells.
    package var nextDeadline: Int64? {
        dwelling.values.map { $0.since.saturatingSum(Self.dwell) }.min()
    }

    /// The keys of all regions.
    package var keys: some Collection<RequestKey> { watched.keys }

    /// A crossing that does not count yet: the new side, and since when in milliseconds of CLOCK_BOOTTIME; `nil` when
    /// there is none.
    package func crossing(of key: RequestKey) -> (state: State, since: Int64)? { dwelling[key] }

    /// Whether the position of the machine is known.
    package var hasPosition: Bool { last != nil }

    /// The position is not known any more. Crossings that do not count yet are dropped.
    package mutating func forgetPosition() {
        last = nil
        dwelling = [:]
    }

    /// Restarts the dwell time of crossings that do not count yet: the machine may have slept meanwhile.
    package mutating func beginDwellAnew(sinceBoot: Int64) {
        dwelling = dwelling.mapValues { (state: $0.state, since: sinceBoot) }
    }

    /// Watches a region, from its stored side on and by the last position. It replaces the region with the same key; an
    /// equal region goes on unchanged.
    package mutating func add(
        _ key: RequestKey, _ region: NotificationTrigger.Region, state: State = .unknown
    ) -> Refusal? {
        guard Self.isOnEarth(region.latitude, region.longitude), region.radius > 0, region.radius <= Self.largestRadius
        else {
            return .notOnEarth
        }
        guard watched.count < most || watched[key] != nil else { return .full }
        guard watched[key]?.region != region else { return nil }
        watched[key] = Watched(region: region, state: state)
        dwelling[key] = nil
        if let last {
            look(
                at: key, latitude: last.latitude, longitude: last.longitude, accuracy: last.accuracy, since: last.since)
        }
        return nil
    }

    /// Ends the watch of a region. An unknown key is ignored.
    package mutating func remove(_ key: RequestKey) {
        watched[key] = nil
        dwelling[key] = nil
    }

    /// A position of the machine was reported.
    ///
    /// - Parameters:
    ///   - latitude: In degrees north.
    ///   - longitude: In degrees east.
    ///   - accuracy: The radius of uncertainty in metres.
    ///   - sinceBoot: The time of the report, in milliseconds of CLOCK_BOOTTIME.
    /// - Returns: The confirmed crossings, in the order of their keys; none for a refused position.
    package mutating func positionReported(
        latitude: Double, longitude: Double, accuracy: Double, sinceBoot: Int64
    ) -> Result<[Crossing], Refusal> {
        guard Self.isOnEarth(latitude, longitude), accuracy >= 0, accuracy.isFinite else {
            return .failure(.notOnEarth)
        }
        // A crossing that has dwelt until now counts, also when this position is on the other side again.
        let crossings = timePassed(sinceBoot: sinceBoot)
        for key in Array(watched.keys) {
            look(at: key, latitude: latitude, longitude: longitude, accuracy: accuracy, since: sinceBoot)
        }
        last = (latitude, longitude, accuracy, sinceBoot)
        return .success(crossings)
    }

    private mutating func look(
        at key: RequestKey, latitude: Double, longitude: Double, accuracy: Double, since: Int64
    ) {
        guard let region = watched[key] else { return }
        let side = Self.side(of: region.region, latitude: latitude, longitude: longitude, accuracy: accuracy)
        switch side {
        case .unknown,
            _ where dwelling[key]?.state == side:
            break
        case region.state: dwelling[key] = nil
        default: dwelling[key] = (side, since)
        }
    }

    /// Time has passed: reports the crossings that have dwelt, in the order of their keys.
    package mutating func timePassed(sinceBoot: Int64) -> [Crossing] {
        var crossings: [Crossing] = []
        let dwelt = dwelling.filter { sinceBoot.saturatingDifference($1.since) >= Self.dwell }
        for (key, crossing) in dwelt.sorted(by: { $0.key < $1.key }) {
            dwelling[key] = nil
            guard let region = watched[key] else { continue }
            let isAsked = crossing.state == .inside ? region.region.onEntry : region.region.onExit
            crossings.append(
                Crossing(key: key, state: crossing.state, fires: region.state != .unknown && isAsked))
            watched[key]?.state = crossing.state
        }
        return crossings
    }

    private static func isOnEarth(_ latitude: Double, _ longitude: Double) -> Bool {
        abs(latitude) <= 90 && abs(longitude) <= 180
    }

    /// The side on which a position certainly is; `unknown` for one too near to the edge.
    ///
    /// The uncertainty of a position whose accuracy is within the diameter, or within 100 m, counts as half of the
    /// radius at most, so that small regions can be entered. A less accurate position is outside when all of its
    /// uncertainty is.
    private static func side(
        of region: NotificationTrigger.Region, latitude: Double, longitude: Double, accuracy: Double
    ) -> State {
        let isExact = accuracy <= max(2 * region.radius, Self.ordinaryAccuracy)
        let margin = isExact ? min(accuracy, region.radius / 2) : accuracy
        let distance = distance(
            region.latitude, longitude: region.longitude, toLatitude: latitude, toLongitude: longitude)
        if distance + margin < region.radius { return .inside }
        return distance - margin > region.radius ? .outside : .unknown
    }

    /// The distance in metres between two positions on a sphere, by the haversine formula.
    static func distance(_ latitude: Double, longitude: Double, toLatitude: Double, toLongitude: Double) -> Double {
        let radians = Double.pi / 180
        let north = sin((toLatitude - latitude) * radians / 2)
        let east = sin((toLongitude - longitude) * radians / 2)
        let part = north * north + cos(latitude * radians) * cos(toLatitude * radians) * east * east
        return 2 * 6_371_008.8 * asin(min(1, part.squareRoot()))
    }
}
