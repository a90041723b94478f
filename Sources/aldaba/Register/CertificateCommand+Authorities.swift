import APNsProtocol
import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore
import PushServer

extension CertificateCommand {
    /// `aldaba certificate import-ca`.
    struct ImportAuthority: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "import-ca",
            abstract: "Add a team's own authority: certificates that it signs for the team's apps are accepted.",
            discussion: "Its certificates say what Apple's do: a UID with the bundle id, and Apple's extensions.")
        @Argument(help: "The authority's certificate, PEM or DER.") var file: String
        @Option(help: "The team whose apps its certificates may be for: ten characters A-Z0-9.") var team: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            guard TeamID.hasShape(team) else {
                throw CommandError(.invalidInput, "--team: \"\(team)\" is not ten characters A-Z0-9")
            }
            let authority: CertificateAuthority
            do { authority = try CertificateAuthority(der: EncodedFile.first(["CERTIFICATE"], in: file)) } catch let
                fault as ProviderCertificate.Malformed
            {
                throw EncodedFile.Unusable(path: file, reason: "\(fault)")
            }
            guard authority.isValid(at: presentTime()) else {
                throw CommandError(
                    .invalidInput, "\(file): it is valid from \(authority.notBefore) to \(authority.notAfter) only")
            }
            let entry = RegisteredAuthority(
                authorityID: RegisterID.random(), team: TeamID(rawValue: team), authority: authority,
                createdAt: presentTime())
            try await ServerRegister.changing(
                location.folder, AuditChange(.addAuthority, entry.authorityID, team: team),
                after: { AuditedObject(AuthorityView(entry)) }
            ) { try await $0.register.addCertificateAuthority(entry) }
            try CertificateCommand.show(entry, json: json)
        }
    }

    /// `aldaba certificate list-ca`.
    struct ListAuthorities: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list-ca", abstract: "List the authorities that were imported.")
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON array.") var json = false

        func run() async throws {
            let entries = try await ServerRegister.reading(location.folder) { try await $0.certificateAuthorities() }
            if json { return try print(JSONLine.of(entries.map(AuthorityView.init))) }
            for entry in entries { try CertificateCommand.show(entry, json: false) }
        }
    }

    /// `aldaba certificate revoke-ca`.
    struct RevokeAuthority: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "revoke-ca",
            abstract: "Remove an imported authority: its certificates are refused from the next request on.")
        @Argument(help: "The authority's id, as `list-ca` shows it.") var authorityID: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let entry = try await ServerRegister.changing(
                location.folder, AuditChange(.revokeAuthority, authorityID),
                before: { store in
                    try await store.register.certificateAuthorities().first { $0.authorityID == authorityID }
                        .map { AuditedObject(team: $0.team, AuthorityView($0)) }
                }
            ) { store in
                let entry = try await store.register.revokeCertificateAuthority(authorityID, at: presentTime())
                guard let entry else {
                    throw CommandError(
                        .invalidInput,
                        "the register has no authority \(authorityID); `aldaba certificate list-ca` shows those it has")
                }
                return entry
            }
            try CertificateCommand.show(entry, json: json)
        }
    }

    static func show(_ entry: RegisteredAuthority, json: Bool) throws {
        let view = AuthorityView(entry)
        print(json ? try JSONLine.of(view) : view.line)
    }
}
