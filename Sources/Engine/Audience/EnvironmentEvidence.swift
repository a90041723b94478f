import PushModel

/// What an answer of Apple's says of the environment of the credential with which it was asked.
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

/// What a send's answers say, all together, of the environment of the hub's credential.
///
/// Apple answers `BadDeviceToken` for a token that is none and for every token of the other environment alike. So it is the send's
/// fault, and no channel's, where nothing but that was answered to the first tokens.
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

    /// What was counted before.
    package init(right: Int = 0, bad: Int = 0) {
        self.right = right
        self.bad = bad
    }

    /// Takes in what an answer says.
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

    /// Whether bad answers are a fault of the send: no token was right in it, and those that are bad are too many, or the
    /// credential was never right for any.
    package var isFault: Bool { bad > 0 && right == 0 && (bad >= Self.tooMany || !isProven) }

    /// What is to be said of the send; `nil` where nothing is wrong with it.
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
