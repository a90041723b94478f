import APNsProtocol
import Foundation
import PushCore
import PushServer

/// A certificate of the register as commands show it; its members are those of the JSON.
public struct CertificateView: Encodable, Sendable {
    /// A topic with its kinds.
    public struct TopicView: Encodable, Sendable {
        /// The topic as it is written in `apns-topic`.
        public var topic: String
        /// Apple's names of the topic's uses.
        public var kinds: [String]
    }

    /// The certificate's id in the register.
    public var certificateId: String
    /// The team that owns it.
    public var teamId: String
    /// The bundle id that it is for.
    public var app: String
    /// The subject's `CN`.
    public var commonName: String
    /// `sandbox`, `production`, or both in this order.
    public var environments: [String]
    /// The topics that the certificate allows.
    public var topics: [TopicView]
    /// ISO 8601.
    public var notBefore: String
    /// ISO 8601.
    public var notAfter: String
    /// SHA-256 of the certificate, two digits a byte, with colons.
    public var fingerprint: String
    /// `valid`, `ended` or `revoked`.
    public var state: String
    /// ISO 8601; `nil` while it was not revoked.
    public var revokedAt: String?
    /// The file that it was written to; `nil` where it was not.
    public var path: String?

    /// Shows an entry as it is at an instant.
    public init(_ entry: RegisteredCertificate, at now: Timestamp, path: String? = nil) {
        let certificate = entry.certificate
        certificateId = entry.certificateID
        teamId = entry.team.rawValue
        app = certificate.bundleID.rawValue
        commonName = certificate.commonName
        environments = certificate.environments.map(\.rawValue).sorted(by: >)
        topics = certificate.topics.map { TopicView(topic: $0.topic.rawValue, kinds: $0.kinds) }
        notBefore = certificate.notBefore.description
        notAfter = certificate.notAfter.description
        fingerprint = certificate.fingerprint.map { String(format: "%02X", $0) }.joined(separator: ":")
        state = entry.revokedAt != nil ? "revoked" : certificate.notAfter < now ? "ended" : "valid"
        revokedAt = entry.revokedAt?.description
        self.path = path
    }

    /// The certificate on one line, for people.
    public var line: String {
        TerminalText.line(
            "\(certificateId)  \(commonName)  \(environments.joined(separator: "+"))  until \(notAfter)  \(state)"
                + (path.map { "  \($0)" } ?? ""))
    }

    /// All of it for people, a line each.
    public var text: String {
        """
        certificate  \(certificateId)
        name         \(TerminalText.line(commonName))
        team         \(teamId)
        app          \(app)
        environments \(environments.joined(separator: ", "))
        topics       \(topics.map(\.topic).joined(separator: ", "))
        valid        \(notBefore) to \(notAfter)
        fingerprint  \(fingerprint)
        state        \(state)
        """
    }
}

/// An authority of the register as commands show it; its members are those of the JSON.
public struct AuthorityView: Encodable, Sendable {
    /// The authority's id in the register.
    public var authorityId: String
    /// The team whose apps its certificates may be for.
    public var teamId: String
    /// The subject.
    public var name: String
    /// ISO 8601.
    public var notAfter: String

    /// Shows an entry.
    public init(_ entry: RegisteredAuthority) {
        authorityId = entry.authorityID
        teamId = entry.team.rawValue
        name = entry.authority.name
        notAfter = entry.authority.notAfter.description
    }

    /// The authority on one line, for people.
    public var line: String { TerminalText.line("\(authorityId)  \(name)  team \(teamId)  until \(notAfter)") }
}
