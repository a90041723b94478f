import APNsProtocol

/// The limits that Apple's servers put on the connection of a provider. A value without I/O.
///
/// Sources: Apple, "Establishing a token-based connection to APNs" and "Handling notification responses from APNs", for the
/// one stream, and for errors that slow a connection and then end it. The numbers of the error budget are this server's.
struct AppleLimits: Sendable {
    /// An action on the connection.
    enum Action: Hashable, Sendable {
        /// Announce another number of streams.
        case limitStreams(UInt32)
        /// Send GOAWAY with a reason, and close the connection once the open requests have responses.
        case end(APNsReason)
    }

    /// The number of streams of a connection whose latest request was accepted.
    static let streams: UInt32 = 1000
    /// The points that errors of a connection may cost.
    static let budget = 50

    private(set) var isSlowed = true
    private(set) var cost = 0
    private var hasEnded = false

    /// Handles the first request of a connection with a client certificate, which needs no token to prove.
    mutating func handleCertificate() -> Action? { quicken() }

    /// Handles an accepted request.
    mutating func handleAcceptance() -> Action? {
        cost = max(0, cost - 1)
        return quicken()
    }

    /// Handles a refused request. Apple counts neither its own failures nor dead tokens.
    mutating func handleRefusal(_ reason: APNsReason) -> Action? {
        guard (400..<500).contains(reason.status), reason.status != 410, !hasEnded else { return nil }
        cost += reason == .badDeviceToken ? 2 : 1
        if cost >= Self.budget {
            hasEnded = true
            return .end(.tooManyRequests)
        }
        guard !isSlowed else { return nil }
        isSlowed = true
        return .limitStreams(1)
    }

    private mutating func quicken() -> Action? {
        guard isSlowed, !hasEnded else { return nil }
        isSlowed = false
        return .limitStreams(Self.streams)
    }
}
