import Crypto
import PushCore

/// A secret of 256 bits that is shown once and stored as its hash: of a session, or of a link.
package struct OneSecret: Sendable {
    /// The secret as text.
    @Secret package var text: String

    /// Draws a secret.
    package init() { text = Base64URL.encode(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) }) }

    /// A secret that a browser shows.
    package init(text: String) { self.text = text }

    /// The token's SHA-256, which is stored.
    package var hash: [UInt8] { Array(SHA256.hash(data: Array(text.utf8))) }

    /// Another secret that only the holder of this one can compute.
    ///
    /// - Parameter purpose: A word that keeps the derived secrets apart.
    package func derived(for purpose: String) -> String {
        let code = HMAC<SHA256>.authenticationCode(
            for: Array(purpose.utf8), using: SymmetricKey(data: Array(text.utf8)))
        return Base64URL.encode(Array(code))
    }
}

/// A session of a person in a browser.
package struct ConsoleSession: Hashable, Sendable {
    /// How long a session lasts without a request.
    package static let idle = Duration.seconds(12 * 3600)
    /// How long a log-in counts for the pages of what is dangerous.
    package static let confirmation = Duration.seconds(600)
    /// How long it counts for their forms, which take a while to fill in.
    package static let formConfirmation = Duration.seconds(3600)
    /// How often the time of the last request is stored.
    package static let noted = Duration.seconds(60)

    /// The hash of the session's secret.
    package var hash: [UInt8]
    /// The person.
    package var person: PersonID
    /// The time of the log-in.
    package var createdAt: Timestamp
    /// The time at which the person last showed who it is.
    package var confirmedAt: Timestamp
    /// The time of the last request, to a minute.
    package var usedAt: Timestamp
    /// The address of the log-in.
    package var address: String
    /// The browser of the log-in as it names itself, at most 200 characters.
    package var agent: String
    /// The team in which the person acts; `nil` for all teams.
    package var team: TeamID?

    /// Creates a session.
    package init(
        hash: [UInt8], person: PersonID, createdAt: Timestamp, confirmedAt: Timestamp, usedAt: Timestamp,
        address: String, agent: String, team: TeamID? = nil
    ) {
        self.hash = hash
        self.person = person
        self.createdAt = createdAt
        self.confirmedAt = confirmedAt
        self.usedAt = usedAt
        self.address = address
        self.agent = agent
        self.team = team
    }

    /// Whether the session has ended.
    package func isOver(at now: Timestamp) -> Bool { now > usedAt + Self.idle }

    /// Whether the person has shown recently who it is.
    ///
    /// - Parameter isForm: Whether a form is sent, whose page was opened before.
    package func isConfirmed(forForm isForm: Bool, at now: Timestamp) -> Bool {
        now <= confirmedAt + (isForm ? Self.formConfirmation : Self.confirmation)
    }

    /// An id of the session that is no secret, for lists and forms.
    package var id: String { Base64URL.encode(Array(hash.prefix(9))) }
}

/// A link by which a person sets a password, once.
package struct PersonLink: Hashable, Sendable {
    /// How long a link for the first owner is valid.
    package static let setUp = Duration.seconds(600)
    /// How long the link of a person who was added is valid.
    package static let invitation = Duration.seconds(24 * 3600)

    /// The hash of the link's secret.
    package var hash: [UInt8]
    /// The person; `nil` for the first owner, who does not exist yet.
    package var person: PersonID?
    /// The end of the link.
    package var expiresAt: Timestamp

    /// Creates a link.
    package init(hash: [UInt8], person: PersonID?, expiresAt: Timestamp) {
        self.hash = hash
        self.person = person
        self.expiresAt = expiresAt
    }
}
