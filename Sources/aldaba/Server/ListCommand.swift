import AldabaConfiguration
import ArgumentParser
import AsyncHTTPClient
import Foundation

/// `aldaba list`: a server's notifications.
package struct ListCommand: AsyncParsableCommand {
    /// The name and the help.
    package static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the notifications that a server has, the newest first.",
        discussion: """
            `aldaba get` shows one of them with its timeline. Notifications stay for 30 days.

            EXAMPLES:
              aldaba list                            the newest ones
              aldaba list --json                     for a program
            """)
    @Option(help: "Only this app's: its topic.") var app: String?
    @Option(help: "Only this device's: its id, a decimal number.") var device: String?
    @Option(help: "Only those in this state: waiting, ended or refused.") var state: String?
    @Option(help: "The number of rows, 1 to 100000.") var limit = 100
    @Option(help: "Only those before this internal id, as the last line of an earlier list tells it.") var after:
        String?
    @Flag(help: "Print JSON objects, one a line.") var json = false
    @OptionGroup var server: ServerOption
    @OptionGroup var signing: SigningOptions

    /// Made by the parser, which fills it in.
    package init() {}

    /// Does it.
    package func run() async throws {
        guard (1...100_000).contains(limit) else {
            throw CommandError(.invalidInput, "--limit takes 1 to 100000")
        }
        let pages = ServerPages(
            path: "/v1/notifications", fields: [("app", app), ("device", device), ("state", state)], server: server,
            signing: signing)
        let next = try await pages.read(limit: limit, after: after) { (page: Page) in
            for item in page.notifications { try print(json ? JSONLine.of(item) : item.line) }
            return (page.notifications.count, page.next)
        }
        if let next, !json { Terminal.write("there are more: --after \(next)") }
    }

    private struct Page: Decodable {
        var notifications: [Item]
        var next: String?
    }

    /// A notification as the server describes it.
    private struct Item: Codable {
        var id: String
        var apnsId: String
        var team: String
        var topic: String
        var device: String?
        var environment: String?
        var acceptedAt: String?
        var state: String
        var last: String
        var lastAt: String?
        var outcome: String?
        var title: String?
        var body: String?
        var pushType: String?

        var line: String {
            let device = device.map { "  \(Terminal.text("device")) \($0)" } ?? ""
            return TerminalText.line("\(acceptedAt ?? lastAt ?? "-")  \(id)  \(topic)\(device)  \(state), \(last)")
        }
    }
}

/// The pages of a list of the control API.
struct ServerPages {
    var path: String
    var fields: [(String, String?)]
    /// The field that has the cursor of a page.
    var cursorName = "after"
    var server: ServerOption
    var signing: SigningOptions

    /// Asks for page after page until there are so many items, or no more.
    ///
    /// - Parameter take: Gets a page; returns how many items it has, and the cursor of the next.
    /// - Returns: The cursor of what is left; `nil` at the end.
    func read<Page: Decodable>(
        limit: Int, after: String?, _ take: (Page) throws -> (Int, String?)
    ) async throws -> String? {
        let client = try ControlClient.make(authority: server.authority)
        let result: Result<String?, any Error>
        do { result = .success(try await read(limit, after, client, take)) } catch { result = .failure(error) }
        try? await client.shutdown()
        return try result.get()
    }

    private func read<Page: Decodable>(
        _ limit: Int, _ after: String?, _ client: HTTPClient, _ take: (Page) throws -> (Int, String?)
    ) async throws -> String? {
        var (left, cursor, isFirst) = (limit, after, true)
        while left > 0, isFirst || cursor != nil {
            isFirst = false
            let all = fields + [("limit", String(min(left, 1000))), (cursorName, cursor)]
            let request = try server.request("\(path)?\(Self.query(all))", signing: signing)
            let (status, body) = try await ControlClient.exchange(request, with: client)
            guard status == 200 else { throw ServerOption.failure(status, body) }
            guard let page = try? JSONDecoder().decode(Page.self, from: body) else {
                throw CommandError(.failed, "the server's answer cannot be read")
            }
            let (count, next) = try take(page)
            left -= count
            cursor = next
        }
        return cursor
    }

    /// The query of an address, made of the fields that were given.
    static func query(_ fields: [(String, String?)]) -> String {
        let allowed = CharacterSet.alphanumerics.union(CharacterSet(charactersIn: "-._~"))
        return fields.compactMap { name, value in
            value.flatMap { $0.addingPercentEncoding(withAllowedCharacters: allowed) }.map { "\(name)=\($0)" }
        }.joined(separator: "&")
    }
}
