import HTTPTypes
import Hummingbird
import PushCore
import PushServer

/// The page that asks for the password again, before what is dangerous.
struct ConfirmPage: Sendable {
    let people: ConsolePeople

    func add(to routes: ConsoleRoutes) {
        routes.get("confirm") { show($0, next: $0.next($0.query)) }
        routes.post("confirm") { try await confirm($0) }
    }

    private func show(
        _ pageRequest: PageRequest, next: String, fault: String? = nil, status: HTTPResponse.Status = .ok
    ) -> Response {
        pageRequest.page(
            "confirm", title: pageRequest.texts.text("people.confirm"), section: "", status: status,
            [
                "next": next, "name": pageRequest.user.person?.name ?? "", "fault": fault.shown,
                "hasPassword": pageRequest.user.person?.password != nil,
                "hasProvider": people.provider != nil && pageRequest.user.person?.identity != nil,
            ])
    }

    private func confirm(_ pageRequest: PageRequest) async throws -> Response {
        let form = try await pageRequest.request.form()
        let next = pageRequest.next(form)
        guard let person = pageRequest.user.person else { return pageRequest.redirect(to: "/console/login") }
        let outcome: PeopleService.LogIn
        do {
            outcome = try await people.service.logIn(
                name: person.name, password: form.first("password") ?? "", from: pageRequest.origin,
                endingSession: pageRequest.user.secret)
        } catch is PasswordChecks.Busy {
            outcome = .later(seconds: 5)
        }
        switch outcome {
        case .begun(let session, _):
            try await people.service.store.chooseTeam(pageRequest.user.session?.team, inSession: session.hash)
            return pageRequest.redirect(to: next, beginning: session)
        case .refused:
            return show(
                pageRequest, next: next, fault: pageRequest.texts.text("people.confirm.refused"), status: .forbidden)
        case .later(let seconds):
            return show(
                pageRequest, next: next, fault: pageRequest.texts.text("people.login.later", count: Int(seconds)),
                status: .tooManyRequests)
        }
    }
}
