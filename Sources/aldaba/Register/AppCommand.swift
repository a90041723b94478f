import AldabaConfiguration
import ArgumentParser
import PushCore
import PushServer
import SQLiteStore

/// `aldaba app`: the server's register of apps.
package struct AppCommand: AsyncParsableCommand {
    /// The name, the help and the subcommands.
    package static let configuration = CommandConfiguration(
        commandName: "app", abstract: "Add, list and change the apps of a server, and begin new ones.",
        discussion: """
            EXAMPLES:
              aldaba app new Mine
              aldaba app create com.example.mine --team ALDABADEMO --name Mine
              aldaba app list
              aldaba app remove com.example.mine
            """,
        subcommands: [
            Create.self, List.self, Show.self, Update.self, Enable.self, Disable.self, Remove.self, Config.self,
            WebhookCommand.self, New.self,
        ])

    /// Made by the parser, which fills it in.
    package init() {}

    /// `aldaba app create`.
    struct Create: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add an app to the register.")
        @Argument(help: "The app's topic, its bundle id: com.example.app.") var topic: String
        @Option(help: "The team that owns it: ten characters A-Z0-9.") var team = DemoApp.team.rawValue
        @Option(help: "The app's name for people.") var name: String?
        @Flag(inversion: .prefixedNo, help: "The capability of push notifications.") var push = true
        @Option(help: "The most queued notifications per device.") var limit = 1000
        @Option(
            help: "What gives way at the limit: dropOldest, keepNewest, or clear (all of it; the app is told how many)."
        ) var overflow = "dropOldest"
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            guard Topic.hasShape(topic) else {
                throw CommandError(
                    .invalidInput, "\"\(topic)\" cannot name an app; letters, digits, dots, - and _, at most 255")
            }
            guard !Topic.isReserved(topic) else {
                throw CommandError(
                    .invalidInput,
                    "\"\(topic)\" cannot name an app: `web-push` and names that begin with `aldaba.` are the program's own; take one such as "
                        + "com.example.app")
            }
            guard TeamID.hasShape(team) else {
                throw CommandError(.invalidInput, "--team: \"\(team)\" is not ten characters A-Z0-9")
            }
            guard limit > 0 else { throw CommandError(.invalidInput, "--limit: \(limit) is not at least 1") }
            guard let overflow = MailboxPolicy.Overflow(rawValue: overflow) else {
                throw CommandError(
                    .invalidInput, "--overflow: \"\(overflow)\" is none of dropOldest, keepNewest and clear")
            }
            let app = try await ServerRegister.changing(
                location.begun(), AuditChange(.addApp, topic, team: team), makesFolder: true,
                after: { AuditedObject(Shown($0)) }
            ) { whole in
                let store = whole.register
                let app = try await store.addApp(
                    topic: Topic(rawValue: topic), team: TeamID(rawValue: team),
                    policy: MailboxPolicy(limit: limit, overflow: overflow), at: presentTime())
                guard name != nil || !push else { return app }
                return try await store.updateApp(topic: app.topic, name: name, isPushEnabled: push) ?? app
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

    /// `aldaba app show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Show an app with its capabilities, certificates and the keys that may send to it.")
        @Argument(help: "The app's topic, its bundle id: com.example.app.") var topic: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let (app, certificates, keys) = try await ServerRegister.reading(location.folder) { store in
                let app = try await CertificateCommand.app(Topic(rawValue: topic), store)
                return (
                    app, try await store.providerCertificates().filter { $0.certificate.bundleID == app.topic },
                    try await store.providerKeys().filter { $0.team == app.team }
                )
            }
            var shown = Shown(app)
            shown.certificates = certificates.map { CertificateView($0, at: presentTime()) }
            shown.keys = keys.map(\.keyID.rawValue)
            if json { return try print(JSONLine.of(shown)) }
            try AppCommand.show(app, json: false)
            for certificate in certificates { try CertificateCommand.show(certificate, json: false) }
            for key in keys { print(Terminal.text("key \(key.keyID)")) }
        }
    }

    /// The arguments that identify a capability of an app.
    struct Capability: ParsableArguments {
        @Argument(help: "The app's topic, its bundle id: com.example.app.") var topic: String
        @Argument(help: "The capability: push.") var capability: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func set(_ isEnabled: Bool) async throws {
            guard capability == "push" else {
                throw CommandError(.invalidInput, "\"\(capability)\" is no capability; the one there is is push")
            }
            let app = try await ServerRegister.changing(
                location.folder, AuditChange(.updateApp, topic), before: { try await AppCommand.audited(topic, $0) },
                after: { $0.map { AuditedObject(Shown($0)) } }
            ) { whole in
                let store = whole.register
                _ = try await CertificateCommand.app(Topic(rawValue: topic), store)
                return try await store.updateApp(topic: Topic(rawValue: topic), name: nil, isPushEnabled: isEnabled)
            }
            if let app { try AppCommand.show(app, json: json) }
        }
    }

    /// `aldaba app enable`.
    struct Enable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Add a capability to an app.")
        @OptionGroup var capability: Capability

        func run() async throws { try await capability.set(true) }
    }

    /// `aldaba app disable`.
    struct Disable: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove a capability from an app.",
            discussion: "Without push, pushes to it are refused with 400 TopicDisallowed from the next request on.")
        @OptionGroup var capability: Capability

        func run() async throws { try await capability.set(false) }
    }

    /// `aldaba app remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an app from the register.",
            discussion: """
                Its device tokens end, pushes to it are refused with 400 TopicDisallowed from the next request on, and
                what waits for it is dropped. The topic stays its team's, which may add it again.
                """)
        @Argument(help: "The app's topic, its bundle id: com.example.app.") var topic: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let removed = try await ServerRegister.changing(
                location.folder, AuditChange(.removeApp, topic), before: { try await AppCommand.audited(topic, $0) }
            ) { store in
                guard
                    let removed = try await store.register.removeApp(topic: Topic(rawValue: topic), at: presentTime())
                else {
                    throw CommandError(
                        .invalidInput, "the register has no app \(topic); `aldaba app list` shows those it has")
                }
                return removed
            }
            if json {
                try AppCommand.show(removed, json: true)
            } else {
                print(Terminal.text("removed \(removed.topic)"))
            }
        }
    }

    /// An app before a change; `nil` where the register has none of that topic, which the change then says.
    static func audited(_ topic: String, _ store: any ServerStore) async throws -> AuditedObject? {
        try await store.register.apps().first { $0.topic.rawValue == topic }
            .map { AuditedObject(team: $0.team, Shown($0)) }
    }

    struct Shown: Encodable {
        var topic: String
        var team: String
        var limit: Int
        var overflow: String
        var name: String?
        var capabilities: [String]
        var certificates: [CertificateView]?
        var keys: [String]?

        init(_ app: RegisteredApp) {
            topic = app.topic.rawValue
            team = app.team.rawValue
            limit = app.policy.limit
            overflow = app.policy.overflow.rawValue
            name = app.name
            capabilities = app.isPushEnabled ? ["push"] : []
        }
    }

    static func show(_ app: RegisteredApp, json: Bool) throws {
        if json {
            try print(JSONLine.of(Shown(app)))
        } else {
            print(
                "\(app.topic)  team \(app.team)  limit \(app.policy.limit) \(app.policy.overflow.rawValue)"
                    + (app.isPushEnabled ? "" : "  without push")
                    + (app.name.map { "  \(TerminalText.line($0))" } ?? ""))
        }
    }
}
