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

    func respond(_ request: Request, reference: String) async throws -> Response {
        .json(try await found(request, reference).map(NotificationAnswer.init))
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
private struct NotificationAnswer: Encodable {
    var id: String
    var apnsId: String
    var team: String
    var topic: String
    var device: String?
    var environment: String?
    var recorded: Bool
    var timeline: [Entry]
    /// The summary of the copies of a broadcast.
    var broadcast: Sums?

    struct Sums: Encodable {
        var audience: String
        var expiresAt: String
        /// The number of copies made so far.
        var targeted: Int
        /// The numbers of copies that reached each state.
        var states: [String: Int]
    }

    struct Entry: Encodable {
        var state: String
        var at: String
        var source: String
        var note: String?
    }

    init(_ timeline: NotificationTimeline) {
        id = timeline.id.description
        apnsId = timeline.apnsID.rawValue
        team = timeline.team.rawValue
        topic = timeline.topic.rawValue
        device = timeline.device?.description
        environment = timeline.environment?.rawValue
        recorded = timeline.recorded
        broadcast = timeline.broadcast.map {
            Sums(
                audience: $0.audience, expiresAt: $0.expiresAt.description, targeted: $0.targeted, states: $0.states)
        }
        self.timeline = timeline.entries.map {
            Entry(state: $0.state.text, at: $0.at.description, source: $0.source.rawValue, note: $0.note)
        }
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
