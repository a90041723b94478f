import AldabaConfiguration
import ArgumentParser
import ControlAPI
import Foundation
import PushCore
import PushServer

/// `aldaba audit`: who changed what on a server.
struct AuditCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit", abstract: "List who changed what on a server, the newest first.",
        discussion: """
            The log is in the data folder; the server need not run. It has every change by the console, the API and the \
            command line, and nothing deletes or changes an entry.

            EXAMPLES:
              aldaba audit --action key --since 7d
              aldaba audit --object com.example.mine --json
            """)
    @Option(help: "Only these changes: app.add, or app for all of apps.") var action: String?
    @Option(help: "Only changes of objects whose name has this part.") var object: String?
    @Option(help: "Only changes by this actor: a name, a key's id, or a kind such as user.") var actor: String?
    @Option(help: "Only changes since then: a time such as 2026-11-21T04:05:06Z, or 90m, 12h, 7d ago.")
    var since: String?
    @Option(help: "The number of rows, 1 to 100000.") var limit = 100
    @OptionGroup var location: FolderOption
    @Flag(help: "Print one JSON array.") var json = false

    func run() async throws {
        guard (1...100_000).contains(limit) else { throw CommandError(.invalidInput, "--limit takes 1 to 100000") }
        var filter = AuditFilter()
        filter.action = action
        filter.object = object
        filter.actor = actor
        filter.from = try since.map { try Self.instant($0, now: presentTime()) }
        let wanted = filter
        let entries = try await ServerRegister.readingStore(location.folder) { store in
            var (found, before, isMore): ([AuditEntry], Int64?, Bool) = ([], nil, true)
            while isMore, found.count < limit {
                let page = try await store.audit.auditEntries(wanted, before: before, limit: limit - found.count)
                found += page.items
                (before, isMore) = (page.next, page.next != nil)
            }
            return found
        }
        if json { return print(JSONValue.array(entries.map(\.json)).json) }
        for entry in entries { print(Self.line(entry)) }
    }

    /// Reads an instant, or a time before now.
    static func instant(_ text: String, now: Timestamp) throws -> Timestamp {
        if let instant = Timestamp(text: text) { return instant }
        guard let ago = TestDuration.read(text) else {
            throw CommandError(
                .invalidInput,
                "--since: \"\(text)\" is no time; 2026-11-21T04:05:06Z, 90m, 12h or 7d would be right")
        }
        return now.adding(milliseconds: -1000 * ago.components.seconds)
    }

    /// An entry as a line of text.
    static func line(_ entry: AuditEntry) -> String {
        var words = [
            "\(entry.number)", entry.at.description, entry.origin.rawValue, who(entry.actor), entry.action,
            entry.object.isEmpty ? "-" : entry.object, entry.end?.outcome.rawValue ?? "unknown",
        ]
        if let before = entry.before { words.append("before \(before)") }
        if let after = entry.end?.after { words.append("after \(after)") }
        return words.map(TerminalText.line).joined(separator: "  ")
    }

    private static func who(_ actor: AuditActor) -> String {
        switch actor {
        case .console, .development: actor.kind
        case .person, .user, .credential:
            "\(actor.kind):\(actor.name)" + (actor.id.map { "/\($0)" } ?? "")
        }
    }
}
