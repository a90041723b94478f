import APNsProtocol
import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore
import PushServer
import SQLiteStore

extension CertificateCommand {
    /// `aldaba certificate list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the certificates in the server's register, also those that were revoked or have ended.")
        @Option(help: "Only those of one app.") var app: String?
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON array.") var json = false

        func run() async throws {
            let entries = try await ServerRegister.reading(location.folder) { try await $0.providerCertificates() }
                .filter { app == nil || $0.certificate.bundleID.rawValue == app }
            if json { return try print(JSONLine.of(entries.map { CertificateView($0, at: presentTime()) })) }
            for entry in entries { try show(entry, json: false) }
        }
    }

    /// `aldaba certificate show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a certificate and its state.")
        @Argument(help: "The certificate's id, or a file with a certificate.") var certificate: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let entry: RegisteredCertificate
            if TeamID.hasShape(certificate) {
                entry = try await ServerRegister.reading(location.folder) {
                    try await CertificateCommand.entry(certificate, $0)
                }
            } else {
                let read = try CertificateCommand.read(certificate)
                let known = try await ServerRegister.reading(location.folder) { try await $0.providerCertificates() }
                guard let found = known.first(where: { $0.certificate.der == read.der }) else {
                    throw CommandError(
                        .invalidInput,
                        "\(certificate): the register does not have this certificate of \(read.bundleID); "
                            + "`aldaba certificate import` adds it")
                }
                entry = found
            }
            let view = CertificateView(entry, at: presentTime())
            print(json ? try JSONLine.of(view) : view.text)
        }
    }

    /// `aldaba certificate download`.
    struct Download: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Write a certificate into a file: .pem for PEM, anything else for DER.")
        @Argument(help: "The certificate's id.") var certificateID: String
        @Option(help: "The file.") var output: String
        @OptionGroup var location: FolderOption

        func run() async throws {
            let entry = try await ServerRegister.reading(location.folder) {
                try await CertificateCommand.entry(certificateID, $0)
            }
            var options = SigningOptions()
            options.output = output
            print(try options.write(entry.certificate, name: output))
        }
    }

    /// `aldaba certificate revoke`.
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a certificate for good: the server refuses it from the next request on.",
            discussion: "Connections that were opened with it stay open, and get 403 BadCertificate.")
        @Argument(help: "The certificate's id, or a file with it: also one that an imported authority signed.")
        var certificate: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let entry = try await ServerRegister.changing(
                location.folder, AuditChange(.revokeCertificate, certificate),
                after: { AuditedObject(CertificateView($0, at: presentTime())) }
            ) { store in
                guard let entry = try await revoked(in: store.register) else {
                    throw CommandError(.invalidInput, "the certificate \(certificate) was revoked before")
                }
                return entry
            }
            if json { return try CertificateCommand.show(entry, json: true) }
            print(Terminal.text("revoked certificate \(entry.certificateID) of \(entry.certificate.bundleID)"))
        }

        /// The certificate with its revocation; `nil` where it was revoked before.
        private func revoked(in store: any ServerStoreRegister) async throws -> RegisteredCertificate? {
            let now = presentTime()
            if TeamID.hasShape(certificate) {
                _ = try await CertificateCommand.entry(certificate, store)
                return try await store.revokeProviderCertificate(certificate, at: now)
            }
            let read = try CertificateCommand.read(certificate)
            let known = try await store.providerCertificates().first { $0.certificate.der == read.der }
            if let known { return try await store.revokeProviderCertificate(known.certificateID, at: now) }
            let app = try await CertificateCommand.app(read.bundleID, store)
            return try await CertificateCommand.add(read, of: app.team, revokedAt: now, store).0
        }
    }

    static func show(_ entry: RegisteredCertificate, path: String? = nil, json: Bool) throws {
        let view = CertificateView(entry, at: presentTime(), path: path)
        print(json ? try JSONLine.of(view) : view.line)
    }
}
