import AldabaConfiguration
import ArgumentParser
import PushCore
import PushServer

/// `aldaba key`: provider keys.
package struct KeyCommand: AsyncParsableCommand {
    /// The name, the help and the subcommands.
    package static let configuration = CommandConfiguration(
        commandName: "key",
        abstract: "Make, import, list and revoke provider keys, and sign provider tokens with them.",
        discussion: """
            EXAMPLES:
              aldaba key create --team ALDABADEMO
              aldaba key download KEYID --output .
              aldaba key token --key-id KEYID
              aldaba key revoke KEYID
            """,
        subcommands: [
            Create.self, Import.self, List.self, Show.self, Download.self, Revoke.self, Token.self,
        ])

    /// Made by the parser, which fills it in.
    package init() {}

    /// `aldaba key create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a key: its private half as AuthKey_KEYID.p8, its public half in the server's register.")
        @OptionGroup var location: FolderOption
        @Option(help: "The team that the key signs for: ten characters A-Z0-9.") var team = DemoApp.team.rawValue
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let folder = try location.begun()
            guard TeamID.hasShape(team) else {
                throw CommandError(.invalidInput, "--team: \"\(team)\" is not ten characters A-Z0-9")
            }
            try folder.make()
            let (entry, ring) = try await ServerRegister.changing(
                folder, AuditChange(.addKey, "", team: team), makesFolder: true,
                after: { AuditedObject(name: $0.0.keyId, ["keyId": $0.0.keyId, "teamId": $0.0.teamId]) }
            ) { store in
                try await ServerRegister.addKey(team: TeamID(rawValue: team), folder: folder, store: store.register)
            }
            if json {
                try print(JSONLine.of(["keyId": entry.keyId, "teamId": entry.teamId, "path": ring.path(of: entry)]))
            } else {
                print(Terminal.text("key \(entry.keyId) of team \(entry.teamId): \(ring.path(of: entry))"))
            }
        }
    }

    /// `aldaba key list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the keys in the server's register.")
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON array.") var json = false

        func run() async throws {
            let keys = try await ServerRegister.reading(location.folder) { try await $0.providerKeys() }
            if json {
                try print(
                    JSONLine.of(
                        keys.map {
                            [
                                "keyId": $0.keyID.rawValue, "teamId": $0.team.rawValue,
                                "createdAt": $0.createdAt.description,
                            ]
                        }))
            } else {
                for key in keys { print(Terminal.text("\(key.keyID)  team \(key.team)  since \(key.createdAt)")) }
            }
        }
    }

    /// `aldaba key show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show a key of the server's register.")
        @Argument(help: "The key's id: ten characters A-Z0-9.") var keyID: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let keys = try await ServerRegister.reading(location.folder) { try await $0.providerKeys() }
            guard let key = keys.first(where: { $0.keyID.rawValue == keyID }) else {
                throw CommandError(
                    .invalidInput, "the register has no key \(keyID); `aldaba key list` shows those it has")
            }
            let ring = KeyRing(folder: location.folder.keys)
            let path = try ring.entry(keyID: keyID).map(ring.path(of:))
            if json {
                var members = [
                    "keyId": key.keyID.rawValue, "teamId": key.team.rawValue, "createdAt": key.createdAt.description,
                    "publicKey": key.publicKeyPEM,
                ]
                members["path"] = path
                return try print(JSONLine.of(members))
            }
            print(
                Terminal.text(
                    "key \(key.keyID)  team \(key.team)  since \(key.createdAt)\(path.map { "  \($0)" } ?? "")"))
            print(key.publicKeyPEM)
        }
    }

    /// `aldaba key download`.
    struct Download: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Copy a key's private half, AuthKey_KEYID.p8, out of the data folder.")
        @Argument(help: "The key's id: ten characters A-Z0-9.") var keyID: String
        @Option(help: "The folder that gets the file.") var output = "."
        @OptionGroup var location: FolderOption

        func run() throws {
            let ring = KeyRing(folder: location.folder.keys)
            guard let entry = try ring.entry(keyID: keyID) else {
                throw CommandError(
                    .invalidInput, "\(location.folder.keys) has no private half of a key \(keyID)")
            }
            print(try ProviderKeyFile(path: ring.path(of: entry)).write(folder: output))
        }
    }

    /// `aldaba key revoke`.
    struct Revoke: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a key for good: the server refuses its tokens from the next request on.",
            discussion: "Connections that were opened with it stay open, and get 403 InvalidProviderToken.")
        @Argument(help: "The key's id: ten characters A-Z0-9.") var keyID: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let revoked = try await ServerRegister.changing(
                location.folder, AuditChange(.revokeKey, keyID),
                before: { store in
                    try await store.register.providerKeys().first { $0.keyID.rawValue == keyID }.map {
                        AuditedObject(team: $0.team, ["keyId": keyID, "createdAt": $0.createdAt.description])
                    }
                }
            ) { store in
                let revoked = try await store.register.revokeProviderKey(KeyID(rawValue: keyID), at: presentTime())
                guard let revoked else {
                    throw CommandError(
                        .invalidInput,
                        "the register has no key \(keyID) that could be revoked; `aldaba key list` shows those it has")
                }
                return revoked
            }
            if json {
                try print(JSONLine.of(["keyId": revoked.keyID.rawValue, "teamId": revoked.team.rawValue]))
            } else {
                print(Terminal.text("revoked key \(revoked.keyID) of team \(revoked.team)"))
            }
        }
    }

    /// `aldaba key token`.
    struct Token: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print a provider token, good for one hour.",
            discussion: "For the header `authorization: bearer TOKEN` of the provider API.")
        @OptionGroup var location: FolderOption
        @OptionGroup var signing: SigningOptions

        func run() throws { print(try signing.token(location)) }
    }
}
