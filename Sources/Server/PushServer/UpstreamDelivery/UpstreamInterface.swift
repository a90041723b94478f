import Foundation
import HTTPTypes
import Hummingbird
import NIOCore
import PushCore

/// The routes of apps' messages to their providers. `GET /v1/upstream`: the messages as server-sent events; `POST
/// /v1/upstream/ack`: an acknowledgement; `GET /v1/upstream/messages/{id}`: the outcome of a message.
///
/// A message is queued until it is acknowledged or has expired. `Last-Event-ID`, which a client of server-sent events
/// sends when it reconnects, acknowledges everything up to that event, as `ack` does. A stream without it begins with
/// the oldest queued message.
package struct UpstreamInterface: ControlInterface {
    private let feed: MessageFeed
    private let authentication: any ProviderAuthentication
    private let slots: StreamSlots
    /// The silence after which a comment is written: longer ones would be taken for a lost connection.
    private let heartbeat: Duration

    /// Creates an interface over a feed.
    package init(
        feed: MessageFeed, authentication: any ProviderAuthentication, streamLimit: Int = 512,
        heartbeat: Duration = .seconds(15)
    ) {
        self.feed = feed
        self.authentication = authentication
        slots = StreamSlots(limit: streamLimit, label: "aldaba_app_message_streams")
        self.heartbeat = heartbeat
    }

    /// Adds the routes of the stream, the acknowledgement and the look-up of ends.
    package func add(to router: Router<ControlContext>, isSecured: Bool) {
        let access = ProviderAccess(authentication: isSecured ? authentication : nil)
        router.get("v1/upstream") { request, _ in try await stream(request, access) }
        router.post("v1/upstream/ack") { request, _ in try await acknowledge(request, access) }
        router.get("v1/upstream/messages/:id") { request, context in
            try await ends(request, access: access, id: context.parameters.require("id"))
        }
    }

    // MARK: The stream

    private func stream(_ request: Request, _ access: ProviderAccess) async throws -> Response {
        let authorization = request.headers[.authorization]
        let team = try await access.team(authorization)
        let scope = try await scope(request, team)
        var cursor: Int64 = 0
        if let text = request.headers[.lastEventID], !text.isEmpty {
            cursor = try Self.number(text, "Last-Event-ID")
            _ = try await feed.take(scope, through: cursor)
        }
        let slot = try slots.slot(for: team)
        let stream = MessageStream(feed: feed, scope: scope, cursor: cursor, heartbeat: heartbeat) {
            // The credential may have expired since; the client then reconnects with another.
            await Self.isAllowed(access, authorization)
        }
        return .events(in: slot) { writer in try await stream.write(to: &writer) }
    }

    /// Whether the value of a field `Authorization` gives access now.
    static func isAllowed(_ access: ProviderAccess, _ authorization: String?) async -> Bool {
        do {
            _ = try await access.team(authorization)
            return true
        } catch {
            return false
        }
    }

    private func scope(_ request: Request, _ team: TeamID?) async throws -> MessageScope {
        do {
            return try await feed.scope(team: team, topic: request.uri.queryParameters["topic"].map(String.init))
        } catch MessageFeed.ScopeError.unknownTopic {
            throw ControlError.notFound
        } catch MessageFeed.ScopeError.hasWebhook {
            throw ControlError(
                status: .conflict, code: "hasWebhook",
                message: "the app's messages are sent to its webhook; `aldaba app webhook remove` ends that")
        }
    }

    private static func number(_ text: String, _ name: String) throws -> Int64 {
        guard let number = Int64(text), number >= 0 else {
            throw ControlError.invalid("\(name) is \"\(text.prefix(40))\"; the id of an event would be right")
        }
        return number
    }

    // MARK: Acknowledgement

    private struct Acknowledgement: Decodable {
        var through: String
    }

    private struct Taken: Encodable {
        var taken: Int
    }

    private func acknowledge(_ request: Request, _ access: ProviderAccess) async throws -> Response {
        let scope = try await scope(request, try await access.team(request.headers[.authorization]))
        let body = try await request.wholeBody()
        guard let asked = try? JSONDecoder().decode(Acknowledgement.self, from: Data(body.readableBytesView)) else {
            throw ControlError.invalid(
                #"the body is not {"through":"ID"}, with the id of the last event that was handled"#)
        }
        let through = try Self.number(asked.through, "through")
        return .json(Taken(taken: try await feed.take(scope, through: through)))
    }

    // MARK: The outcome of a message

    private struct Ended: Encodable {
        var device: String
        var state: String
    }

    func ends(_ request: Request, access: ProviderAccess, id: String) async throws -> Response {
        let team = try await access.team(request.headers[.authorization])
        guard let topic = request.uri.queryParameters["topic"] else {
            throw ControlError.invalid("the app is missing: ?topic=com.example.app")
        }
        guard let name = id.removingPercentEncoding else { throw ControlError.notFound }
        let ends: [DeviceID: MessageEnd?]
        do {
            ends = try await feed.ends(team: team, topic: String(topic), messageID: name)
        } catch MessageFeed.ScopeError.unknownTopic {
            throw ControlError.notFound
        }
        guard !ends.isEmpty else { throw ControlError.notFound }
        let answer = ends.map { Ended(device: $0.key.description, state: $0.value?.rawValue ?? "waiting") }
        return .json(answer.sorted { $0.device < $1.device })
    }
}

extension HTTPField.Name {
    /// The field with the id at which a stream of server-sent events continues.
    static var lastEventID: HTTPField.Name { HTTPField.Name("Last-Event-ID") ?? .range }
}
