import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore
import PushServer

extension KeyCommand {
    /// `aldaba key import`.
    struct Import: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Import a key that was made elsewhere, such as Apple's: AuthKey_KEYID.p8.",
            discussion: """
                Its public half goes into the server's register, so that what signs with it for APNs is let in here unchanged. \
                Its private half is copied to the data folder's keys, unless --public-only is given.
                """)
        @Argument(help: "The file; its name tells the key's id.") var file: String
        @Option(help: "The team that the key signs for: ten characters A-Z0-9.") var team: String
        @Flag(help: "Leave the private half where it is: `send` and `key token` cannot sign with the key then.")
        var publicOnly = false
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            guard TeamID.hasShape(team) else {
                throw CommandError(.invalidInput, "--team: \"\(team)\" is not ten characters A-Z0-9")
            }
            let key = try ProviderKeyFile(path: file)
            let team = TeamID(rawValue: team)
            try await ServerRegister.changing(
                location.folder, AuditChange(.importKey, key.keyID.rawValue, team: team.rawValue), makesFolder: true
            ) { store in
                try await ServerRegister.importKey(
                    key, team: team, ring: publicOnly ? nil : KeyRing(folder: location.folder.keys),
                    store: store.register)
            }
            if json {
                try print(JSONLine.of(["keyId": key.keyID.rawValue, "teamId": team.rawValue]))
            } else {
                print(Terminal.text("key \(key.keyID) of team \(team)"))
            }
        }
    }
}
