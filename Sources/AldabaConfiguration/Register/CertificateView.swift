import APNsProtocol
import Foundation
import PushCore
import PushServer

/// A certificate of the register as commands show it; its members are those of the JSON.
package struct CertificateView: Encodable, Sendable {
    /// A topic with its kinds.
    package struct TopicView: Encodable, Sendable {
        /// The topic as it is written in `apns-topic`.
        package var topic: String
        /// Apple's names of the topic's uses.
        package var kinds: [String]
    }

    /// The certificate's id in the register.
    package var certificateId: String
    /// The team that owns it.
    package var teamId: String
    /// The bundle id that it is for.
    package var app: String
    /// The subject's `CN`.
    package var commonName: String
    /// `sandbox`, `production`, or both in this order.
    package var environments: [String]
    /// The topics that the certificate allows.
    package var topics: [TopicView]
    /// ISO 8601.
    package var notBefore: String
    /// ISO 8601.
    package var notAfter: String
    /// SHA-256 of the certificate, two digits a byte, with colons.
    package var fingerprint: String
    /// `valid`, `ended` or `revoked`.
    package var state: String
    /// ISO 8601; `nil` while it was not revoked.
    package var revokedAt: String?
    /// The file that it was written to; `nil` where it was not.
    package var path: String?

    /// Shows an entry as it is at an instant.
    package init(_ entry: RegisteredCertificate, at now: Timestamp, path: String? = nil) {
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
    package var line: String {
        TerminalText.line(
            "\(certificateId)  \(commonName)  \(environments.joined(separator: "+"))  until \(notAfter)  \(state)"
                + (path.map { "  \($0)" } ?? ""))
    }

    /// All of it for people, a line each.
    package var text: String {
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
package struct AuthorityView: Encodable, Sendable {
    /// The authority's id in the register.
    package var authorityId: String
    /// The team whose apps its certificates may be for.
    package var teamId: String
    /// The subject.
    package var name: String
    /// ISO 8601.
    package var notAfter: String

    /// Shows an entry.
    package init(_ entry: RegisteredAuthority) {
        authorityId = entry.authorityID
        teamId = entry.team.rawValue
        name = entry.authority.name
        notAfter = entry.authority.notAfter.description
    }

    /// The authority on one line, for people.
    package var line: String { TerminalText.line("\(authorityId)  \(name)  team \(teamId)  until \(notAfter)") }
}
