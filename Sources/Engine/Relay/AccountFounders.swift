/// Which devices have begun accounts of late: a value.
///
/// Guarantees: a device begins at most ``limit`` accounts in ``period``, since each has room of its own on the server's disk. What is kept
/// is of the devices that have begun one in that time.
struct AccountFounders: Sendable {
    /// How many accounts one device begins.
    static let limit = 32
    /// A day, in milliseconds.
    static let period: Int64 = 86_400_000

    private var counts: [String: Int] = [:]
    private var began: Int64?

    /// Notes that a device begins an account.
    ///
    /// - Returns: Whether it may.
    mutating func mayFound(_ device: String, at now: Int64) -> Bool {
        if began.map({ now - $0 >= Self.period || now < $0 }) ?? true {
            began = now
            counts = [:]
        }
        guard counts[device, default: 0] < Self.limit else { return false }
        counts[device, default: 0] += 1
        return true
    }
}
