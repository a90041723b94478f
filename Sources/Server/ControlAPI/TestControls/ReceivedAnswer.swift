import Foundation
import PushCore
import PushServer

/// The JSON of requests that were received.
struct ReceivedAnswer {
    let page: ReceivedRequests.Page

    /// The answer's object.
    var json: JSONValue {
        .object([
            .init("received", .array(page.items.map(Self.entry))), .init("matching", .number(String(page.matching))),
            .init("last", .number(String(page.last))), .init("forgotten", .number(String(page.forgotten))),
        ])
    }

    private static func text(_ value: String?) -> JSONValue { value.map { .string($0) } ?? .null }

    private static func entry(_ item: ReceivedRequests.Page.Item) -> JSONValue {
        let request = item.request
        let (content, parties) = (request.content, request.parties)
        var members: [JSONValue.Member] = [
            .init("number", .number(String(request.number))), .init("at", .string(request.at.description)),
            .init("interface", .string(content.interface.rawValue)),
            .init("connection", .number(String(content.connection))), .init("method", .string(content.method)),
            .init("path", .string(content.path)), .init("headers", fields(content.fields)),
            .init("payload", request.json ?? .null), body(content.body),
            .init("length", .number(String(content.length))),
        ]
        members += [
            .init("token", text(parties.token)), .init("app", text(request.app)),
            .init("team", text(parties.team)), .init("key", text(parties.key)), .init("topic", text(parties.topic)),
            .init("condition", text(parties.condition)), .init("namespace", text(parties.namespace)),
            .init("title", text(request.title)), .init("body", text(request.text)),
            .init("state", .string(item.state)), .init("answer", answer(request.answer)),
            .init("milliseconds", milliseconds(request.answer?.duration)),
            .init("fault", text(request.fault.map(String.init))),
            .init("notifications", .array(zip(request.accepted, item.states).map(notification))),
        ]
        return .object(members)
    }

    private static func fields(_ fields: [ReceivedRequest.Field]) -> JSONValue {
        .object(fields.map { .init($0.name, .string($0.value)) })
    }

    /// A body as text, or where it is none in Base64.
    private static func body(_ bytes: [UInt8]) -> JSONValue.Member {
        if let text = String(validating: bytes, as: UTF8.self) { return .init("text", .string(text)) }
        return .init("base64", .string(Data(bytes).base64EncodedString()))
    }

    private static func answer(_ answer: ReceivedRequest.Answer?) -> JSONValue {
        guard let answer else { return .null }
        return .object([
            .init("status", .number(String(answer.status))), .init("reason", text(answer.reason)),
            .init("headers", fields(answer.fields)), body(answer.body),
        ])
    }

    private static func milliseconds(_ duration: Duration?) -> JSONValue {
        guard let duration else { return .null }
        let microseconds = duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000
        return .number("\(microseconds / 1000).\(String(1000 + microseconds % 1000).dropFirst())")
    }

    private static func notification(_ accepted: ReceivedRequest.Accepted, _ state: String) -> JSONValue {
        .object([
            .init("id", .string(accepted.id.description)),
            .init("app", text(accepted.app.isEmpty ? nil : accepted.app)),
            // An encrypted payload is no JSON.
            .init("payload", (try? JSONValue(accepted.payload)) ?? .null), .init("state", .string(state)),
        ])
    }
}
