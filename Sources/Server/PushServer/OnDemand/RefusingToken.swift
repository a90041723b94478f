import APNsProtocol

/// The device tokens that are always refused in one way, for tests of a sender's code for errors: 60 zeros, and the digits
/// of a case.
package enum RefusingToken: String, CaseIterable, Sendable {
    /// The token is no token.
    case invalid = "0400"
    /// The token is one of another app or sender.
    case foreign = "0403"
    /// The app was removed from the device.
    case gone = "0410"
    /// The device was sent too much.
    case tooMany = "0429"
    /// The server failed.
    case failed = "0500"
    /// The server cannot take the request now.
    case unavailable = "0503"

    /// The token for which no answer comes, on a development server.
    package static let silent = String(repeating: "0", count: 60) + "0408"

    /// Reads a token; `nil` for any other.
    package init?(_ token: DeviceToken) {
        let digits = token.description
        guard digits.dropLast(4).allSatisfy({ $0 == "0" }) else { return nil }
        self.init(rawValue: String(digits.suffix(4)))
    }

    /// The reason that APNs gives.
    package var reason: APNsReason {
        switch self {
        case .invalid: .badDeviceToken
        case .foreign: .deviceTokenNotForTopic
        case .gone: .unregistered
        case .tooMany: .tooManyRequests
        case .failed: .internalServerError
        case .unavailable: .serviceUnavailable
        }
    }

    /// The sentence in timelines and messages.
    package static let note = "the token stands for this answer"
}
