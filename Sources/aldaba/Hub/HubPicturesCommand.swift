import AldabaConfiguration
import ArgumentParser
import HubProtocol
import HubServer

extension HubCommand {
    /// `aldaba hub pictures`.
    struct Pictures: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract:
                "Show or set the members of payloads in which the app's service extension finds a campaign's picture.",
            discussion: """
                Keys: attachment-url (AldabaRichPush), ab.att (Braze), fcm_options.image (Firebase), att (OneSignal). Without a \
                choice a payload has all that fit. A campaign's content may choose others by its member pictureKeys.
                """)
        @Argument(help: "The hub's name.") var hub: String
        @Option(help: "The keys, separated by commas; all for those that fit.") var keys: String?
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let chosen = keys == "all" ? nil : keys.map(PictureKey.list)
            if case .some(.none) = chosen {
                throw CommandError(.invalidInput, "--keys: all, or some of \(PictureKey.names), would be right")
            }
            let names: [String]?
            if keys == nil {
                names = try await HubRegister.withDatabase(location.folder) { database in
                    try await HubCommand.find(hub, database).pictureKeys?.map(\.rawValue)
                }
            } else {
                names = chosen??.map(\.rawValue)
                try await HubRegister.changing(
                    location.folder, .setHubPictures, hub: hub,
                    before: { database in
                        AuditedObject(["pictures": try await database.hub(named: hub)?.pictureKeys?.map(\.rawValue)])
                    }, after: { AuditedObject(["pictures": names]) }
                ) { database in
                    try await database.setPictureKeys(
                        chosen ?? nil, of: try await HubCommand.find(hub, database).number)
                }
            }
            if json { return try print(JSONLine.of(["pictureKeys": names])) }
            print(names.map { $0.joined(separator: " ") } ?? Terminal.text("all that fit"))
        }
    }
}
