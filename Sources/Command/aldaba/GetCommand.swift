import ArgumentParser
import AsyncHTTPClient
import CommandCore
import Foundation
import NIOCore

/// `aldaba get`: what became of a notification.
struct GetCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Show the notifications that an apns-id or an internal id names.")
    @Argument(help: "An apns-id, or the server's own id of the notification.") var id: String
    @Flag(help: "Show every state with its time and source.") var timeline = false
    @Flag(help: "Print the server's JSON array.") var json = false
    @OptionGroup var location: FolderOption
    @OptionGroup var signing: SigningOptions

    func run() async throws {
        let addresses = try location.addresses()
        guard let path = id.addingPercentEncoding(withAllowedCharacters: .alphanumerics.union(.init(charactersIn: "-")))
        else { throw CommandFailure(.invalidInput, "\"\(id)\" is no id") }
        var request = HTTPClientRequest(url: "\(addresses.http ?? addresses.control)/v1/notifications/\(path)")
        if addresses.http == nil {
            request.headers.add(name: "authorization", value: "bearer \(try signing.token(location))")
        }
        let (status, body) = try await ControlClient.exchange(request, authority: location.authority)
        switch status {
        case 200: break
        case 401, 403: throw CommandFailure(.notAuthorized, "the server does not allow this: \(Self.message(body))")
        case 404: throw CommandFailure(.failed, "not found: no notification of that id, or none of your team's")
        default: throw CommandFailure(.failed, "the server answered \(status): \(Self.message(body))")
        }
        if json { return print(String(decoding: body, as: UTF8.self)) }
        guard let found = try? JSONDecoder().decode([Shown].self, from: body) else {
            throw CommandFailure(.failed, "the server's answer cannot be read")
        }
        for notification in found { show(notification) }
    }

    private func show(_ notification: Shown) {
        let device = notification.device.map { " on device \($0)" } ?? ""
        print("\(notification.apnsId)  \(notification.topic)\(device), internal id \(notification.id)")
        if !notification.recorded { print("  its timeline was not recorded") }
        guard timeline else { return print("  \(notification.timeline.last?.state ?? "-")") }
        for entry in notification.timeline {
            let note = entry.note.map { "  (\($0))" } ?? ""
            print(TerminalText.line("  \(entry.at)  \(entry.state)  by \(entry.source)\(note)"))
        }
    }

    private struct Shown: Decodable {
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
    }

    private static func message(_ body: Data) -> String {
        struct Answer: Decodable {
            struct Details: Decodable { var message: String }
            var error: Details
        }
        return (try? JSONDecoder().decode(Answer.self, from: body))?.error.message ?? "no reason given"
    }
}
