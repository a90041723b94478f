import AldabaConfiguration
import ArgumentParser
import FCMProtocol
import Foundation
import PushCore
import PushServer

/// `aldaba service-account`: with what FCM's libraries send.
package struct ServiceAccountCommand: AsyncParsableCommand {
    /// The name, the help and the subcommands.
    package static let configuration = CommandConfiguration(
        commandName: "service-account",
        abstract: "Make, list and revoke service accounts, with which FCM's libraries send.",
        subcommands: [Create.self, List.self, Revoke.self, ServerKey.self, Gateway.self])

    /// Made by the parser, which fills it in.
    package init() {}

    /// `aldaba service-account create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Make a service account: a JSON file for FCM's libraries, its public key in the server's register.",
            discussion: "The team is the project; its id is the team's in lower case.")
        @Option(help: "The team that it sends for: ten characters A-Z0-9.") var team = DemoApp.team.rawValue
        @Option(
            help: """
                The server's address, https://host:port, as providers reach its control-port (default: that of the \
                server that runs on the data folder).
                """) var url: String?
        @Option(help: "The file (default: service-account-KEY.json in the folder of keys).") var output: String?
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            guard TeamID.hasShape(team) else {
                throw CommandError(.invalidInput, "--team: \"\(team)\" is not ten characters A-Z0-9")
            }
            let base = try url ?? location.addresses().control
            if let fault = ServerRegister.fault(inAddress: base) {
                throw CommandError(.invalidInput, "--url: \(fault)")
            }
            if let output, FileManager.default.fileExists(atPath: output) {
                throw CommandError(
                    .invalidInput, "--output: \(output) is there already, and may hold a key that is nowhere else")
            }
            let made = try await ServerRegister.changing(
                location.begun(), AuditChange(.addServiceAccount, "", team: team), makesFolder: true,
                after: { AuditedObject(name: $0.account.keyID, ServiceAccountCommand.shown($0.account)) }
            ) { store in
                try await ServerRegister.addServiceAccount(
                    team: TeamID(rawValue: team), server: base, output: output, folder: location.folder,
                    store: store.register)
            }
            if json {
                try print(JSONLine.of(ServiceAccountCommand.shown(made.account, path: made.path)))
            } else {
                print(Terminal.text("service account \(made.account.email) of team \(team): \(made.path)"))
            }
        }
    }

    /// `aldaba service-account list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the service accounts in the server's register, also those that were revoked.")
        @Option(help: "Only those of one team.") var team: String?
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON array.") var json = false

        func run() async throws {
            let accounts = try await ServerRegister.reading(location.folder) { try await $0.serviceAccounts() }
                .filter { team == nil || $0.team.rawValue == team }
            if json { return try print(JSONLine.of(accounts.map { ServiceAccountCommand.shown($0) })) }
            for account in accounts {
                let state = account.revokedAt.map { "revoked at \($0)" } ?? "since \(account.createdAt)"
                print(Terminal.text("\(account.keyID)  \(account.email)  team \(account.team)  \(state)"))
            }
        }
    }

    /// `aldaba service-account revoke`.
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a service account for good: the server refuses it from the next request on.",
            discussion: "The access tokens that it was given are refused too.")
        @Argument(help: "The account's e-mail, or its key's id.") var account: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let revoked = try await ServerRegister.changing(
                location.folder, AuditChange(.revokeServiceAccount, account),
                before: { store in
                    try await store.register.serviceAccounts().first { [$0.email, $0.keyID].contains(account) }
                        .map { AuditedObject(team: $0.team, ServiceAccountCommand.shown($0)) }
                }, after: { AuditedObject(ServiceAccountCommand.shown($0)) }
            ) { store in
                let known = try await store.register.serviceAccounts().first { $0.email == account }
                let revoked = try await store.register.revokeServiceAccount(known?.keyID ?? account, at: presentTime())
                guard let revoked else {
                    throw CommandError(
                        .invalidInput,
                        "the register has no service account \(account) that could be revoked; "
                            + "`aldaba service-account list` shows those it has")
                }
                return revoked
            }
            if json { return try print(JSONLine.of(ServiceAccountCommand.shown(revoked))) }
            print(Terminal.text("revoked service account \(revoked.email) of team \(revoked.team)"))
        }
    }

    /// `aldaba service-account server-key`.
    struct ServerKey: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "server-key",
            abstract: "Print a server key for FCM's legacy HTTP API.",
            discussion: """
                The server offers that API with the setting legacy-fcm. The key is valid until its service account is \
                revoked.
                """)
        @Argument(help: "The account's e-mail, or its key's id (default: the only account of the team).")
        var account: String?
        @Option(help: "The team whose account it is, where ACCOUNT is left out.") var team = DemoApp.team.rawValue
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let found = try await ServiceAccountCommand.active(account, team: team, location.folder)
            let key = try ServiceAccountCommand.key(of: found, for: .legacyFCM, location.folder)
            guard json else { return print(key) }
            try print(
                JSONLine.of(ServiceAccountCommand.shown(found).merging(["serverKey": key]) { own, _ in own }))
        }
    }

    /// The active account of this e-mail or key id, or the only one of the team.
    static func active(_ account: String?, team: String, _ folder: DataFolder) async throws -> ServiceAccount {
        let found = try await ServerRegister.reading(folder) { try await $0.serviceAccounts() }
            .filter { $0.revokedAt == nil }
            .filter { known in
                account.map { known.email == $0 || known.keyID == $0 } ?? (known.team.rawValue == team)
            }
        guard let first = found.first, found.count == 1 else {
            throw CommandError(
                .invalidInput,
                found.isEmpty
                    ? "the register has no such service account; `aldaba service-account create` makes one"
                    : "team \(team) has \(found.count) service accounts; name one of `aldaba service-account list`")
        }
        return first
    }

    /// A key of the account.
    static func key(
        of account: ServiceAccount, for purpose: ServerKeySealer.Purpose, _ folder: DataFolder
    ) throws -> String {
        let secrets = try SealingKeys.ensure(folder.sealingKeys).wrappedValue
        guard let sealer = ServerKeySealer(secrets: secrets, purpose: purpose) else {
            throw CommandError(.failed, "\(folder.sealingKeys) holds no usable key")
        }
        return sealer.seal(keyID: account.keyID)
    }

    static func shown(_ account: ServiceAccount, path: String? = nil) -> [String: String] {
        var members = [
            "keyId": account.keyID, "teamId": account.team.rawValue, "email": account.email,
            "projectId": ProjectName.id(of: account.team), "createdAt": account.createdAt.description,
        ]
        members["senderId"] = ProjectNumber(account.team)?.description
        members["revokedAt"] = account.revokedAt?.description
        members["path"] = path
        return members
    }
}
