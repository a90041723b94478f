import AldabaConfiguration
import ArgumentParser
import HubProtocol
import HubServer
import PushCore

/// `aldaba hub`: notification hubs, their keys and installations.
package struct HubCommand: AsyncParsableCommand {
    /// The name, the help and the subcommands.
    package static let configuration = CommandConfiguration(
        commandName: "hub",
        abstract: "Make notification hubs, their keys and credentials, list installations, and send campaigns.",
        discussion: """
            EXAMPLES:
              aldaba hub create harbour --app com.example.todo
              aldaba hub key create harbour sender --rights Send
              aldaba hub installation list harbour
              aldaba hub campaign create harbour --title 'Rain at five'
            """,
        subcommands: [
            Create.self, List.self, Limit.self, Key.self, HubCredentialCommand.self, Installation.self, Import.self,
            HubCampaignCommand.self, Pictures.self,
        ])

    /// Made by the parser, which fills it in.
    package init() {}

    /// The hub of a name.
    ///
    /// - Throws: ``CommandError`` where there is none.
    static func find(_ name: String, _ database: HubDatabase) async throws -> HubRecord {
        guard let hub = try await database.hub(named: name) else {
            throw CommandError(.invalidInput, "there is no hub \(name); `aldaba hub list` shows those there are")
        }
        return hub
    }

    /// How clients take a hub and a key: with the address of the server that runs, where one does.
    static func connection(_ key: HubKey, _ location: FolderOption) throws -> String {
        let addresses = try ServerAddresses.read(location.folder)
        return HubConnectionString(
            authority: addresses.map { ServerAddresses.authority($0.host, $0.controlPort) } ?? "127.0.0.1",
            keyName: key.name, key: key.primary
        ).description
    }

    /// `aldaba hub create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Make a hub for an app, with its first two keys.")
        @Argument(help: "The hub's name: letters, digits, - _ and .") var name: String
        @Option(help: "The topic of its app, which the register has.") var app = DemoApp.topic.rawValue
        @Flag(help: "Take expressions of Azure's size alone: 20 tags with ||, 6 otherwise.") var azureLimits = false
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            if let fault = HubRecord.fault(inName: name) { throw CommandError(.invalidInput, fault) }
            let apps = try await ServerRegister.reading(location.folder) { try await $0.apps() }
            guard let app = apps.first(where: { $0.topic.rawValue == app }) else {
                throw CommandError(
                    .invalidInput, "the register has no app \(app); `aldaba app list` shows those it has")
            }
            let keys = HubKey.first(at: presentTime())
            try await HubRegister.changing(
                location.folder, .addHub, hub: name,
                after: { AuditedObject(["hub": name, "app": app.topic.rawValue, "teamId": app.team.rawValue]) }
            ) { database in
                let hub = try await database.addHub(
                    name: name, team: app.team, topic: app.topic, isStrict: azureLimits, keys: keys, at: presentTime())
                guard hub != nil else {
                    throw CommandError(.failed, "there already is a hub \(name); choose another name")
                }
            }
            let connections = try keys.map { try HubCommand.connection($0, location) }
            if json {
                return try print(
                    JSONLine.of([
                        "hub": name, "app": app.topic.rawValue, "teamId": app.team.rawValue, "full": connections[0],
                        "listen": connections[1],
                    ]))
            }
            print(Terminal.text("hub \(name) of \(app.topic)"))
            for connection in connections { print(connection) }
        }
    }

    /// `aldaba hub list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the hubs.")
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON array.") var json = false

        func run() async throws {
            let hubs = try await HubRegister.withDatabase(location.folder) { try await $0.hubs() }
            if json {
                return try print(
                    JSONLine.of(hubs.map { ["hub": $0.name, "app": $0.topic.rawValue, "teamId": $0.team.rawValue] }))
            }
            for hub in hubs { print(Terminal.text("\(hub.name)  app \(hub.topic)  team \(hub.team)")) }
        }
    }

    /// `aldaba hub key`.
    struct Key: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make, list and revoke the keys of a hub.", subcommands: [Create.self, List.self, Revoke.self])

        /// `aldaba hub key create`.
        struct Create: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Make a key, in place of one of its name.",
                discussion:
                    "A key for backends, or of the hub's own API, is shown once; the server keeps its hash alone.")
            @Argument(help: "The hub's name.") var hub: String
            @Argument(help: "The key's name.") var name: String
            @Option(help: "The rights: Listen, Send, Manage and, for the own API, Report, separated by commas.")
            var rights = "Listen"
            @Flag(help: "Make a key of the hub's own API, /v1/hubs: a bearer token.") var api = false
            @Option(help: "The days for which a key of the own API is valid (default: for ever).") var days: Int?
            @Flag(help: "Make a key for the backend under /api/notifications, which has no rights to choose.")
            var backend = false
            @OptionGroup var location: FolderOption
            @Flag(help: "Print one JSON object.") var json = false

            func run() async throws {
                guard !name.isEmpty, name.utf8.count <= 256, !name.contains(";") else {
                    throw CommandError(.invalidInput, "a key's name has 1 to 256 bytes, without a semicolon")
                }
                guard let rights = HubRights(text: rights) else {
                    throw CommandError(.invalidInput, "--rights: there are Listen, Send, Manage and Report")
                }
                guard api || (days == nil && !rights.contains(.report)), !(api && backend) else {
                    throw CommandError(
                        .invalidInput, "--days and the right Report go with --api, and --backend does not")
                }
                if let days, !(1...3650).contains(days) {
                    throw CommandError(.invalidInput, "--days: 1 to 3650 would be right")
                }
                let kind = backend ? "apikey" : api ? "bearer" : "connectionString"
                let made = try await HubRegister.changing(
                    location.folder, .addHubKey, hub: hub, object: name,
                    after: { _ in AuditedObject(["kind": kind, "rights": backend ? "backend" : rights.text]) }
                ) { database -> String in
                    let found = try await HubCommand.find(hub, database)
                    if api {
                        let key = HubAPIKey.makeText()
                        let now = presentTime()
                        try await database.addAPIKey(
                            HubAPIKey(
                                hub: found.number, name: name, rights: rights,
                                expiresAt: days.map { now.adding(milliseconds: Int64($0) * 86_400_000) }, createdAt: now
                            ),
                            hash: HubAPIKey.hash(key))
                        return key
                    }
                    guard backend else {
                        let key = HubKey.make(name: name, rights: rights, at: presentTime())
                        try await database.setKey(key, of: found.number)
                        return try HubCommand.connection(key, location)
                    }
                    let key = HubKey.makeSecret()
                    try await database.addBackendKey(
                        name: name, hash: HubAPIKey.hash(key), of: found.number, at: presentTime())
                    return key
                }
                print(json ? try JSONLine.of(["hub": hub, "name": name, kind: made]) : made)
            }
        }

        /// `aldaba hub key list`.
        struct List: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "List a hub's keys, without their texts.")
            @Argument(help: "The hub's name.") var hub: String
            @OptionGroup var location: FolderOption
            @Flag(help: "Print one JSON array.") var json = false

            func run() async throws {
                let keys = try await HubRegister.withDatabase(location.folder) { database in
                    let number = try await HubCommand.find(hub, database).number
                    return try await database.keys(of: number).map { (name: $0.name, rights: $0.rights.text) }
                        + database.backendKeys(of: number).map { (name: $0, rights: "backend") }
                        + database.apiKeys(of: number).map { key -> (name: String, rights: String) in
                            let end = key.expiresAt.map { " until \($0)" } ?? ""
                            return (name: key.name, rights: "\(key.rights.text) of the API\(end)")
                        }
                }
                if json { return try print(JSONLine.of(keys.map { ["name": $0.name, "rights": $0.rights] })) }
                for key in keys { print("\(key.name)  \(key.rights)") }
            }
        }

        /// `aldaba hub key revoke`.
        struct Revoke: AsyncParsableCommand {
            static let configuration = CommandConfiguration(
                abstract: "Revoke a key: the server refuses it from the next request on.")
            @Argument(help: "The hub's name.") var hub: String
            @Argument(help: "The key's name.") var name: String
            @OptionGroup var location: FolderOption

            func run() async throws {
                try await HubRegister.changing(location.folder, .revokeHubKey, hub: hub, object: name) { database in
                    let found = try await HubCommand.find(hub, database)
                    guard try await database.removeKey(name, of: found.number) else {
                        throw CommandError(.invalidInput, "the hub \(hub) has no key \(name)")
                    }
                }
                print(Terminal.text("revoked key \(name) of hub \(hub)"))
            }
        }
    }

    /// `aldaba hub installation`.
    struct Installation: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List and import the installations of a hub.", subcommands: [List.self])

        /// `aldaba hub installation list`.
        struct List: AsyncParsableCommand {
            static let configuration = CommandConfiguration(abstract: "List a hub's installations, the oldest first.")
            @Argument(help: "The hub's name.") var hub: String
            @Flag(help: "Only those whose channel is dead.") var dead = false
            @OptionGroup var location: FolderOption
            @Flag(help: "Print a JSON object for each, on a line of its own.") var json = false

            func run() async throws {
                try await HubRegister.withDatabase(location.folder) { database in
                    let found = try await HubCommand.find(hub, database)
                    var after: UInt32 = 0
                    while true {
                        let page = try await database.installations(
                            hub: found.number, after: after, isDead: dead ? true : nil, limit: 500)
                        for stored in page { print(line(stored)) }
                        guard page.count == 500, let last = page.last else { return }
                        after = last.number
                    }
                }
            }

            private func line(_ stored: StoredInstallation) -> String {
                let installation = stored.installation
                if json { return InstallationJSON.document(installation).json }
                let state = stored.fault.map { "dead (\($0.word))" } ?? "live"
                let tags = installation.tags.map(\.text).joined(separator: " ")
                return "\(installation.id)  \(installation.platform.text)  \(state)  \(tags)"
            }
        }
    }
}
