import APNsWire
import ArgumentParser
import CommandCore
import DeviceStore
import Foundation
import PushModel
import ServerCore

/// `aldaba key`: provider keys.
struct KeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "key", abstract: "Make, list and revoke provider keys, and sign provider tokens with them.",
        subcommands: [Create.self, List.self, Revoke.self, Token.self])

    /// `aldaba key create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a key: its private half as AuthKey_KEYID.p8, its public half in the server's register.")
        @OptionGroup var location: FolderOption
        @Option(help: "The team that the key signs for: ten characters A-Z0-9.") var team = DemoApp.team.rawValue
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let folder = location.folder
            guard TeamID.hasShape(team) else {
                throw CommandFailure(.invalidInput, "--team: \"\(team)\" is not ten characters A-Z0-9")
            }
            try folder.make()
            let (entry, ring) = try await ServerRegister.withStore(folder) { store in
                try await ServerRegister.addKey(team: TeamID(rawValue: team), folder: folder, store: store)
            }
            if json {
                try print(JSONLine.of(["keyId": entry.keyId, "teamId": entry.teamId, "path": ring.path(of: entry)]))
            } else {
                print("key \(entry.keyId) of team \(entry.teamId): \(ring.path(of: entry))")
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
                            ["keyId": $0.keyID, "teamId": $0.team.rawValue, "createdAt": $0.createdAt.description]
                        }))
            } else {
                for key in keys { print("\(key.keyID)  team \(key.team)  since \(key.createdAt)") }
            }
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
            let revoked = try await ServerRegister.reading(location.folder) { store in
                try await store.revokeProviderKey(keyID, at: presentTime())
            }
            guard let revoked else {
                throw CommandFailure(
                    .invalidInput,
                    "the register has no key \(keyID) that could be revoked; `aldaba key list` shows those it has")
            }
            if json {
                try print(JSONLine.of(["keyId": revoked.keyID, "teamId": revoked.team.rawValue]))
            } else {
                print("revoked key \(revoked.keyID) of team \(revoked.team)")
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

/// Which key signs.
struct SigningOptions: ParsableArguments {
    @Option(help: "The key's id; without it the data folder's oldest key.") var keyID: String?
    @Option(help: "The team; without it the key's own.") var team: String?
    @Option(help: "A key file AuthKey_KEYID.p8 from elsewhere; needs --team.") var key: String?

    /// A fresh provider token.
    func token(_ location: FolderOption) throws -> String {
        if let key {
            guard let team, TeamID.hasShape(team) else {
                throw CommandFailure(.invalidInput, "--key needs --team, ten characters A-Z0-9")
            }
            let file = try ProviderKeyFile(path: key)
            return try ProviderToken.make(
                key: file.key, keyID: file.keyID, team: TeamID(rawValue: team), issuedAt: presentTime())
        }
        let ring = KeyRing(folder: location.folder.keys)
        guard let entry = try ring.entry(keyID: keyID, team: team) else {
            throw CommandFailure(
                .invalidInput,
                "there is no such key in \(location.folder.keys); make one with `aldaba key create`, or name one with --key"
            )
        }
        let file = try ProviderKeyFile(path: ring.path(of: entry))
        return try ProviderToken.make(key: file.key, keyID: file.keyID, team: entry.team, issuedAt: presentTime())
    }
}
