import HubProtocol
import Hummingbird
import PushCore
import PushServer

extension OwnRoutes {
    /// Answers everything that the hub has of a person.
    func exportPerson(_ call: Call) async throws -> Response {
        let export = try await hubs.export(user: call.name, of: call.hub, timelines: timelines)
        return .json(
            tree: .object([
                .init("user", .string(call.name)), .init("exportedAt", .string(WireTime.write(hubs.now))),
                .init("installations", .array(export.installations.map(\.ownAnswer))),
                .init("notifications", .array(export.notifications.map(\.tree))),
                .init("events", .array(export.events.map(Self.tree))),
            ]))
    }

    private static func tree(_ event: HubEvent) -> JSONValue {
        .object([
            .init("event", .string(event.kind.rawValue)), .init("at", .string(WireTime.write(event.at))),
            .init("data", event.data),
        ])
    }
}

extension PersonExport.Notification {
    fileprivate var tree: JSONValue {
        var members: [JSONValue.Member] = [.init("send", .string(send))]
        if let campaign { members.append(.init("campaign", .string(campaign))) }
        members.append(.init("recipient", recipient.tree(id)))
        members.append(
            .init(
                "timeline",
                .array(
                    timeline.map { entry in
                        var members: [JSONValue.Member] = [
                            .init("state", .string(entry.state.text)), .init("at", .string(WireTime.write(entry.at))),
                            .init("source", .string(entry.source.rawValue)),
                        ]
                        if let note = entry.note { members.append(.init("note", .string(note))) }
                        return .object(members)
                    })))
        return .object(members)
    }
}
