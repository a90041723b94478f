/// The devices that have created accounts lately. A value.
///
/// Guarantees: a device creates at most ``limit`` accounts in ``period``, since each reserves space on the server's
/// disk. Only devices that have created one in that time are remembered.
struct AccountCreationLimiter: Sendable {
    /// How many accounts one device begins.
    static let limit = 32
    /// A day, in milliseconds.
    static let period: Int64 = 86_400_000

    private var counts: [String: Int] = [:]
    private var began: Int64?

    /// Whether a device may begin an account.
    func allows(_ device: String, at now: Int64) -> Bool {
        guard let began, now - began < Self.period, now >= began else { return true }
        return counts[device, default: 0] < Self.limit
    }

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
