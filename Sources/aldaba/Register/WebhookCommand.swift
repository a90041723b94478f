import AldabaConfiguration
import ArgumentParser
import PushCore
import PushServer
import SQLiteStore

/// `aldaba app webhook`: where an app's messages to its provider are sent.
struct WebhookCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook", abstract: "Set the webhook for messages from an app to its provider.",
        subcommands: [Set.self, Show.self, Remove.self])

    /// `aldaba app webhook set`.
    struct Set: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Send an app's messages to an address, signed.",
            discussion: """
                Prints the secret that signs them, once; setting the webhook again makes another. A running server follows \
                within a second or two. What waits already is sent too.
                """)
        @Argument(help: "The app's topic, its bundle id: com.example.app.") var topic: String
        @Option(help: "The address for the messages: https://host/path.") var url: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            do { _ = try WebhookAddress(url) } catch { throw CommandError(.invalidInput, "--url: \(error)") }
            let secret = WebhookSignature.makeSecret()
            let now = presentTime()
            try await ServerRegister.changing(
                location.folder, AuditChange(.setWebhook, topic),
                before: { try await WebhookCommand.audited(topic, $0) },
                after: { AuditedObject(Shown(topic: topic, url: url, setAt: now)) }
            ) { store in
                let app = try await CertificateCommand.app(Topic(rawValue: topic), store.register)
                try await store.setWebhook(Webhook(app: app.id, url: url, secret: secret, setAt: now), app: app.id)
            }
            if json { return try print(JSONLine.of(Shown(topic: topic, url: url, setAt: now, secret: secret))) }
            print(Terminal.text("\(topic)  \(url)\nsecret \(secret)\nKeep it now: it is not shown again."))
        }
    }

    /// `aldaba app webhook show`.
    struct Show: AsyncParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show an app's webhook, without its secret.")
        @Argument(help: "The app's topic, its bundle id: com.example.app.") var topic: String
        @OptionGroup var location: FolderOption
        @Flag(help: "Print one JSON object.") var json = false

        func run() async throws {
            let webhook = try await ServerRegister.readingStore(location.folder) {
                try await WebhookCommand.webhook(of: topic, $0)
            }
            if json { return try print(JSONLine.of(Shown(topic: topic, url: webhook.url, setAt: webhook.setAt))) }
            print(Terminal.text("\(topic)  \(webhook.url)  since \(webhook.setAt)"))
        }
    }

    /// `aldaba app webhook remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Remove an app's webhook; messages are queued for a reader of the stream.")
        @Argument(help: "The app's topic, its bundle id: com.example.app.") var topic: String
        @OptionGroup var location: FolderOption

        func run() async throws {
            try await ServerRegister.changing(
                location.folder, AuditChange(.removeWebhook, topic),
                before: { try await WebhookCommand.audited(topic, $0) }
            ) { store in
                let webhook = try await WebhookCommand.webhook(of: topic, store)
                try await store.setWebhook(nil, app: webhook.app)
            }
            print(Terminal.text("removed the webhook of \(topic)"))
        }
    }

    private struct Shown: Encodable {
        var topic: String
        var url: String
        var setAt: String
        var secret: String?

        init(topic: String, url: String, setAt: Timestamp, secret: String? = nil) {
            self.topic = topic
            self.url = url
            self.setAt = setAt.description
            self.secret = secret
        }
    }

    /// An app's webhook before a change, with the app's team.
    private static func audited(_ topic: String, _ store: any ServerStore) async throws -> AuditedObject? {
        guard let app = try await store.register.apps().first(where: { $0.topic.rawValue == topic }) else { return nil }
        let webhook = try await store.webhooks().first { $0.app == app.id }
        return AuditedObject(
            team: app.team, webhook.map { Shown(topic: topic, url: $0.url, setAt: $0.setAt) })
    }

    private static func webhook(of topic: String, _ store: any ServerStore) async throws -> Webhook {
        let app = try await CertificateCommand.app(Topic(rawValue: topic), store.register)
        guard let webhook = try await store.webhooks().first(where: { $0.app == app.id }) else {
            throw CommandError(.invalidInput, "\(topic) has no webhook; `aldaba app webhook set` gives it one")
        }
        return webhook
    }
}
