import PushCore

/// The evidence in one of Apple's responses about the environment of the credential that was used.
package enum EnvironmentSign: Hashable, Sendable {
    /// The token is, or was, one of that environment.
    case right
    /// The token is called bad: it is none, or it is of the other environment.
    ///
    /// - Parameters:
    ///   - environment: The credential's.
    ///   - isProven: Whether a token was right for the credential before.
    case doubtful(PushEnvironment, isProven: Bool)
    /// The installation is of an environment for which the hub has no credential, so nothing was asked.
    case missing(PushEnvironment)
}

/// The combined evidence of a send's responses about the environment of the hub's credential.
///
/// Apple answers `BadDeviceToken` for an invalid token and for every token of the other environment alike. So the fault
/// is the send's, and no channel's, where the first tokens received no other answer.
package struct EnvironmentEvidence: Hashable, Sendable {
    /// How many tokens were right.
    package var right: Int
    /// How many were called bad.
    package var bad: Int
    private var environment: PushEnvironment?
    private var isProven = false
    private var missing: PushEnvironment?

    /// So many bad answers, with none that was right beside them, are a fault of the send.
    package static let tooMany = 3

    /// Restores evidence from the counts so far.
    package init(right: Int = 0, bad: Int = 0) {
        self.right = right
        self.bad = bad
    }

    /// Adds the evidence of a response.
    package mutating func add(_ sign: EnvironmentSign?) {
        switch sign {
        case .right?: right += 1
        case .doubtful(let environment, let isProven)?:
            bad += 1
            self.environment = environment
            self.isProven = self.isProven || isProven
        case .missing(let environment)?: missing = environment
        case nil: break
        }
    }

    /// Whether bad answers are a fault of the send: no token was right in it. In addition, bad ones are too many, or
    /// the credential was never right for any token.
    package var isFault: Bool { bad > 0 && right == 0 && (bad >= Self.tooMany || !isProven) }

    /// The message about the send's environment, for people; `nil` where nothing is wrong with it.
    package var words: String? {
        if isFault {
            let name = environment?.rawValue ?? "one"
            return
                "Apple answers BadDeviceToken to every token so far: the hub's credential is for the environment \(name), the devices may be of the other one; no channel was marked dead"
        }
        return missing.map { environment in
            "some installations are of Apple's environment \(environment.rawValue), for which the hub has no credential; they got nothing"
        }
    }
}
