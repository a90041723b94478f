import ArgumentParser
import CommandCore
import DeviceStore
import Mailbox
import PushModel
import ServerCore

/// `aldaba app`: the server's register of apps.
struct AppCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "app", abstract: "The server's register of apps.",
        subcommands: [Create.self, List.self, Remove.self])

    /// `aldaba app create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add an app to the register.")
        @Argument(help: "The app's topic, its bundle id: com.example.app.") var topic: String
        @Option(help: "The team that owns it: ten characters A-Z0-9.") var team = DemoApp.team.rawValue
        @Option(help: "How many notifications may wait per device.") var limit = 1000
        @Option(help: "What gives way at the limit: dropOldest or keepNewest.") var overflow = "dropOldest"
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            guard Topic.hasShape(topic) else {
                throw CommandFailure(
                    .invalidInput, "\"\(topic)\" cannot name an app; letters, digits, dots, - and _, at most 255")
            }
            guard TeamID.hasShape(team) else {
                throw CommandFailure(.invalidInput, "--team: \"\(team)\" is not ten characters A-Z0-9")
            }
            guard limit > 0 else { throw CommandFailure(.invalidInput, "--limit: \(limit) is not at least 1") }
            // No store keeps tombstones: a device would not be told that its mail was cleared.
            guard let overflow = MailboxPolicy.Overflow(rawValue: overflow), overflow != .clear else {
                throw CommandFailure(.invalidInput, "--overflow takes dropOldest or keepNewest")
            }
            let app = try await ServerRegister.withStore(location.folder) {
                try await $0.addApp(
                    topic: Topic(rawValue: topic), team: TeamID(rawValue: team),
                    policy: MailboxPolicy(limit: limit, overflow: overflow), at: presentTime())
            }
            try AppCommand.show(app, json: json)
        }
    }

    /// `aldaba app list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the apps in the register.")
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON array.") var json = false

        func run() async throws {
            let apps = try await ServerRegister.reading(location.folder) { try await $0.apps() }
            if json {
                try print(JSONLine.of(apps.map(AppCommand.Shown.init)))
            } else {
                for app in apps { try AppCommand.show(app, json: false) }
            }
        }
    }

    /// `aldaba app remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Take an app out of the register.",
            discussion: """
                Its device tokens end, pushes to it are refused with 400 TopicDisallowed from the next request on, and
                what waits for it is dropped. The topic stays its team's, which may add it again.
                """)
        @Argument(help: "The app's topic, its bundle id: com.example.app.") var topic: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let removed = try await ServerRegister.reading(location.folder) { store in
                try await store.removeApp(topic: Topic(rawValue: topic), at: presentTime())
            }
            guard let removed else {
                throw CommandFailure(
                    .invalidInput, "the register has no app \(topic); `aldaba app list` shows those it has")
            }
            if json { try AppCommand.show(removed, json: true) } else { print("removed \(removed.topic)") }
        }
    }

    struct Shown: Encodable {
        var topic: String
        var team: String
        var limit: Int
        var overflow: String

        init(_ app: RegisteredApp) {
            topic = app.topic.rawValue
            team = app.team.rawValue
            limit = app.policy.limit
            overflow = app.policy.overflow.rawValue
        }
    }

    static func show(_ app: RegisteredApp, json: Bool) throws {
        if json {
            try print(JSONLine.of(Shown(app)))
        } else {
            print("\(app.topic)  team \(app.team)  limit \(app.policy.limit) \(app.policy.overflow.rawValue)")
        }
    }
}
