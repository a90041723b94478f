import Hummingbird
import PushCore
import PushServer

/// The page of a link by which a person sets a password.
struct SetUpPage: Sendable {
    let people: ConsolePeople

    func add(to routes: ConsoleRoutes) {
        routes.get("setup") { pageRequest in
            try await show(pageRequest, link: OneSecret(text: pageRequest.query.first("link") ?? ""))
        }
        routes.post("setup") { try await setUp($0) }
    }

    private func show(
        _ pageRequest: PageRequest, link secret: OneSecret, values: [String: Any] = [:]
    ) async throws -> Response {
        guard let link = try await people.service.link(secret) else {
            throw ControlError(
                status: .gone, code: "gone", message: pageRequest.texts.text("people.setup.gone"))
        }
        let person = try await link.person.asyncMap { try await people.service.store.person($0) } ?? nil
        var values = values
        values["link"] = secret.text
        values["known"] = (person?.name).shown
        values["hasProvider"] = people.provider != nil && person != nil
        values["shortest"] = PasswordFault.shortest
        values["hint"] = pageRequest.texts.text(
            "people.password.hint", ["shortest": String(PasswordFault.shortest)])
        values["given"] = values["given"] ?? ""
        for name in ["nameFault", "passwordFault"] where values[name] == nil { values[name] = false }
        return pageRequest.page(
            "setup", title: pageRequest.texts.text("people.setup"), section: "",
            status: values["isRefused"] == nil ? .ok : .unprocessableContent, values)
    }

    private func setUp(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await pageRequest.request.form()
        let secret = OneSecret(text: form.first("link") ?? "")
        let link = try await people.service.link(secret)
        var faults: [String: Any] = [:]
        let given = form.first("name") ?? ""
        let name = Person.name(given)
        if link?.person == nil, name == nil { faults["nameFault"] = pageRequest.texts.text("people.name.fault") }
        let password = form.first("password") ?? ""
        if let fault = PasswordHash.fault(in: password) { faults["passwordFault"] = fault.words(pageRequest) }
        guard faults.isEmpty else {
            faults["given"] = given
            faults["isRefused"] = true
            return try await show(pageRequest, link: secret, values: faults)
        }
        let person: Person?
        do {
            person = try await people.service.setUp(secret, name: name ?? "", password: password)
        } catch is PasswordChecks.Busy { throw ControlError.unavailable }
        guard let person else { return try await show(pageRequest, link: secret) }
        try await people.recorded(.setPassword, person.name, by: .person(person.name)) {}
        let session = try await people.service.begin(
            person, from: pageRequest.origin, endingSession: pageRequest.shownSession)
        return pageRequest.redirect(to: "/console/", beginning: session)
    }
}

extension Optional where Wrapped: Sendable {
    /// The result of asynchronous work on the value.
    fileprivate func asyncMap<Result>(_ work: (Wrapped) async throws -> Result) async throws -> Result? {
        guard let self else { return nil }
        return try await work(self)
    }
}
