/// Reports the machine's position; a port, implemented by GeoClue, a file or a program.
///
/// Every method may be called on any thread and returns at once.
package protocol PositionSource: Sendable {
    /// The source's name for the log and for a terminal, such as "GeoClue" or "the file /run/position".
    var name: String { get }

    /// Begins to look where the machine is; only while something waits for a place. May be called again after `rest`.
    ///
    /// - Parameter events: Called on a thread of the source's; must not block.
    func start(events: @escaping @Sendable (PositionEvent) -> Void)

    /// No request waits for a place any more: everything that costs power ends.
    func rest()

    /// Ends its thread; nothing is reported any more.
    func stop()
}

/// An event of a position source.
package enum PositionEvent: Sendable, Hashable {
    /// The machine's position, as exact as its accuracy.
    case position(Position)
    /// There is no position at this time, for this reason.
    case unavailable(reason: String)
}

/// A position on the earth (WGS 84).
package struct Position: Sendable, Hashable {
    /// Degrees north, -90 to 90.
    package var latitude: Double
    /// Degrees east, -180 to 180.
    package var longitude: Double
    /// The radius of uncertainty, in metres; at least 0.
    package var accuracy: Double

    /// Takes the numbers as they are; who uses them refuses what is not on the earth.
    package init(latitude: Double, longitude: Double, accuracy: Double) {
        self.latitude = latitude
        self.longitude = longitude
        self.accuracy = accuracy
    }
}
