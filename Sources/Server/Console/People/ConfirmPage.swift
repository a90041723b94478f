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
        _ visit: Visit, next: String, fault: String? = nil, status: HTTPResponse.Status = .ok
    ) -> Response {
        visit.page(
            "confirm", title: visit.texts.text("people.confirm"), section: "", status: status,
            [
                "next": next, "name": visit.visitor.person?.name ?? "", "fault": fault.shown,
                "hasPassword": visit.visitor.person?.password != nil,
                "hasProvider": people.provider != nil && visit.visitor.person?.identity != nil,
            ])
    }

    private func confirm(_ visit: Visit) async throws -> Response {
        let form = try await visit.request.form()
        let next = visit.next(form)
        guard let person = visit.visitor.person else { return visit.redirect(to: "/console/login") }
        let outcome: PeopleService.LogIn
        do {
            outcome = try await people.service.logIn(
                name: person.name, password: form.first("password") ?? "", from: visit.origin,
                endingSession: visit.visitor.secret)
        } catch is PasswordChecks.Busy {
            outcome = .later(seconds: 5)
        }
        switch outcome {
        case .begun(let session, _):
            try await people.service.store.chooseTeam(visit.visitor.session?.team, inSession: session.hash)
            return visit.redirect(to: next, beginning: session)
        case .refused:
            return show(visit, next: next, fault: visit.texts.text("people.confirm.refused"), status: .forbidden)
        case .later(let seconds):
            return show(
                visit, next: next, fault: visit.texts.text("people.login.later", count: Int(seconds)),
                status: .tooManyRequests)
        }
    }
}
