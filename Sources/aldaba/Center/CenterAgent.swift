import AgentProtocol
import AldabaConfiguration
import Foundation
import NIOPosix

/// The agent, as the pages ask it: by a connection for each request, on a thread that may wait.
struct CenterAgent: Sendable {
    /// Connects to the agent.
    let connect: @Sendable () throws -> AgentClient

    /// Asks the agent several things by one connection.
    func asking<Result: Sendable>(
        _ ask: @escaping @Sendable (AgentClient) throws -> Result
    ) async throws -> Result {
        try await NIOThreadPool.singleton.runIfActive { try ask(try connect()) }
    }

    /// Has the agent do something.
    func order(_ command: ManagementCommand) async throws {
        _ = try await asking { try $0.ask(command) }
    }

    /// A picture of a notification with its media type; `nil` where there is none of that number.
    func picture(_ index: Int, of notification: Int64) async throws -> (bytes: [UInt8], type: String)? {
        try await asking { client in
            guard case .list(let found) = try client.ask(.show(notification: notification)),
                let attachments = found.first?.content.attachments, attachments.indices.contains(index)
            else { return nil }
            let path = attachments[index].path
            guard let bytes = try PrivateFile.bytes(path, limit: Int(MediaKind.image.limit)),
                let format = MediaFormat(head: bytes), format.kind == .image
            else { return nil }
            return (bytes, format.contentType)
        }
    }
}

extension AgentClient {
    /// The status of the agent.
    func status() throws -> AgentStatus {
        guard case .status(let status) = try ask(.status) else { throw unexpected() }
        return status
    }

    /// The settings of an app, or of all.
    func settings(of app: BundleID) throws -> [ManagementAnswer.Setting] {
        guard case .settings(let settings) = try ask(.settings(app: app)) else { throw unexpected() }
        return settings
    }
}
