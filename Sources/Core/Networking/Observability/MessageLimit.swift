/// How often a message is written that may come many times a second: at most once in an interval, each time with how often it
/// came. A value; times are an uptime in milliseconds.
package struct MessageLimit: Sendable {
    private let interval: Int64
    private var silentUntil = Int64.min
    private var unwritten = 0

    /// A message that has not come yet.
    ///
    /// - Parameter milliseconds: The shortest time between two lines.
    package init(milliseconds: Int64) { interval = milliseconds }

    /// Counts the message.
    ///
    /// - Parameter amount: How much it adds to the count; 1 for one occurrence.
    /// - Returns: The count since the last line, where a line is to be written now; `nil` where it is left out.
    package mutating func count(_ amount: Int = 1, at uptime: Int64) -> Int? {
        unwritten += amount
        guard uptime >= silentUntil else { return nil }
        silentUntil = uptime + interval
        defer { unwritten = 0 }
        return unwritten
    }
}
