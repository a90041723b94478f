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

    private struct Line: Codable {
        var event: String
        var socket: String?
        var screen: Bool?
        var app: String?
        var token: String?
    }

    /// The report as one line of JSON.
    package func line() throws -> String {
        let line =
            switch self {
            case .listening(let socket, let hasScreen): Line(event: "listening", socket: socket, screen: hasScreen)
            case .registered(let app, let token): Line(event: "registered", app: app, token: token)
            case .connected(let app): Line(event: "connected", app: app)
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
        default: return nil
        }
    }
}
