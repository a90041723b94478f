import AldabaConfiguration
import ArgumentParser
import Foundation

/// `aldaba withdraw`: take a notification back.
package struct WithdrawCommand: AsyncParsableCommand {
    /// The name and the help.
    package static let configuration = CommandConfiguration(
        commandName: "withdraw", abstract: "Withdraw the notifications with an apns-id or an internal id.",
        discussion: """
            What waits does not come any more. A device that may have it is asked to take it off its screen; \
            `aldaba get --timeline` says when it has.
            """)
    @Argument(help: "An apns-id, or the server's own id of the notification.") var id: String
    @Flag(help: "Print the server's JSON array.") var json = false
    @OptionGroup var server: ServerOption
    @OptionGroup var signing: SigningOptions

    /// Made by the parser, which fills it in.
    package init() {}

    /// Does it.
    package func run() async throws {
        let body = try await NotificationsRequest(id: id, server: server, signing: signing).answer(to: .withdrawal)
        if json { return print(String(decoding: body, as: UTF8.self)) }
        guard let answers = try? JSONDecoder().decode([Answer].self, from: body) else {
            throw CommandError(.failed, "the server's answer cannot be read")
        }
        for answer in answers {
            let device = answer.device.map { " on device \($0)" } ?? ""
            print(Terminal.text("\(answer.apnsId)\(device), internal id \(answer.id): \(answer.words)"))
        }
    }

    private struct Answer: Decodable {
        var id: String
        var apnsId: String
        var device: String?
        var outcome: String

        var words: String {
            switch outcome {
            case "withdrawn": "withdrawn before it was sent"
            case "asked": "the device is asked to take it off its screen"
            case "ended": "there was nothing to take back"
            default: outcome
            }
        }
    }
}
