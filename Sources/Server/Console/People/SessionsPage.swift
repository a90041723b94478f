import Hummingbird
import PushCore
import PushServer

/// The sessions of the person, and the team in which the person acts.
struct SessionsPage: Sendable {
    let people: ConsolePeople

    func add(to routes: ConsoleRoutes) {
        routes.get("sessions") { try await show($0) }
        routes.post("sessions/end") { try await endOthers($0) }
        routes.post("sessions/:id/end") { try await end($0) }
        routes.post("team") { try await chooseTeam($0) }
    }

    private func show(_ pageRequest: PageRequest) async throws -> Response {
        guard let person = pageRequest.user.person, let own = pageRequest.user.session else {
            return pageRequest.redirect(to: "/console/login")
        }
        let now = people.service.now
        let sessions = try await people.service.store.sessions(of: person.id).filter { !$0.isOver(at: now) }
        let rows = sessions.map { session in
            [
                "id": session.id, "agent": session.agent, "address": session.address,
                "begun": pageRequest.time(session.createdAt.description) as Any,
                "used": pageRequest.time(session.usedAt.description) as Any, "isOwn": session.hash == own.hash,
            ] as [String: Any]
        }
        let roles = person.memberships.map { membership in
            [
                "team": membership.team?.rawValue ?? "", "label": Self.label(membership, pageRequest),
                "isChosen": membership == pageRequest.user.membership,
            ] as [String: Any]
        }
        return pageRequest.page(
            "sessions", title: pageRequest.texts.text("people.sessions"), section: "sessions",
            [
                "sessions": rows, "name": person.name, "roles": roles, "hasChoice": roles.count > 1,
                "hasOthers": rows.count > 1,
            ])
    }

    /// A role with its team.
    static func label(_ membership: PersonMembership, _ pageRequest: PageRequest) -> String {
        let role = pageRequest.texts.text("people.role.\(membership.role.rawValue)")
        let team = membership.team?.rawValue ?? pageRequest.texts.text("people.everyteam")
        return "\(role) · \(team)" + (membership.device.map { " · \($0)" } ?? "")
    }

    private func end(_ pageRequest: PageRequest) async throws -> Response {
        guard let person = pageRequest.user.person else { return pageRequest.redirect(to: "/console/login") }
        let id = try pageRequest.parameter("id")
        let found = try await people.service.store.sessions(of: person.id).first { $0.id == id }
        guard let found else { throw ControlError.notFound }
        try await people.recorded(.endSession, person.name, by: .person(person.name)) {
            _ = try await people.service.store.endSession(found.hash)
        }
        return pageRequest.redirect(to: "/console/sessions")
    }

    private func endOthers(_ pageRequest: PageRequest) async throws -> Response {
        guard let session = pageRequest.user.session, let person = pageRequest.user.person else {
            return pageRequest.redirect(to: "/console/login")
        }
        try await people.recorded(.endSession, person.name, by: .person(person.name)) {
            try await people.service.store.endSessions(of: person.id, except: session.hash)
        }
        return pageRequest.redirect(to: "/console/sessions")
    }

    private func chooseTeam(_ pageRequest: PageRequest) async throws -> Response {
        guard let session = pageRequest.user.session, let person = pageRequest.user.person else {
            return pageRequest.redirect(to: "/console/login")
        }
        let text = try await pageRequest.request.form().first("team") ?? ""
        let team = text.isEmpty ? nil : TeamID(rawValue: text)
        guard person.memberships.contains(where: { $0.team == team }) else {
            throw ConsoleRefusal.team.error
        }
        try await people.service.store.chooseTeam(team, inSession: session.hash)
        return pageRequest.redirect(to: "/console/")
    }
}
