import PushModel

/// With what a hub sends by another push service.
package struct PushCredential: Hashable, Sendable {
    /// What kind of credential it is, and so of which push service.
    package enum Kind: String, Sendable, CaseIterable {
        /// Apple's, by provider tokens (ES256).
        case apns
        /// Apple's, by a client certificate.
        case apnsCertificate = "apns-certificate"
        /// FCM's HTTP v1, by a service account.
        case fcm
        /// Web Push, by VAPID (RFC 8292).
        case webpush

        /// What a hub has one credential of, for each environment.
        package var service: String {
            switch self {
            case .apns, .apnsCertificate: "apns"
            case .fcm: "fcm"
            case .webpush: "webpush"
            }
        }
    }

    /// Its number in the store; one that takes its place has another.
    package var number: Int64
    /// Its hub's number.
    package var hub: Int64
    /// Its kind.
    package var kind: Kind
    /// The environment of Apple's that it is for; `nil` for other push services.
    package var environment: PushEnvironment?
    /// Where the push service is: `https://host`; of Web Push empty, since each subscription says that.
    package var address: String
    /// By what it is known: a key's id, a certificate's name, a service account's e-mail, a VAPID public key.
    package var name: String
    /// The team of Apple's, the project of FCM's, or whom Web Push services may turn to.
    package var owner: String
    /// The private key, certificate and key, or service account, as text.
    @Secret package var secret: String
    /// Certificates in PEM that are trusted instead of the system's; `nil` for those.
    package var authority: String?
    /// When it expires; `nil` where it does not.
    package var expiresAt: Timestamp?
    /// When it was added.
    package var createdAt: Timestamp

    /// Brings the parts together.
    package init(
        number: Int64 = 0, hub: Int64, kind: Kind, environment: PushEnvironment?, address: String, name: String,
        owner: String, secret: String, authority: String? = nil, expiresAt: Timestamp? = nil, createdAt: Timestamp
    ) {
        self.number = number
        self.hub = hub
        self.kind = kind
        self.environment = environment
        self.address = address
        self.name = name
        self.owner = owner
        _secret = Secret(secret)
        self.authority = authority
        self.expiresAt = expiresAt
        self.createdAt = createdAt
    }

    /// How long before its end a credential is warned about: 30 days.
    private static let notice: Int64 = 30 * 86_400_000

    /// What is to be said of its end; `nil` while that is far.
    package func warning(at now: Timestamp) -> String? {
        guard let expiresAt, expiresAt.milliseconds(since: now) < Self.notice else { return nil }
        let what = "the \(kind.rawValue) credential \(name)"
        return expiresAt <= now ? "\(what) expired at \(expiresAt)" : "\(what) expires at \(expiresAt)"
    }
}
