import AldabaConfiguration
import ArgumentParser
import Foundation
import NIOCore
import PushCore

/// `aldaba received`: what providers sent to a development server, and what came of it.
struct ReceivedCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "received", abstract: "Show what providers sent to a development server, the newest first.",
        discussion: """
            The server of `aldaba up`, `aldaba run` or `aldaba serve --development` remembers the last 10,000 requests, 32 MiB at most: \
            silent notifications, refused requests and sends to topics too. A wait that ends without enough of them \
            exits with 7.

            EXAMPLES:
              aldaba received --match aps.alert.title=Hello
              aldaba received --wait 2 --timeout 5 --app com.example.App
              aldaba received --follow --json
            """)
    @Option(help: "Only requests whose JSON has this value: PATH=VALUE, such as aps.alert.title=Hello.")
    var match: [String] = []
    @Option(
        help:
            "Only requests of one interface: apns, apns-binary, fcm, fcm-legacy, fcm-topics, fcm-groups, oauth, web-push."
    )
    var interface: String?
    @Option(help: "Only requests for this token.") var token: String?
    @Option(help: "Only requests for this app.") var app: String?
    @Option(help: "Only requests for this topic of FCM's.") var topic: String?
    @Option(help: "Only requests whose alert has this title.") var title: String?
    @Option(help: "Only requests in this state: refused, answered, accepted, sent, acked and others.") var state:
        String?
    @Option(help: "Only requests that were answered with this status.") var status: Int?
    @Option(help: "Only requests of this test: its team, its project, or the value of the field aldaba-namespace.")
    var namespace: String?
    @Option(help: "Wait until there are so many.") var wait: Int?
    @Option(help: "The seconds that a wait takes at most, 1 to 60.") var timeout = 10
    @Option(help: "The number of requests to show, 1 to 1000.") var limit = 100
    @Flag(help: "Go on with what comes, a line each.") var follow = false
    @Flag(help: "Print JSON objects, one a line.") var json = false
    @OptionGroup var server: TestServerOption

    func validate() throws {
        guard (1...60).contains(timeout) else { throw ValidationError("--timeout takes 1 to 60 seconds") }
        guard wait.map((1...10_000).contains) ?? true else { throw ValidationError("--wait takes 1 to 10000") }
        guard !follow || wait == nil else { throw ValidationError("--follow has no end; leave --wait out") }
    }

    func run() async throws {
        let query = ServerPages.query(
            [
                ("interface", interface), ("token", token), ("app", app), ("topic", topic), ("title", title),
                ("state", state), ("status", status.map(String.init)), ("namespace", namespace),
                ("limit", String(follow ? 1000 : limit)),
            ] + match.map { ("match", $0) })
        guard !follow else { return try await follow(query) }
        let waiting = wait.map { "&count=\($0)&timeout=\(timeout)" } ?? ""
        let answer = try await server.ask(
            "GET", "/v1/received?\(query)\(waiting)", timeout: .seconds(Int64(timeout) + 15))
        for entry in answer?["received"]?.items ?? [] { try show(entry) }
        if let wait, let matching = answer?["matching"]?.integer, matching < wait {
            throw CommandError(.timedOut, "\(matching) of \(wait) came within \(timeout) seconds")
        }
    }

    /// Shows what comes, until a signal ends it.
    private func follow(_ query: String) async throws {
        var last: Int64 = 0
        while true {
            let answer = try await server.ask(
                "GET", "/v1/received?\(query)&since=\(last)&count=1&timeout=60", timeout: .seconds(75))
            for entry in (answer?["received"]?.items ?? []).reversed() {
                // A request without an answer yet comes with the next question.
                if entry["answer"] == .null, entry["fault"] == .null { break }
                try show(entry)
                last = max(last, entry["number"]?.integer ?? last)
            }
        }
    }

    /// Writes at once, also into a pipe.
    private func show(_ entry: JSONValue) throws {
        try FileHandle.standardOutput.write(contentsOf: Data((line(entry) + "\n").utf8))
    }

    private func line(_ entry: JSONValue) -> String {
        guard !json else { return entry.json }
        let answer = entry["answer"]?["status"]?.integer.map { String($0) } ?? Terminal.text("no answer")
        let reason = entry["answer"]?["reason"]?.text.map { " \($0)" } ?? ""
        let target = ["token", "topic", "condition"].lazy.compactMap { entry[$0]?.text }.first ?? "-"
        return
            TerminalText.line(
                """
                \(entry["number"]?.json ?? "")  \(entry["at"]?.text ?? "")  \(entry["interface"]?.text ?? "")  \
                \(entry["app"]?.text ?? "-")  \(target.prefix(16))  \(answer)\(reason)  \(entry["state"]?.text ?? "")  \
                \(entry["text"]?.text ?? "")
                """)
    }
}

/// `aldaba reset`: forget what was received, and the faults.
struct ResetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Have a development server forget what it received, and its faults.",
        discussion: """
            EXAMPLES:
              aldaba reset
              aldaba reset --namespace DEF123GHIJ
            """)
    @Option(help: "Only those of this test: its team, its project, or the value of the field aldaba-namespace.")
    var namespace: String?
    @OptionGroup var server: TestServerOption

    func run() async throws {
        let answer = try await server.ask("POST", "/v1/reset?\(ServerPages.query([("namespace", namespace)]))")
        print(
            Terminal.text(
                "forgot \(answer?["received"]?.json ?? "0") requests and \(answer?["faults"]?.json ?? "0") faults"))
    }
}
