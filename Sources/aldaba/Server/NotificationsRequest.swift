import AldabaConfiguration
import AsyncHTTPClient
import Foundation

/// A request about the notifications that an `apns-id`, an internal id or FCM's name of a message names.
package struct NotificationsRequest {
    /// The request about the notifications.
    package enum Wish {
        /// Reads their timelines.
        case timelines
        /// Withdraws them.
        case withdrawal
    }

    private var id: String
    private var server: ServerOption
    private var signing: SigningOptions

    /// Asks a server about one id, in the name of a provider key.
    package init(id: String, server: ServerOption, signing: SigningOptions) {
        self.id = id
        self.server = server
        self.signing = signing
    }

    /// The body of the server's answer.
    ///
    /// - Throws: ``CommandError`` for every answer but 200.
    package func answer(to wish: Wish) async throws -> Data {
        let (status, body) = try await ControlClient.exchange(request(wish), authority: server.authority)
        return try Self.body(of: status, body)
    }

    /// The body of the server's answer to a client that the caller keeps.
    ///
    /// - Throws: ``CommandError`` for every answer but 200.
    package func answer(to wish: Wish, by client: HTTPClient) async throws -> Data {
        let (status, body) = try await ControlClient.exchange(request(wish), with: client)
        return try Self.body(of: status, body)
    }

    private func request(_ wish: Wish) throws -> HTTPClientRequest {
        // FCM's name of a message ends in the internal id.
        let name = id.hasPrefix("projects/") ? id.split(separator: "/").last.map(String.init) ?? id : id
        let plain = CharacterSet.alphanumerics.union(.init(charactersIn: "-"))
        guard let path = name.addingPercentEncoding(withAllowedCharacters: plain) else {
            throw CommandError(.invalidInput, "\"\(id)\" is no id")
        }
        var request = try server.request("/v1/notifications/\(path)", signing: signing)
        if wish == .withdrawal { request.method = .DELETE }
        return request
    }

    private static func body(of status: Int, _ body: Data) throws -> Data {
        switch status {
        case 200: return body
        case 401, 403:
            throw CommandError(.notAuthorized, "the server does not allow this: \(ControlClient.message(body))")
        case 404: throw CommandError(.failed, "not found: no notification of that id, or none of your team's")
        default: throw CommandError(.failed, "the server answered \(status): \(ControlClient.message(body))")
        }
    }
}
