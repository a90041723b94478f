/// Tells where the machine is; the port behind which GeoClue, a file or a program stands.
///
/// Every method may be called on any thread and returns at once.
public protocol PositionSource: Sendable {
    /// What it is, in words for the log and for a terminal, such as "GeoClue" or "the file /run/position".
    var name: String { get }

    /// Begins to look where the machine is; only while something waits for a place. May be called again after `rest`.
    ///
    /// - Parameter events: Called on a thread of the source's; must not block.
    func start(events: @escaping @Sendable (PositionEvent) -> Void)

    /// Nothing waits for a place any more: what costs power ends.
    func rest()

    /// Ends its thread; nothing is reported any more.
    func stop()
}

/// What a source tells.
public enum PositionEvent: Sendable, Hashable {
    /// The machine is here, as exactly as the position says.
    case position(Position)
    /// There is no position at this time, and why, in words.
    case unavailable(reason: String)
}

/// A position on the earth (WGS 84).
public struct Position: Sendable, Hashable {
    /// Degrees north, -90 to 90.
    public var latitude: Double
    /// Degrees east, -180 to 180.
    public var longitude: Double
    /// By how many metres it may be wrong; at least 0.
    public var accuracy: Double

    /// Takes the numbers as they are; who uses them refuses what is not on the earth.
    public init(latitude: Double, longitude: Double, accuracy: Double) {
        self.latitude = latitude
        self.longitude = longitude
        self.accuracy = accuracy
    }
}
