import AldabaConfiguration
import ArgumentParser
import Foundation

/// `aldaba get`: what became of a notification.
package struct GetCommand: AsyncParsableCommand {
    /// The name and the help.
    package static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Show the notifications with an apns-id or an internal id.",
        discussion: """
            EXAMPLES:
              aldaba get APNS-ID --timeline      how far it came, or why it did not
              aldaba get APNS-ID --json          for a program
            """)
    @Argument(help: "An apns-id, the server's own id of the notification, or FCM's name of a message.") var id: String
    @Flag(help: "Show every state with its time and source.") var timeline = false
    @Flag(help: "Print the server's JSON array.") var json = false
    @OptionGroup var server: ServerOption
    @OptionGroup var signing: SigningOptions

    /// Made by the parser, which fills it in.
    package init() {}

    /// Does it.
    package func run() async throws {
        let body = try await NotificationsRequest(id: id, server: server, signing: signing).answer(to: .timelines)
        if json { return print(String(decoding: body, as: UTF8.self)) }
        guard let found = try? JSONDecoder().decode([Shown].self, from: body) else {
            throw CommandError(.failed, "the server's answer cannot be read")
        }
        for notification in found { show(notification) }
    }

    private func show(_ notification: Shown) {
        let device = notification.device.map { " on device \($0)" } ?? ""
        print(Terminal.text("\(notification.apnsId)  \(notification.topic)\(device), internal id \(notification.id)"))
        if let sums = notification.broadcast { show(sums) }
        if !notification.recorded { print(Terminal.text("  its timeline was not recorded")) }
        guard timeline else { return print("  \(notification.timeline.last?.state ?? "-")") }
        for entry in notification.timeline {
            let note = entry.note.map { "  (\($0))" } ?? ""
            print(TerminalText.line(Terminal.text("  \(entry.at)  \(entry.state)  by \(entry.source)\(note)")))
        }
    }

    /// The sums of a broadcast; its copies have timelines of their own.
    private func show(_ sums: Shown.Sums) {
        let states = sums.states.sorted { $0.key < $1.key }.map { ", \($0.value) \($0.key)" }.joined()
        print(
            TerminalText.line(Terminal.text("  a broadcast for \(sums.audience): \(sums.targeted) targeted\(states)")))
    }

    private struct Shown: Decodable {
        struct Sums: Decodable {
            var audience: String
            var targeted: Int
            var states: [String: Int]
        }
        struct Entry: Decodable {
            var state: String
            var at: String
            var source: String
            var note: String?
        }
        var id: String
        var apnsId: String
        var topic: String
        var device: String?
        var recorded: Bool
        var timeline: [Entry]
        var broadcast: Sums?
    }
}
