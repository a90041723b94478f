import PushCore

/// The credential with which a hub sends to another push service.
package struct PushCredential: Hashable, Sendable {
    /// The kind of a credential, which determines the push service.
    package enum Kind: String, Sendable, CaseIterable {
        /// Apple's provider tokens (ES256).
        case apns
        /// Apple's client certificate.
        case apnsCertificate = "apns-certificate"
        /// A service account for FCM's HTTP v1 API.
        case fcm
        /// A VAPID key for Web Push (RFC 8292).
        case webpush

        /// The push service's name; a hub has one credential for each service and environment.
        package var service: String {
            switch self {
            case .apns, .apnsCertificate: "apns"
            case .fcm: "fcm"
            case .webpush: "webpush"
            }
        }
    }

    /// The credential's number in the store; a replacement has another.
    package var number: Int64
    /// The number of the hub.
    package var hub: Int64
    /// The credential's kind.
    package var kind: Kind
    /// The environment at Apple that the credential is for; `nil` for other push services.
    package var environment: PushEnvironment?
    /// The address of the push service: `https://host`; empty for Web Push, whose subscriptions contain it.
    package var address: String
    /// The credential's identifier: a key's id, a certificate's name, a service account's e-mail, a VAPID public key.
    package var name: String
    /// The team at Apple, the project at FCM, or the contact address for Web Push services.
    package var owner: String
    /// The private key, certificate and key, or service account, as text.
    @Secret package var secret: String
    /// Certificates in PEM that are trusted instead of the system's; `nil` for the system's.
    package var authority: String?
    /// The time at which the credential expires; `nil` for never.
    package var expiresAt: Timestamp?
    /// The time at which the credential was added.
    package var createdAt: Timestamp

    /// Creates an instance from its properties.
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

    /// The time before its expiration from which a credential is warned about: 30 days, in milliseconds.
    private static let notice: Int64 = 30 * 86_400_000

    /// A warning about the credential's expiration; `nil` while that is far.
    package func warning(at now: Timestamp) -> String? {
        guard let expiresAt, expiresAt.milliseconds(since: now) < Self.notice else { return nil }
        let what = "the \(kind.rawValue) credential \(name)"
        return expiresAt <= now ? "\(what) expired at \(expiresAt)" : "\(what) expires at \(expiresAt)"
    }
}
