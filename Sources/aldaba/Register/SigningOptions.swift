import APNsProtocol
import AldabaAPNs
import AldabaConfiguration
import ArgumentParser
import PushCore

/// The options that select the signing key.
package struct SigningOptions: ParsableArguments {
    @Option(help: "The key's id; without it the data folder's oldest key, or the id in the name of --key.") var keyID:
        String?
    @Option(help: "The team; without it the key's own.") var team: String?
    @Option(help: "A key file AuthKey_KEYID.p8 from elsewhere; needs --team.") var key: String?

    /// Made by the parser, which fills it in.
    package init() {}

    /// The credential for a client that makes its own provider tokens.
    func credential(_ location: FolderOption) throws -> APNsCredential {
        let (file, team) = try keyFile(location)
        return try .key(pem: file.key.pemRepresentation, keyID: file.keyID.rawValue, teamID: team.rawValue)
    }

    /// A fresh provider token.
    package func token(_ location: FolderOption) throws -> String {
        let (file, team) = try keyFile(location)
        return try ProviderToken.make(key: file.key, keyID: file.keyID, team: team, issuedAt: presentTime())
    }

    /// The key that the options select, and its team.
    func keyFile(_ location: FolderOption) throws -> (file: ProviderKeyFile, team: TeamID) {
        if let key {
            guard let team, TeamID.hasShape(team) else {
                throw CommandError(.invalidInput, "--key needs --team, ten characters A-Z0-9")
            }
            guard keyID.map({ KeyID.hasShape($0) }) ?? true else {
                throw CommandError(.invalidInput, "--key-id is ten characters A-Z0-9")
            }
            return (try ProviderKeyFile(path: key, keyID: keyID), TeamID(rawValue: team))
        }
        let ring = KeyRing(folder: location.folder.keys)
        guard let entry = try ring.entry(keyID: keyID, team: team) else {
            throw CommandError(
                .invalidInput,
                "there is no such key in \(location.folder.keys); make one with `aldaba key create`, or name one with --key"
            )
        }
        return (try ProviderKeyFile(path: ring.path(of: entry)), entry.team)
    }
}
