import AgentWire
import Foundation

/// Which circles on the earth the machine is in, and when it crosses into one or out of one.
///
/// A value: positions and times come in, crossings come out. A crossing counts when the position is beyond the circle's edge by
/// more than it may be wrong, or by half of the radius where that is less, and has stayed so for twenty seconds. A position that
/// may be wrong by more than the circle is wide, and by more than 100 m, tells only that the machine is outside, where it does.
/// What is known of a circle for the first time is no crossing.
public struct RegionWatch: Sendable {
    /// What is known of a circle, for the owner to keep and give back, so that what is crossed meanwhile is noticed.
    public enum State: String, Hashable, Sendable, Codable {
        case unknown, inside, outside
    }

    /// A crossing that counts.
    public struct Crossing: Hashable, Sendable {
        public var key: Int64
        /// Where the machine is now, with regard to the circle; the owner stores it.
        public var state: State
        /// Whether it is one to tell of: the first that is known of a circle is not, and neither is a side that is not
        /// asked for.
        public var fires: Bool

        public init(key: Int64, state: State, fires: Bool) {
            self.key = key
            self.state = state
            self.fires = fires
        }
    }

    /// Why something is not taken.
    public enum Refusal: Error, Hashable, Sendable {
        /// A number that is not finite, or beyond what latitudes (90), longitudes (180), radii (above 0, up to
        /// ``RegionWatch/largestRadius``) and accuracies (0 and more) are.
        case notOnEarth
        /// As many circles as there may be are watched.
        case full
    }

    /// In metres: beyond half way round the earth there is no outside.
    public static let largestRadius: Double = 20_000_000
    /// How long a crossing must last, in milliseconds.
    public static let dwell: Int64 = 20_000
    /// How many metres a position by what a city has, such as wireless networks, may be wrong.
    private static let ordinaryAccuracy: Double = 100

    private struct Watched: Sendable {
        var region: NotificationTrigger.Region
        var state: State
        var candidate: (state: State, since: Int64)?
    }

    private var watched: [Int64: Watched] = [:]
    /// The last position, for circles that are added later.
    private var last: (latitude: Double, longitude: Double, accuracy: Double, since: Int64)?
    private let most: Int

    /// - Parameter most: how many circles may be watched.
    public init(most: Int = 4096) { self.most = max(0, most) }

    /// How many circles are watched.
    public var count: Int { watched.count }

    /// What is known of a circle; `nil` for one that is not watched.
    public func state(of key: Int64) -> State? { watched[key]?.state }

    /// When `timePassed` has something to tell, in milliseconds since the system's start; `nil` when nothing is crossed.
    public var nextDeadline: Int64? {
        watched.values.compactMap { $0.candidate.map { $0.since.saturatingSum(Self.dwell) } }.min()
    }

    /// The keys of all that are watched.
    public var keys: some Collection<Int64> { watched.keys }

    /// On which side of a circle the machine seems to be, which does not count yet, and since when in milliseconds since the
    /// system's start; `nil` when it is where it was, or that is not known.
    public func crossing(of key: Int64) -> (state: State, since: Int64)? { watched[key]?.candidate }

    /// Whether somebody knows where the machine is.
    public var hasPosition: Bool { last != nil }

    /// Nobody knows any more where the machine is. What has not lasted long enough begins anew with the next position.
    public mutating func forgetPosition() {
        last = nil
        for key in Array(watched.keys) { watched[key]?.candidate = nil }
    }

    /// Has what has not lasted long enough last from now on: meanwhile nobody looked, as the machine may have slept.
    public mutating func beginDwellAnew(sinceBoot: Int64) {
        for key in Array(watched.keys) { watched[key]?.candidate?.since = sinceBoot }
    }

    /// Watches a circle from now on, with what was known of it and by the last position; one with the same key is replaced,
    /// and goes on when it is the same circle.
    public mutating func add(
        _ key: Int64, _ region: NotificationTrigger.Region, state: State = .unknown
    ) -> Refusal? {
        guard Self.isOnEarth(region.latitude, region.longitude), region.radius > 0, region.radius <= Self.largestRadius
        else {
            return .notOnEarth
        }
        guard watched.count < most || watched[key] != nil else { return .full }
        guard watched[key]?.region != region else { return nil }
        watched[key] = Watched(region: region, state: state)
        if let last { look(at: key, last.latitude, last.longitude, last.accuracy, since: last.since) }
        return nil
    }

