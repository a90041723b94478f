import AldabaConfiguration
import ArgumentParser
import Foundation
import PushCore

/// `aldaba fault`: faults that a development server has on demand.
struct FaultCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fault", abstract: "Have a development server answer with errors, or break off.",
        discussion: """
            EXAMPLES:
              aldaba fault add --status 429 --retry-after 3 --token TOKEN --times 2
              aldaba fault add --reason Unregistered --app com.example.App
              aldaba fault add --action goaway
              aldaba fault list
              aldaba fault remove --all
            """,
        subcommands: [Add.self, List.self, Remove.self])

    /// `aldaba fault add`.
    struct Add: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add", abstract: "Set a fault for requests that are still to come.",
            discussion: """
                EXAMPLES:
                  aldaba fault add --status 503 --times 0 --rate 0.1 --seed 7
                  aldaba fault add --interface oauth --status 400
                  aldaba fault add --action cut --processed
                """)
        @Option(help: "The status of the answer.") var status: Int?
        @Option(help: "The reason, in APNs' or FCM's own name, such as TooManyRequests or UNREGISTERED.")
        var reason: String?
        @Option(help: "The answer's Retry-After, in seconds.") var retryAfter: Int?
        @Option(help: "answer, goaway, refuse-stream, settings-one-stream, cut, silence, delay or expired-certificate.")
        var action: String?
        @Option(help: "The milliseconds before anything happens.") var delay: Int?
        @Flag(help: "Process the request before the connection ends or stays silent.") var processed = false
        @Option(help: "Only requests of one interface: apns, fcm, fcm-legacy, fcm-topics, fcm-groups, oauth, web-push.")
        var interface: String?
        @Option(help: "Only requests for this token.") var token: String?
        @Option(help: "Only requests for this app.") var app: String?
        @Option(help: "Only requests of this team.") var team: String?
        @Option(help: "Only requests of this test.") var namespace: String?
        @Option(help: "Only requests whose path begins so.") var path: String?
        @Option(help: "Only requests on the connection of this number.") var connection: Int?
        @Option(help: "The number of requests that pass at first.") var skip: Int?
        @Option(help: "The number of requests that get the fault; 0 for all.") var times: Int?
        @Option(help: "The part of the requests that get it, 0 to 1.") var rate: Double?
        @Option(help: "The seed of the choice that --rate makes.") var seed: Int?
        @OptionGroup var server: TestServerOption

        func run() async throws {
            let texts = [
                ("reason", reason), ("action", action), ("interface", interface), ("token", token), ("app", app),
                ("team", team), ("namespace", namespace), ("path", path),
            ]
            let numbers = [
                ("status", status), ("retryAfter", retryAfter), ("delay", delay), ("connection", connection),
                ("skip", skip), ("times", times), ("seed", seed),
            ]
            var members: [JSONValue.Member] = texts.compactMap { name, value in value.map { .init(name, .string($0)) } }
            members += numbers.compactMap { name, value in value.map { .init(name, .number(String($0))) } }
            if let rate { members.append(.init("rate", .number(String(rate)))) }
            if processed { members.append(.init("unprocessed", .boolean(false))) }
            let fault = try await server.ask("POST", "/v1/faults", body: .object(members))
            print(Terminal.text("fault \(fault?["id"]?.text ?? "") is set"))
        }
    }

    /// `aldaba fault list`.
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "Show the faults, a JSON object a line, with how often each was used.",
            discussion: """
                EXAMPLES:
                  aldaba fault list
                """)
        @OptionGroup var server: TestServerOption

        func run() async throws {
            for fault in try await server.ask("GET", "/v1/faults")?["faults"]?.items ?? [] { print(fault.json) }
        }
    }

    /// `aldaba fault remove`.
    struct Remove: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove", abstract: "Remove a fault, or all of them.",
            discussion: """
                EXAMPLES:
                  aldaba fault remove 3
                  aldaba fault remove --all
                """)
        @Argument(help: "The fault's number.") var id: Int?
        @Flag(help: "Remove all of them.") var all = false
        @OptionGroup var server: TestServerOption

        func validate() throws {
            guard (id != nil) != all else { throw ValidationError("give a fault's number, or --all") }
        }

        func run() async throws { try await server.ask("DELETE", "/v1/faults\(id.map { "/\($0)" } ?? "")") }
    }
}
