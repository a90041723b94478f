import HTTPTypes
import Hummingbird
import PushCore
import PushServer

/// Logging in and out.
struct LogInPage: Sendable {
    let people: ConsolePeople

    func add(to routes: ConsoleRoutes) {
        routes.get("login") { pageRequest in
            // A person with a session who opens the page is where it leads.
            if pageRequest.user.person != nil { return pageRequest.redirect(to: pageRequest.next(pageRequest.query)) }
            return try await show(pageRequest, next: pageRequest.next(pageRequest.query), name: "")
        }
        routes.post("login") { try await logIn($0) }
        routes.post("logout") { try await logOut($0) }
    }

    private func show(
        _ pageRequest: PageRequest, next: String, name: String, fault: String? = nil, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        let isNew = try await people.service.store.people().isEmpty
        return pageRequest.page(
            "login", title: pageRequest.texts.text("people.login"), section: "", status: status,
            ["next": next, "name": name, "isNew": isNew, "fault": fault.shown, "hasProvider": people.provider != nil])
    }

    private func logIn(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await pageRequest.request.form()
        let name = form.first("name") ?? ""
        let outcome: PeopleService.LogIn
        do {
            outcome = try await people.service.logIn(
                name: name, password: form.first("password") ?? "", from: pageRequest.origin,
                endingSession: pageRequest.shownSession)
        } catch is PasswordChecks.Busy {
            outcome = .later(seconds: 5)
        }
        let next = pageRequest.next(form)
        switch outcome {
        case .begun(let session, let person):
            try await people.recorded(.logIn, person.name, by: .person(person.name)) {}
            return pageRequest.redirect(to: next, beginning: session)
        case .refused:
            return try await show(
                pageRequest, next: next, name: name, fault: pageRequest.texts.text("people.login.refused"),
                status: .unauthorized)
        case .later(let seconds):
            let fault = pageRequest.texts.text("people.login.later", count: Int(seconds))
            var response = try await show(pageRequest, next: next, name: name, fault: fault, status: .tooManyRequests)
            response.headers[.retryAfter] = String(seconds)
            return response
        }
    }

    private func logOut(_ pageRequest: PageRequest) async throws -> Response {
        if let session = pageRequest.user.session { _ = try await people.service.store.endSession(session.hash) }
        var response = pageRequest.redirect(to: "/console/login")
        response.headers[.setCookie] = "\(ConsoleAccess.cookie)=; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=0"
        response.headers[.clearSiteData] = "\"cache\""
        return response
    }
}

extension HTTPField.Name {
    fileprivate static let clearSiteData = HTTPField.Name("Clear-Site-Data")!
}
