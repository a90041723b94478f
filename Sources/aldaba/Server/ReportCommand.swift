import AldabaConfiguration
import ArgumentParser
import AsyncHTTPClient
import Foundation
import NIOCore

/// The days that a report or an export covers.
struct ReportDays: ParsableArguments {
    @Option(help: "Only this app's: its topic.") var app: String?
    @Option(help: "The first day, such as 2026-11-22, in UTC; without it six days before the last.") var from: String?
    @Option(help: "The last day; without it today.") var to: String?

    /// The fields of the request.
    var fields: [(String, String?)] { [("app", app), ("from", from), ("to", to)] }
}

/// A request of the control API with fields after its question mark.
struct QueryRequest {
    var path: String
    var fields: [(String, String?)]
    var server: ServerOption
    var signing: SigningOptions

    /// The request, with a provider token where the server wants one.
    func make() throws -> HTTPClientRequest {
        return try server.request("/v1/\(path)?\(ServerPages.query(fields))", signing: signing)
    }
}

/// `aldaba report`: how many notifications came how far.
package struct ReportCommand: AsyncParsableCommand {
    /// The name and the help.
    package static let configuration = CommandConfiguration(
        commandName: "report", abstract: "Show delivery counts by day, app and label.",
        discussion: """
            Each accepted notification has one end: they add up to what was accepted. Opened, shown and so on are counted \
            beside the ends.
            """)
    @OptionGroup var days: ReportDays
    @Option(help: "Only those with this label.") var label: String?
    @Flag(help: "Print the server's JSON object.") var json = false
    @OptionGroup var server: ServerOption
    @OptionGroup var signing: SigningOptions

    /// Made by the parser, which fills it in.
    package init() {}

    /// Does it.
    package func run() async throws {
        let request = try QueryRequest(
            path: "reports", fields: days.fields + [("label", label)], server: server, signing: signing
        ).make()
        let (status, body) = try await ControlClient.exchange(request, authority: server.authority)
        guard status == 200 else { throw ServerOption.failure(status, body) }
        if json { return print(String(decoding: body, as: UTF8.self)) }
        guard let answer = try? JSONDecoder().decode(Answer.self, from: body) else {
            throw CommandError(.failed, "the server's answer cannot be read")
        }
        for row in answer.rows {
            let label = row.label.map { "  label \(TerminalText.line($0))" } ?? ""
            print(Terminal.text("\(row.day)  \(row.app)  \(row.lane)\(label)\n\(row.counts.words)"))
        }
        print(Terminal.text("\(answer.from) to \(answer.to), all together\n\(answer.total.words)"))
    }

    private struct Answer: Decodable {
        var from: String
        var to: String
        var rows: [Row]
        var total: Counts
    }

    private struct Row: Decodable {
        var app: String
        var day: String
        var lane: String
        var label: String?
        var counts: Counts
    }

    private struct Counts: Decodable {
        var accepted: Int
        var sent: Int
        var received: Int
        var presented: Int
        var opened: Int
        var dismissed: Int
        var suppressed: Int
        var ends: [String: Int]

        /// Two lines: how far they came, and how they ended.
        var words: String {
            let stages = [
                ("accepted", accepted), ("sent", sent), ("received", received), ("presented", presented),
                ("opened", opened), ("dismissed", dismissed), ("suppressed", suppressed),
            ].map { "\($0.0) \($0.1)" }
            let ends = ends.filter { $0.value > 0 }.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
            return
                "  \(stages.joined(separator: "  "))\n  ends: \(ends.isEmpty ? "none" : ends.joined(separator: "  "))"
        }
    }
}

/// `aldaba export`: data for other programs.
package struct ExportCommand: AsyncParsableCommand {
    /// Made by the parser, which fills it in.
    package init() {}

    /// The name, the help and the subcommands.
    package static let configuration = CommandConfiguration(
        commandName: "export", abstract: "Export data for other programs.", subcommands: [Events.self])

    /// `aldaba export events`.
    struct Events: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "events", abstract: "Export the events of notifications, one line each.",
            discussion: "In the order in which the notifications were accepted, those of one together.")
        @OptionGroup var days: ReportDays
        @Option(help: "jsonl, or csv with a heading.") var format = "jsonl"
        @Option(help: "Only notifications after this internal id.") var after: String?
        @OptionGroup var server: ServerOption
        @OptionGroup var signing: SigningOptions

        func run() async throws {
            let request = try QueryRequest(
                path: "events", fields: days.fields + [("format", format), ("after", after)], server: server,
                signing: signing
            ).make()
            let client = try ControlClient.make(authority: server.authority)
            do {
                try await copy(request, client)
                try await client.shutdown()
            } catch {
                try? await client.shutdown()
                throw error
            }
        }

        /// Writes what comes as it comes, however much that is.
        private func copy(_ request: HTTPClientRequest, _ client: HTTPClient) async throws {
            let bar = ProgressBar(ProgressMeter("exporting", unit: .bytes))
            defer { bar.end() }
            do {
                let response = try await client.execute(request, timeout: .hours(24))
                guard response.status == .ok else {
                    let body = try await response.body.collect(upTo: 1 << 20)
                    throw ServerOption.failure(Int(response.status.code), Data(body.readableBytesView))
                }
                for try await part in response.body {
                    try FileHandle.standardOutput.write(contentsOf: Data(part.readableBytesView))
                    bar.add(Int64(part.readableBytes))
                }
            } catch let failure as CommandError {
                throw failure
            } catch {
                throw CommandError(
                    .unreachable, "the export broke off: \(ControlClient.failure(error, request))")
            }
        }
    }
}
