import AldabaConfiguration
import ArgumentParser
import Foundation
import HubServer
import PushCore

/// `aldaba hub credential`: with what a hub sends by other push services.
struct HubCredentialCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "credential", abstract: "Set the credentials with which a hub sends to Apple, FCM and browsers.",
        subcommands: [Add.self, List.self, Remove.self])

    /// `aldaba hub credential add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Set a hub's credential for a push service and environment.",
            discussion: """
                A running server uses it from the next send on. Kinds:
                  apns              Apple's, with --key AuthKey_KEYID.p8 and --team
                  apns-certificate  Apple's, with --key FILE: certificate, chain and private key in PEM
                  fcm               FCM's HTTP v1, with --key SERVICE-ACCOUNT.json
                  webpush           Web Push, with --subject, and --key where there is a VAPID key already; else one is \
                made, and its public half, which browsers subscribe with, is printed. Another VAPID key takes the place of \
                the one that is there with --replace alone: browsers that subscribed with that one are not reached any more
                """)
        @Argument(help: "The hub's name.") var hub: String
        @Argument(help: "The kind: apns, apns-certificate, fcm, webpush.") var kind: String
        @Option(help: "The file of the key.") var key: String?
        @Option(help: "The id of Apple's key (default: the one in the name AuthKey_KEYID.p8).") var keyID: String?
        @Option(help: "The team that Apple's key is of (default: that of the hub's app).") var team: String?
        @Option(help: "The environment of Apple's that it is for: production, sandbox.") var environment = "production"
        @Option(help: "Whom Web Push services may turn to: mailto:ADDRESS or https://HOST.") var subject: String?
        @Option(help: "The push service's address, when it is not Apple's or Google's: https://host.") var address:
            String?
        @Option(help: "A file of certificates in PEM that are trusted instead of the system's.") var authority: String?
        @Flag(help: "Put another VAPID key in place of the one that is there: its browsers' subscriptions are lost.")
        var replace = false
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            guard let kind = PushCredential.Kind(rawValue: kind) else {
                throw CommandError(
                    .invalidInput,
                    "there is no kind \"\(kind)\"; there are "
                        + PushCredential.Kind.allCases.map(\.rawValue).joined(separator: ", "))
            }
            guard let environment = PushEnvironment(rawValue: environment) else {
                throw CommandError(.invalidInput, "--environment: there are production and sandbox")
            }
            let added = try await HubRegister.changing(
                location.folder, .setHubCredential, hub: hub,
                after: { AuditedObject(name: String($0.number), Shown($0)) }
            ) { database in
                let found = try await HubCommand.find(hub, database)
                var credential: PushCredential
                do { credential = try read(kind, environment: environment, of: found) } catch let fault
                    as CredentialReader.Fault
                {
                    throw CommandError(.invalidInput, fault.description)
                }
                if !replace { try await refuseAnotherKey(credential, database) }
                if let authority { credential.authority = try Self.text(authority, "--authority") }
                credential.number = try await database.setCredential(credential)
                return credential
            }
            if json { return try print(JSONLine.of(Shown(added))) }
            print(Terminal.text("credential \(added.number) of hub \(hub): \(HubCredentialCommand.words(added))"))
            if kind == .webpush { print(Terminal.text("browsers subscribe with applicationServerKey \(added.name)")) }
        }

        /// Refuses a VAPID key in place of another one. The same key with another subject loses nothing.
        private func refuseAnotherKey(_ credential: PushCredential, _ database: some HubStore) async throws {
            guard credential.kind == .webpush,
                let present = try await database.credentials(of: credential.hub)
                    .first(where: { $0.kind == .webpush && $0.name != credential.name })
            else { return }
            throw CommandError(
                .failed,
                "the hub \(hub) has the VAPID key \(present.name) already (credential \(present.number)): with another one "
                    + "every browser that subscribed with it is lost, and must subscribe again; --replace does it anyway"
            )
        }

        private func read(
            _ kind: PushCredential.Kind, environment: PushEnvironment, of hub: HubRecord
        ) throws -> PushCredential {
            let now = presentTime()
            guard kind != .webpush else {
                guard let subject else {
                    throw CommandError(.invalidInput, "--subject is missing: mailto:ADDRESS or https://HOST")
                }
                return try CredentialReader.webPush(
                    key: try key.map { try Self.text($0, "--key") }, subject: subject, hub: hub, at: now)
            }
            guard let key else { throw CommandError(.invalidInput, "--key is missing: the file of the credential") }
            let text = try Self.text(key, "--key")
            switch kind {
            case .apnsCertificate:
                return try CredentialReader.apple(
                    certificate: text, environment: environment, address: address, hub: hub, at: now)
            case .fcm: return try CredentialReader.google(text, address: address, hub: hub, at: now)
            case .apns, .webpush:
                let name = URL(fileURLWithPath: key).lastPathComponent
                let id = keyID ?? (name.hasPrefix("AuthKey_") ? String(name.dropFirst(8).prefix(10)) : "")
                return try CredentialReader.apple(
                    pem: text, keyID: id, team: team ?? hub.team.rawValue, environment: environment, address: address,
                    hub: hub, at: now)
            }
        }

        private static func text(_ path: String, _ option: String) throws -> String {
            guard let data = FileManager.default.contents(atPath: path), data.count <= 65_536,
                let text = String(data: data, encoding: .utf8)
            else {
                throw CommandError(
                    .invalidInput, "\(option): \(path) cannot be read, or is no text of at most 65536 bytes")
            }
            return text
        }
    }

    /// `aldaba hub credential list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List a hub's credentials, without their secrets, and those that expire soon.")
        @Argument(help: "The hub's name.") var hub: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON array.") var json = false

        func run() async throws {
            let found = try await HubRegister.withDatabase(location.folder) { database in
                try await database.credentials(of: try await HubCommand.find(hub, database).number)
            }
            if json { return try print(JSONLine.of(found.map(Shown.init))) }
            for credential in found {
                let warning = credential.warning(at: presentTime()).map { "  \($0)" } ?? ""
                print("\(credential.number)  \(HubCredentialCommand.words(credential))\(warning)")
            }
        }
    }

    /// `aldaba hub credential remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a credential: nothing more is sent with it.")
        @Argument(help: "The hub's name.") var hub: String
        @Argument(help: "The credential's number, as it is listed.") var number: Int64
        @OptionGroup var location: FolderOption

        func run() async throws {
            try await HubRegister.changing(
                location.folder, .removeHubCredential, hub: hub, object: String(number),
                before: { database in
                    guard let found = try await database.hub(named: hub) else { return nil }
                    return try await database.credentials(of: found.number).first { $0.number == number }
                        .map { AuditedObject(Shown($0)) }
                }
            ) { database in
                let found = try await HubCommand.find(hub, database)
                guard try await database.removeCredential(number, of: found.number) else {
                    throw CommandError(.invalidInput, "the hub \(hub) has no credential \(number)")
                }
            }
            print(Terminal.text("removed credential \(number) of hub \(hub)"))
        }
    }

    private static func words(_ credential: PushCredential) -> String {
        var words = [credential.kind.rawValue, credential.name]
        if !credential.owner.isEmpty { words.append("of \(credential.owner)") }
        if let environment = credential.environment { words.append("for \(environment.rawValue)") }
        if !credential.address.isEmpty { words.append("at \(credential.address)") }
        return words.joined(separator: "  ")
    }

    private struct Shown: Encodable {
        var number: Int64
        var kind: String
        var name: String
        var owner: String
        var environment: String?
        var address: String
        var expiresAt: String?
        var createdAt: String
        var warning: String?

        init(_ credential: PushCredential) {
            number = credential.number
            kind = credential.kind.rawValue
            name = credential.name
            owner = credential.owner
            environment = credential.environment?.rawValue
            address = credential.address
            expiresAt = credential.expiresAt?.description
            createdAt = credential.createdAt.description
            warning = credential.warning(at: presentTime())
        }
    }
}

/// The findings on the credentials of a data folder's hubs: none where no credential ends soon.
package enum HubCredentialCheck {
    /// The warnings, each with its hub's name.
    package static func warnings(_ folder: DataFolder) async throws -> [String] {
        guard try FolderStore.address(in: folder) != nil || FileManager.default.fileExists(atPath: folder.hubDatabase)
        else { return [] }
        return try await HubRegister.withDatabase(folder) { database in
            var warnings: [String] = []
            for hub in try await database.hubs() {
                warnings += try await database.credentials(of: hub.number).compactMap { credential in
                    credential.warning(at: presentTime()).map { "hub \(hub.name): \($0)" }
                }
            }
            return warnings
        }
    }
}
