import APNsProtocol
import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore
import PushServer

/// `aldaba certificate`: provider certificates.
package struct CertificateCommand: AsyncParsableCommand {
    /// The name, the help and the subcommands.
    package static let configuration = CommandConfiguration(
        commandName: "certificate",
        abstract: "Sign, list and revoke provider certificates, the credential beside provider keys.",
        subcommands: [
            Sign.self, Renew.self, Import.self, List.self, Show.self, Download.self, Revoke.self,
            ImportAuthority.self, ListAuthorities.self, RevokeAuthority.self,
        ])

    /// Made by the parser, which fills it in.
    package init() {}

    /// The options for the signing authority, and for the file of the result.
    struct SigningOptions: ParsableArguments {
        @Option(help: "The days for which the certificate is valid.") var days = 365
        @Option(help: "Another authority's certificate, PEM or DER, with --ca-key; without it the data folder's own.")
        var ca: String?
        @Option(help: "The private key of the authority, PEM.") var caKey: String?
        @Option(help: "The file that gets the certificate: .pem for PEM, anything else for DER.") var output: String?

        func signingAuthority(in folder: DataFolder) throws -> SigningAuthority {
            guard (1...CertificateProfile.longestDays).contains(days) else {
                throw CommandError(.invalidInput, "--days: \(days) is not 1 to \(CertificateProfile.longestDays)")
            }
            switch (ca, caKey) {
            case (nil, nil): return try .development(folder: folder.providerAuthority, now: Date())
            case (let ca?, let key?): return try SigningAuthority(certificate: ca, key: key)
            default: throw CommandError(.usage, "--ca and --ca-key belong together")
            }
        }

        /// Writes the certificate.
        ///
        /// - Parameter name: The file's name where none was given.
        /// - Returns: The file's path.
        func write(_ certificate: ProviderCertificate, name: String) throws -> String {
            let path = output ?? name
            let bytes =
                path.hasSuffix(".pem") ? Array(EncodedFile.certificatePEM(certificate.der).utf8) : certificate.der
            try PrivateFile.write(bytes, to: path, mode: 0o644)
            return path
        }
    }

    /// `aldaba certificate sign`.
    struct Sign: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sign a certificate for an app, for the key of a certificate signing request.",
            discussion: """
                openssl req -new -newkey rsa:2048 -nodes -keyout push.key -out push.csr -subj /CN=push
                makes key and request. What the request says beside its key does not count.
                """,
            aliases: ["create"])
        @Argument(help: "The certificate signing request, PEM or DER.") var request: String
        @Option(help: "The app's topic, its bundle id.") var app: String
        @Option(help: "The certificate's environment: sandbox, production or both.") var environment = "sandbox"
        @Flag(help: "Calls as well: the topic with .voip.") var voip = false
        @Flag(help: "Complications as well: the topic with .complication.") var complication = false
        @OptionGroup var signing: SigningOptions
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let environments = try CertificateCommand.environments(environment)
            let request = try SigningRequest(path: request)
            let (entry, path) = try await ServerRegister.changing(
                location.folder, AuditChange(.addCertificate, app),
                after: { CertificateCommand.audited($0.0) }
            ) { whole in
                let store = whole.register
                let app = try await CertificateCommand.app(Topic(rawValue: app), store)
                guard app.isPushEnabled else {
                    throw CommandError(
                        .invalidInput,
                        "\(app.topic) does not have the capability; `aldaba app enable \(app.topic) push` gives it")
                }
                let services = (voip ? ["voip"] : []) + (complication ? ["complication"] : [])
                let certificate = try signing.signingAuthority(in: location.folder).sign(
                    request,
                    as: CertificateProfile(
                        bundleID: app.topic, team: app.team, environments: environments, services: services),
                    days: signing.days, now: Date())
                return try await CertificateCommand.add(certificate, of: app.team, store) {
                    try signing.write($0, name: environment == "sandbox" ? "aps_development.cer" : "aps.cer")
                }
            }
            try CertificateCommand.show(entry, path: path, json: json)
        }
    }

    /// `aldaba certificate renew`.
    struct Renew: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Sign a certificate anew: for the same app, environments and topics.",
            discussion: "The earlier one counts until it ends or is revoked.")
        @Argument(help: "The certificate's id: ten characters A-Z0-9.") var certificateID: String
        @Option(help: "A request with another key; without it the new certificate is for the old key.")
        var request: String?
        @OptionGroup var signing: SigningOptions
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let request = try request.map { try SigningRequest(path: $0) }
            let (entry, path) = try await ServerRegister.changing(
                location.folder, AuditChange(.addCertificate, certificateID),
                after: { CertificateCommand.audited($0.0) }
            ) { whole in
                let store = whole.register
                let earlier = try await CertificateCommand.entry(certificateID, store)
                let authority = try signing.signingAuthority(in: location.folder)
                let certificate =
                    try request.map {
                        try authority.sign(
                            $0, as: CertificateProfile(of: earlier.certificate, team: earlier.team),
                            days: signing.days, now: Date())
                    } ?? authority.renew(earlier.certificate, team: earlier.team, days: signing.days, now: Date())
                return try await CertificateCommand.add(certificate, of: earlier.team, store) {
                    try signing.write(
                        $0, name: $0.environments == [.sandbox] ? "aps_development.cer" : "aps.cer")
                }
            }
            try CertificateCommand.show(entry, path: path, json: json)
        }
    }

    /// `aldaba certificate import`.
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Add a certificate that somebody else signed, such as Apple's.",
            discussion: "Its private key stays where it is; who has that key may send to the app from now on.")
        @Argument(help: "The certificate, PEM or DER.") var file: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let certificate = try CertificateCommand.read(file)
            if let refusal = certificate.refusal(at: presentTime()), certificate.notAfter < presentTime() {
                throw CommandError(.invalidInput, "\(file): \(refusal.note ?? "it has ended")")
            }
            let (entry, _) = try await ServerRegister.changing(
                location.folder, AuditChange(.addCertificate, certificate.bundleID.rawValue),
                after: { CertificateCommand.audited($0.0) }
            ) { whole in
                let store = whole.register
                let app = try await CertificateCommand.app(certificate.bundleID, store)
                return try await CertificateCommand.add(certificate, of: app.team, store)
            }
            try CertificateCommand.show(entry, json: json)
        }
    }

    /// A certificate that was added, as the audit log has it.
    private static func audited(_ entry: RegisteredCertificate) -> AuditedObject {
        AuditedObject(name: entry.certificateID, CertificateView(entry, at: presentTime()))
    }

    static func environments(_ text: String) throws -> Set<PushEnvironment> {
        if text == "both" { return [.sandbox, .production] }
        guard let environment = PushEnvironment(rawValue: text) else {
            throw CommandError(.invalidInput, "--environment: \"\(text)\" is not sandbox, production or both")
        }
        return [environment]
    }

    static func read(_ file: String) throws -> ProviderCertificate {
        let der = try EncodedFile.first(["CERTIFICATE"], in: file)
        do { return try ProviderCertificate(der: der) } catch {
            throw EncodedFile.Unusable(path: file, reason: "it is no provider certificate: \(error)")
        }
    }

    static func app(_ topic: Topic, _ store: any RegisterStore) async throws -> RegisteredApp {
        guard let app = try await store.apps().first(where: { $0.topic == topic }) else {
            throw CommandError(
                .invalidInput,
                "the register has no app \(topic); `aldaba app create \(topic)` adds it, `aldaba app list` shows those "
                    + "it has")
        }
        return app
    }

    static func entry(_ id: String, _ store: any CertificateRegister) async throws -> RegisteredCertificate {
        guard let entry = try await store.providerCertificates().first(where: { $0.certificateID == id }) else {
            throw CommandError(
                .invalidInput,
                "the register has no certificate \(id); `aldaba certificate list` shows those it has")
        }
        return entry
    }

    /// Adds a certificate under a new id. Its file is written first, so that the register has no certificate whose file
    /// is missing.
    static func add(
        _ certificate: ProviderCertificate, of team: TeamID, revokedAt: Timestamp? = nil,
        _ store: any CertificateRegister,
        write: (ProviderCertificate) throws -> String? = { _ in nil }
    ) async throws -> (RegisteredCertificate, String?) {
        let path = try write(certificate)
        let entry = RegisteredCertificate(
            certificateID: RegisterID.random(), team: team, certificate: certificate, createdAt: presentTime(),
            revokedAt: revokedAt)
        try await store.addProviderCertificate(entry)
        return (entry, path)
    }
}