    /// It is watched no more; nothing happens when it was not.
    public mutating func remove(_ key: Int64) { watched[key] = nil }

    /// The machine is somewhere.
    ///
    /// - Parameters:
    ///   - latitude: in degrees north.
    ///   - longitude: in degrees east.
    ///   - accuracy: by how many metres the position may be wrong.
    ///   - sinceBoot: when that was, in milliseconds since the system's start.
    /// - Returns: the crossings that count by now, by key; nothing for a position that is refused.
    public mutating func positionReported(
        latitude: Double, longitude: Double, accuracy: Double, sinceBoot: Int64
    ) -> Result<[Crossing], Refusal> {
        guard Self.isOnEarth(latitude, longitude), accuracy >= 0, accuracy.isFinite else {
            return .failure(.notOnEarth)
        }
        // What has lasted until now counts, also when this position is on the other side again.
        let crossings = timePassed(sinceBoot: sinceBoot)
        for key in Array(watched.keys) { look(at: key, latitude, longitude, accuracy, since: sinceBoot) }
        last = (latitude, longitude, accuracy, sinceBoot)
        return .success(crossings)
    }

    private mutating func look(
        at key: Int64, _ latitude: Double, _ longitude: Double, _ accuracy: Double, since: Int64
    ) {
        guard var circle = watched[key] else { return }
        let side = Self.side(of: circle.region, latitude, longitude, accuracy)
        switch side {
        case .unknown,
            _ where circle.candidate?.state == side:
            break
        case circle.state: circle.candidate = nil
        default: circle.candidate = (side, since)
        }
        watched[key] = circle
    }

    /// Time has passed: tells the crossings that have lasted, by key.
    public mutating func timePassed(sinceBoot: Int64) -> [Crossing] {
        var crossings: [Crossing] = []
        let lasting = watched.filter { _, circle in
            circle.candidate.map { sinceBoot.saturatingDifference($0.since) >= Self.dwell } ?? false
        }
        for key in lasting.keys.sorted() {
            guard var circle = watched[key], let candidate = circle.candidate else { continue }
            let isAsked = candidate.state == .inside ? circle.region.onEntry : circle.region.onExit
            crossings.append(
                Crossing(key: key, state: candidate.state, fires: circle.state != .unknown && isAsked))
            circle.state = candidate.state
            circle.candidate = nil
            watched[key] = circle
        }
        return crossings
    }

    private static func isOnEarth(_ latitude: Double, _ longitude: Double) -> Bool {
        abs(latitude) <= 90 && abs(longitude) <= 180
    }

    /// On which side of a circle's edge a position certainly is; `unknown` for one too near to tell.
    ///
    /// A position no less exact than the circle is wide, or than 100 m, counts as no more uncertain than half of the radius, so
    /// that small circles can be entered. Any other is outside where all of what it may mean is, and tells nothing elsewhere.
    private static func side(
        of region: NotificationTrigger.Region, _ latitude: Double, _ longitude: Double, _ accuracy: Double
    ) -> State {
        let isExact = accuracy <= max(2 * region.radius, Self.ordinaryAccuracy)
        let margin = isExact ? min(accuracy, region.radius / 2) : accuracy
        let distance = distance(region.latitude, region.longitude, latitude, longitude)
        if distance + margin < region.radius { return .inside }
        return distance - margin > region.radius ? .outside : .unknown
    }

    /// The metres between two positions on a sphere, by the haversine formula.
    static func distance(_ latitude: Double, _ longitude: Double, _ toLatitude: Double, _ toLongitude: Double) -> Double
    {
        let radians = Double.pi / 180
        let north = sin((toLatitude - latitude) * radians / 2)
        let east = sin((toLongitude - longitude) * radians / 2)
        let part = north * north + cos(latitude * radians) * cos(toLatitude * radians) * east * east
        return 2 * 6_371_008.8 * asin(min(1, part.squareRoot()))
    }
}
