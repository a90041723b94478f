import AldabaConfiguration
import ArgumentParser
import PushCore
import PushServer

extension AppCommand {
    /// `aldaba app update`.
    struct Update: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Change the settings of an app; others stay as they are.",
            discussion: """
                It counts from the next request on. What waits already beyond a smaller limit gives way when the next \
                notification comes for it. The topic and the team of an app never change.
                """)
        @Argument(help: "The app's topic, its bundle id: com.example.app.") var topic: String
        @Option(help: "The app's name for people; empty to remove it.") var name: String?
        @Flag(inversion: .prefixedNo, help: "The capability of push notifications.") var push: Bool?
        @Option(help: "The most queued notifications per device.") var limit: Int?
        @Option(help: "The rule at the limit: dropOldest, keepNewest, or clear.") var overflow: String?
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func validate() throws {
            guard name != nil || push != nil || limit != nil || overflow != nil else {
                throw ValidationError("name what is to change: --name, --push, --no-push, --limit or --overflow")
            }
        }

        func run() async throws {
            guard limit ?? 1 > 0 else {
                throw CommandError(.invalidInput, "--limit: \(limit ?? 0) is not at least 1")
            }
            let way = overflow.flatMap(MailboxPolicy.Overflow.init(rawValue:))
            if let overflow, way == nil {
                throw CommandError(
                    .invalidInput, "--overflow: \"\(overflow)\" is none of dropOldest, keepNewest and clear")
            }
            let app = try await ServerRegister.changing(
                location.folder, AuditChange(.updateApp, topic), before: { try await AppCommand.audited(topic, $0) },
                after: { AuditedObject(AppCommand.Shown($0)) }
            ) { whole in
                let store = whole.register
                let app = try await CertificateCommand.app(Topic(rawValue: topic), store)
                let policy = MailboxPolicy(limit: limit ?? app.policy.limit, overflow: way ?? app.policy.overflow)
                let changed = try await store.updateApp(
                    topic: app.topic, name: name, isPushEnabled: push, policy: policy == app.policy ? nil : policy)
                guard let changed else { throw CommandError(.failed, "the app was removed just now") }
                return changed
            }
            try AppCommand.show(app, json: json)
        }
    }
}
