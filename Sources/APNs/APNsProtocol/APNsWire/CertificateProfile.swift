import PushCore
import SwiftASN1
import X509

/// The contents of a provider certificate, as Apple writes them: the subject and the extensions, ready to be signed.
package struct CertificateProfile: Hashable, Sendable {
    /// The app's own topic.
    package var bundleID: Topic
    /// The team that owns the app: the subject's `OU`.
    package var team: TeamID
    /// The environments that the certificate is for; at least one.
    package var environments: Set<PushEnvironment>
    /// `voip`, `complication`: what may be sent to beside the app.
    package var services: [String]

    /// How long a certificate may last, in days: about two years.
    package static let longestDays = 825

    /// The services that have a place in a certificate.
    package static let knownServices = ["voip", "complication"]

    /// Takes what was asked for; nothing is checked.
    package init(bundleID: Topic, team: TeamID, environments: Set<PushEnvironment>, services: [String] = []) {
        self.bundleID = bundleID
        self.team = team
        self.environments = environments
        self.services = services
    }

    /// The profile of an existing certificate.
    package init(of certificate: ProviderCertificate, team: TeamID) {
        self.init(
            bundleID: certificate.bundleID, team: team, environments: certificate.environments,
            services: certificate.topics.flatMap(\.kinds).filter(Self.knownServices.contains))
    }

    /// The subject's `CN`: by it, people tell the certificates apart in a keychain.
    package var commonName: String {
        environments == [.sandbox]
            ? "Apple Development IOS Push Services: \(bundleID)" : "Apple Push Services: \(bundleID)"
    }

    /// `UID`, `CN`, `OU`.
    package func subject() throws -> DistinguishedName {
        try DistinguishedName([
            RelativeDistinguishedName.Attribute(type: .userID, utf8String: bundleID.rawValue),
            RelativeDistinguishedName.Attribute(type: .commonName, utf8String: commonName),
            RelativeDistinguishedName.Attribute(
                type: ASN1ObjectIdentifier.RDNAttributeType.organizationalUnitName, utf8String: team.rawValue),
        ])
    }

    /// Apple's own extensions.
    package func extensions() throws -> [Certificate.Extension] {
        let null = ArraySlice<UInt8>([5, 0])
        func mark(_ oid: ASN1ObjectIdentifier) -> Certificate.Extension {
            Certificate.Extension(oid: oid, critical: false, value: null)
        }
        var extensions: [Certificate.Extension] = []
        if environments.contains(.sandbox) { extensions.append(mark(.pushDevelopment)) }
        if environments.contains(.production) { extensions.append(mark(.pushProduction)) }
        if services.contains("voip") { extensions.append(mark(.pushVoIP)) }
        var serializer = DER.Serializer()
        try serializer.serialize(
            CertificateTopicList(topics: [.app(bundleID)] + services.map { .service($0, of: bundleID) }))
        extensions.append(
            Certificate.Extension(oid: .pushTopics, critical: false, value: serializer.serializedBytes[...]))
        return extensions
    }
}
