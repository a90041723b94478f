import AldabaConfiguration
import Foundation

/// A line by which the agent reports an event to the process that started it.
package enum AgentReport: Sendable, Equatable {
    /// Apps can connect. `hasScreen` is false where there is no session bus, and so nothing that shows
    /// notifications.
    case listening(socket: String, hasScreen: Bool)
    /// An app has its device token.
    case registered(app: String, token: String)
    /// An app has connected.
    case connected(app: String)
    /// A notification has states that go to the server; `states` are words, with the notes.
    case reported(notification: String, app: String?, title: String, states: [String])

    private struct Line: Codable {
        var event: String
        var socket: String?
        var screen: Bool?
        var app: String?
        var token: String?
        var notification: String?
        var title: String?
        var states: [String]?
    }

    /// The report as one line of JSON.
    package func line() throws -> String {
        let line =
            switch self {
            case .listening(let socket, let hasScreen): Line(event: "listening", socket: socket, screen: hasScreen)
            case .registered(let app, let token): Line(event: "registered", app: app, token: token)
            case .connected(let app): Line(event: "connected", app: app)
            case .reported(let notification, let app, let title, let states):
                Line(event: "reported", app: app, notification: notification, title: title, states: states)
            }
        return try JSONLine.of(line)
    }

    /// Reads a line; `nil` for any other.
    package init?(line: String) {
        guard let line = JSONLine.read(line, as: Line.self) else { return nil }
        switch (line.event, line.socket, line.app, line.token) {
        case ("listening", let socket?, _, _): self = .listening(socket: socket, hasScreen: line.screen ?? true)
        case ("registered", _, let app?, let token?): self = .registered(app: app, token: token)
        case ("connected", _, let app?, _): self = .connected(app: app)
        default:
            guard line.event == "reported", let notification = line.notification, let states = line.states else {
                return nil
            }
            self = .reported(notification: notification, app: line.app, title: line.title ?? "", states: states)
        }
    }

    /// The line that `up` shows of a notification's states; `nil` for other reports, and for states in between.
    package var notificationLine: String? {
        guard case .reported(let notification, let app, let title, let states) = self,
            states.contains(where: { !$0.hasPrefix("decrypted") && !$0.hasPrefix("extended") })
        else { return nil }
        let name = [notification, app, title.isEmpty ? nil : title].compactMap { $0 }.joined(separator: "  ")
        return TerminalText.line("\(name): \(states.joined(separator: ", "))")
    }
}
