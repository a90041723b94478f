import Foundation
import HTTPTypes
import Hummingbird
import PushCore
import PushServer

/// The people of the console and their roles.
///
/// An owner of all teams changes everybody. An owner or admin of one team adds people there, and changes their roles there.
struct PeoplePage: Sendable {
    let people: ConsolePeople

    func add(to routes: ConsoleRoutes) {
        routes.get("accounts") { try await show($0) }
        routes.post("accounts") { try await addPerson($0) }
        routes.post("accounts/:id/roles") { try await changeRole($0) }
        routes.post("accounts/:id/link") { try await makeLink($0) }
        routes.post("accounts/:id/remove") { try await remove($0) }
    }

    private func show(
        _ pageRequest: PageRequest, _ values: [String: Any] = [:], status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let team = pageRequest.user.membership?.team
        let isOwner = pageRequest.user.person?.isOwner == true
        let shown = try await people.service.store.people().filter { person in
            team == nil || person.memberships.contains { $0.team == team }
        }
        var values = values
        values["people"] = shown.map { person in
            [
                "id": person.id.rawValue, "name": person.name,
                "roles": person.memberships.filter { team == nil || $0.team == team }
                    .map { SessionsPage.label($0, pageRequest) },
                "hasPassword": person.password != nil, "isOwner": isOwner,
                "choices": choices(pageRequest), "team": team?.rawValue ?? "", "isLimited": team != nil,
            ] as [String: Any]
        }
        values["choices"] = choices(pageRequest)
        values["team"] = team?.rawValue ?? ""
        values["isLimited"] = team != nil
        for name in ["nameFault", "link", "given"] where values[name] == nil { values[name] = false }
        return pageRequest.page(
            "accounts", title: pageRequest.texts.text("people.people"), section: "accounts", status: status, values)
    }

    /// The roles that the user may give: none above the user's own.
    private func choices(_ pageRequest: PageRequest) -> [[String: Any]] {
        let own = pageRequest.user.membership?.role ?? .reader
        return PersonRole.allCases.reversed().filter { own.includes($0) }.map {
            ["role": $0.rawValue, "label": pageRequest.texts.text("people.role.\($0.rawValue)")]
        }
    }

    private func addPerson(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await pageRequest.request.form()
        let given = form.first("name") ?? ""
        guard let name = Person.name(given) else {
            return try await refusal(of: given, for: "people.name.fault", pageRequest)
        }
        let person = Person(
            id: PeopleService.newID(), name: name, memberships: [try membership(form, pageRequest)],
            createdAt: people.service.now)
        do {
            try await people.recorded(.addPerson, name, by: pageRequest.user.scope.actor) {
                try await people.service.store.addPerson(person)
            }
        } catch PeopleError.nameTaken { return try await refusal(of: given, for: "people.name.taken", pageRequest) }
        return try await showLink(of: person, pageRequest)
    }

    /// The page with a refused name, and the text of the reason.
    private func refusal(
        of given: String, for key: String, _ pageRequest: PageRequest
    ) async throws -> Response {
        try await show(
            pageRequest, ["nameFault": pageRequest.texts.text(key), "given": given.isEmpty ? false : given],
            status: .unprocessableContent)
    }

    private func showLink(of person: Person, _ pageRequest: PageRequest) async throws -> Response {
        let secret = try await people.service.makeLink(for: person.id, lasting: PersonLink.invitation)
        let address = "https://\(pageRequest.request.head.authority ?? "")/console/setup?link=\(secret.text)"
        return try await show(pageRequest, ["link": ["address": address, "person": person.name]])
    }

    /// The role that a form gives.
    ///
    /// - Throws: A refusal of a role or a team that the user may not give.
    private func membership(_ form: FormFields, _ pageRequest: PageRequest) throws -> PersonMembership {
        guard let own = pageRequest.user.membership else { throw ConsoleRefusal.noRole.error }
        guard let role = form.first("role").flatMap(PersonRole.init(rawValue:)) else {
            throw ControlError.invalid("role is not one of owner, admin, sender, reader, support")
        }
        let text = form.first("team")?.trimmingCharacters(in: .whitespaces) ?? ""
        guard text.isEmpty || TeamID.hasShape(text) else {
            throw ControlError.invalid(pageRequest.texts.text("people.team.fault"))
        }
        let team = text.isEmpty ? own.team : TeamID(rawValue: text)
        guard own.role.includes(role), own.team == nil || own.team == team else {
            throw ConsoleRefusal.givingRole.error
        }
        guard role == .support else { return PersonMembership(role, team: team) }
        guard let device = form.first("device").flatMap({ UInt64($0) }).flatMap(DeviceID.init) else {
            throw ControlError.invalid(pageRequest.texts.text("people.device.fault"))
        }
        return PersonMembership(role, team: team, device: device)
    }

    /// The person of the path, if the user may change its roles.
    private func person(_ pageRequest: PageRequest) async throws -> Person {
        let id = PersonID(rawValue: try pageRequest.parameter("id"))
        let team = pageRequest.user.membership?.team
        guard let person = try await people.service.store.person(id),
            team == nil || person.memberships.contains(where: { $0.team == team })
        else { throw ControlError.notFound }
        return person
    }

    private func changeRole(_ pageRequest: PageRequest) async throws -> Response {
        var person = try await person(pageRequest)
        let form = try await pageRequest.request.form()
        guard let own = pageRequest.user.membership else { throw ConsoleRefusal.noRole.error }
        let changed = form.first("role")?.isEmpty == false ? try membership(form, pageRequest) : nil
        let team =
            changed.map(\.team) ?? (own.team ?? form.first("team").flatMap { $0.isEmpty ? nil : TeamID(rawValue: $0) })
        let before = person.memberships.first { $0.team == team }
        guard before.map({ own.role.includes($0.role) }) ?? true else {
            throw ConsoleRefusal.changingRole.error
        }
        person.memberships.removeAll { $0.team == team }
        if let changed { person.memberships.append(changed) }
        return try await change(.changePerson, person.name, pageRequest) {
            _ = try await people.service.store.changePerson(person)
        }
    }

    private func makeLink(_ pageRequest: PageRequest) async throws -> Response {
        try await showLink(of: try await person(pageRequest), pageRequest)
    }

    private func remove(_ pageRequest: PageRequest) async throws -> Response {
        let person = try await person(pageRequest)
        return try await change(.removePerson, person.name, pageRequest) {
            _ = try await people.service.store.removePerson(person.id)
        }
    }

    private func change(
        _ action: AuditAction, _ name: String, _ pageRequest: PageRequest, _ work: () async throws -> Void
    ) async throws -> Response {
        do {
            try await people.recorded(action, name, by: pageRequest.user.scope.actor, work)
        } catch PeopleError.lastOwner {
            throw ControlError(status: .conflict, code: "conflict", message: pageRequest.texts.text("people.lastowner"))
        }
        return pageRequest.redirect(to: "/console/accounts")
    }
}
