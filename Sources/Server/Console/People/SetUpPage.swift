import Hummingbird
import PushCore
import PushServer

/// The page of a link by which a person sets a password.
struct SetUpPage: Sendable {
    let people: ConsolePeople

    func add(to routes: ConsoleRoutes) {
        routes.get("setup") { visit in
            try await show(visit, OneSecret(text: visit.query.first("link") ?? ""), [:])
        }
        routes.post("setup") { try await setUp($0) }
    }

    private func show(_ visit: Visit, _ secret: OneSecret, _ values: [String: Any]) async throws -> Response {
        guard let link = try await people.service.link(secret) else {
            throw ControlError(
                status: .gone, code: "gone", message: visit.texts.text("people.setup.gone"))
        }
        let person = try await link.person.asyncMap { try await people.service.store.person($0) } ?? nil
        var values = values
        values["link"] = secret.text
        values["known"] = (person?.name).shown
        values["hasProvider"] = people.provider != nil && person != nil
        values["shortest"] = PasswordFault.shortest
        values["hint"] = visit.texts.text(
            "people.password.hint", ["shortest": String(PasswordFault.shortest)])
        values["given"] = values["given"] ?? ""
        for name in ["nameFault", "passwordFault"] where values[name] == nil { values[name] = false }
        return visit.page(
            "setup", title: visit.texts.text("people.setup"), section: "",
            status: values["isRefused"] == nil ? .ok : .unprocessableContent, values)
    }

    private func setUp(_ visit: Visit) async throws -> Response {
        let form = try await visit.request.form()
        let secret = OneSecret(text: form.first("link") ?? "")
        let link = try await people.service.link(secret)
        var faults: [String: Any] = [:]
        let given = form.first("name") ?? ""
        let name = Person.name(given)
        if link?.person == nil, name == nil { faults["nameFault"] = visit.texts.text("people.name.fault") }
        let password = form.first("password") ?? ""
        if let fault = PasswordHash.fault(in: password) { faults["passwordFault"] = fault.words(visit) }
        guard faults.isEmpty else {
            faults["given"] = given
            faults["isRefused"] = true
            return try await show(visit, secret, faults)
        }
        let person: Person?
        do {
            person = try await people.service.setUp(secret, name: name ?? "", password: password)
        } catch is PasswordChecks.Busy { throw ControlError.unavailable }
        guard let person else { return try await show(visit, secret, [:]) }
        try await people.recorded(.setPassword, person.name, by: .person(person.name)) {}
        let session = try await people.service.begin(person, from: visit.origin, endingSession: visit.shownSession)
        return visit.redirect(to: "/console/", beginning: session)
    }
}

extension Optional where Wrapped: Sendable {
    /// The result of asynchronous work on the value.
    fileprivate func asyncMap<Result>(_ work: (Wrapped) async throws -> Result) async throws -> Result? {
        guard let self else { return nil }
        return try await work(self)
    }
}
