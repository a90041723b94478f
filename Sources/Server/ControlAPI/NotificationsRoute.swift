import HTTPTypes
import Hummingbird
import PushCore
import PushServer

/// The routes `GET /v1/notifications/{id}` and `DELETE`. `GET` returns the notifications with an internal id, an
/// `apns-id` or FCM's name of a message, with their timelines; `DELETE` withdraws them.
struct NotificationsRoute: Sendable {
    let timelines: any TimelineService
    let withdrawal: any NotificationWithdrawal
    var broadcasts: Broadcasts?
    let access: ProviderAccess
    /// The store of notifications' contents; `nil` for a server that does not show them.
    var inventory: (any InventoryStore)?

    func respond(_ request: Request, reference: String) async throws -> Response {
        var answers: [JSONValue] = []
        for timeline in try await found(request, reference) {
            let content = try await inventory?.content(of: timeline.id)
            answers.append(NotificationAnswer(timeline, content).json)
        }
        return .value(.array(answers))
    }

    /// Withdraws every notification with that id. The response contains the outcome of each. It is 503 when the server
    /// could not withdraw one, and the request may be repeated.
    func withdraw(_ request: Request, reference: String) async throws -> Response {
        let found = try await found(request, reference)
        let outcomes = await withTaskGroup(of: (Int, WithdrawalOutcome).self) { group in
            for (place, timeline) in found.enumerated() {
                group.addTask { (place, await takeBack(timeline)) }
            }
            return await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        guard !outcomes.values.contains(.failed) else { throw ControlError.unavailable }
        return .json(
            found.enumerated().map { place, timeline in
                WithdrawalAnswer(timeline, outcomes[place] ?? .ended)
            })
    }

    private func takeBack(_ timeline: NotificationTimeline) async -> WithdrawalOutcome {
        guard timeline.broadcast != nil, let broadcasts else { return await withdraw(timeline) }
        return (try? await broadcasts.withdrawBroadcast(timeline.id)) ?? .failed
    }

    /// Withdraws one notification; refused requests and unrecorded timelines have nothing queued.
    private func withdraw(_ timeline: NotificationTimeline) async -> WithdrawalOutcome {
        guard let device = timeline.device else { return .ended }
        return await withCheckedContinuation { continuation in
            withdrawal.withdraw(timeline.id, of: device) { continuation.resume(returning: $0) }
        }
    }

    /// The notifications with an id that the caller may see.
    private func found(_ request: Request, _ reference: String) async throws -> [NotificationTimeline] {
        let team = try await access.team(request.headers[.authorization])
        let reference = try NotificationReference(segment: reference)
        let found = try await timelines.timelines(of: reference.id, team: try reference.owner(team))
        guard !found.isEmpty else { throw ControlError.notFound }
        return found
    }
}

/// A notification's JSON in the API.
private struct NotificationAnswer {
    let timeline: NotificationTimeline
    let content: NotificationContent?

    init(_ timeline: NotificationTimeline, _ content: NotificationContent?) {
        self.timeline = timeline
        self.content = content
    }

    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init("id", .string(timeline.id.description)), .init("apnsId", .string(timeline.apnsID.rawValue)),
            .init("team", .string(timeline.team.rawValue)), .init("topic", .string(timeline.topic.rawValue)),
            .init("recorded", .boolean(timeline.recorded)),
        ]
        if let device = timeline.device { members.append(.init("device", .string(device.description))) }
        if let environment = timeline.environment {
            members.append(.init("environment", .string(environment.rawValue)))
        }
        if let broadcast = timeline.broadcast { members.append(.init("broadcast", Self.sums(broadcast))) }
        if let content { members.append(.init("content", Self.content(content))) }
        members.append(.init("timeline", .array(timeline.entries.map(Self.entry))))
        return .object(members.sorted { $0.name < $1.name })
    }

    /// The summary of the copies of a broadcast: their number so far, and the numbers that reached each state.
    private static func sums(_ broadcast: BroadcastSummary) -> JSONValue {
        .object([
            .init("audience", .string(broadcast.audience)),
            .init("expiresAt", .string(broadcast.expiresAt.description)),
            .init("targeted", .number(String(broadcast.targeted))),
            .init(
                "states",
                .object(
                    broadcast.states.sorted { $0.key < $1.key }.map { .init($0.key, .number(String($0.value))) })),
        ])
    }

    private static func content(_ content: NotificationContent) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("priority", .number(String(content.priority.rawValue))),
            .init("lane", .string(content.lane == .fcm ? "fcm" : "apns")),
        ]
        if let type = content.pushType { members.append(.init("pushType", .string(type.rawValue))) }
        if let id = content.collapseID { members.append(.init("collapseId", .string(id))) }
        if let end = content.expiresAt { members.append(.init("expiresAt", .string(end.description))) }
        if let payload = content.json { members.append(.init("payload", payload)) }
        return .object(members)
    }

    private static func entry(_ entry: TimelineEntry) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("state", .string(entry.state.text)), .init("at", .string(entry.at.description)),
            .init("source", .string(entry.source.rawValue)),
        ]
        if let note = entry.note { members.append(.init("note", .string(note))) }
        return .object(members.sorted { $0.name < $1.name })
    }
}

/// The JSON of the withdrawal of one notification in the API.
private struct WithdrawalAnswer: Encodable {
    var id: String
    var apnsId: String
    var device: String?
    var outcome: Outcome

    enum Outcome: String, Encodable {
        /// The notification was queued, and is not delivered any more.
        case withdrawn
        /// The device may have it, and is notified to remove it from the screen.
        case asked
        /// Nothing was left to withdraw: the notification had ended before.
        case ended
    }

    init(_ timeline: NotificationTimeline, _ outcome: WithdrawalOutcome) {
        id = timeline.id.description
        apnsId = timeline.apnsID.rawValue
        device = timeline.device?.description
        self.outcome =
            switch outcome {
            case .withdrawn: .withdrawn
            case .mayHaveArrived: .asked
            case .ended, .unknown, .failed: .ended
            }
    }
}
