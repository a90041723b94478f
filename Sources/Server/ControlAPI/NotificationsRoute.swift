import HTTPTypes
import Hummingbird
import PushModel
import ServerCore

/// `GET /v1/notifications/{id}`: the notifications that an internal id or an `apns-id` names, with their timelines.
struct NotificationsRoute: Sendable {
    let timelines: any TimelineService
    /// Who may ask: whoever reaches the listener (`nil`), or the holder of a provider token.
    let authentication: (any ProviderAuthentication)?

    func respond(_ request: Request, reference: String) async throws -> Response {
        let team = try await team(request.headers[.authorization])
        guard !reference.isEmpty, reference.utf8.count <= 128 else { throw ControlError.notFound }
        let found = try await timelines.timelines(of: reference, team: team)
        guard !found.isEmpty else { throw ControlError.notFound }
        return .json(found.map(NotificationAnswer.init))
    }

    /// The team whose notifications may be seen; `nil` for every team's.
    private func team(_ authorization: String?) async throws -> TeamID? {
        guard let authentication else { return nil }
        guard let authorization else {
            throw ControlError.notAuthorized("a provider token is missing: Authorization: bearer TOKEN")
        }
        switch try await authentication.team(authorization: authorization) {
        case .team(let team): return team
        case .missing: throw ControlError.notAuthorized("a provider token is missing: Authorization: bearer TOKEN")
        case .expired: throw ControlError.notAuthorized("the provider token is older than one hour")
        case .invalid: throw ControlError.notAuthorized("the provider token is not valid")
        }
    }
}

/// One notification as the API writes it.
private struct NotificationAnswer: Encodable {
    var id: String
    var apnsId: String
    var team: String
    var topic: String
    var device: String?
    var environment: String?
    var recorded: Bool
    var timeline: [Entry]

    struct Entry: Encodable {
        var state: String
        var at: String
        var source: String
        var note: String?
    }

    init(_ timeline: NotificationTimeline) {
        id = timeline.id.description
        apnsId = timeline.apnsID
        team = timeline.team.rawValue
        topic = timeline.topic.rawValue
        device = timeline.device?.description
        environment = timeline.environment?.rawValue
        recorded = timeline.recorded
        self.timeline = timeline.entries.map {
            Entry(state: $0.state.text, at: $0.at.description, source: $0.source.rawValue, note: $0.note)
        }
    }
}
