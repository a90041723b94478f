import HTTPTypes
import Hummingbird
import PushCore
import PushServer

/// The pages by which people log in, and are added and removed.
enum PeoplePages {
    static func add(to routes: ConsoleRoutes, _ people: ConsolePeople) {
        LogInPage(people: people).add(to: routes)
        SetUpPage(people: people).add(to: routes)
        ConfirmPage(people: people).add(to: routes)
        SessionsPage(people: people).add(to: routes)
        OpenIDPage(people: people).add(to: routes)
        PeoplePage(people: people).add(to: routes)
    }
}

extension ConsolePeople {
    /// Records a change in the audit log around it.
    func recorded<Result>(
        _ action: AuditAction, _ object: String, by actor: AuditActor, _ change: () async throws -> Result
    ) async throws -> Result {
        guard let audit else { return try await change() }
        let number = try await audit.begin(AuditChange(action, object), by: actor, from: .console)
        do {
            let result = try await change()
            try await audit.end(number, .done)
            return result
        } catch {
            try await audit.end(number, error is ControlError || error is PeopleError ? .refused : .failed)
            throw error
        }
    }
}

extension PageRequest {
    /// The origin of a log-in.
    var origin: PeopleService.Origin {
        PeopleService.Origin(address: context.channel.remoteAddress, agent: request.headers[.userAgent])
    }

    /// The session that the browser shows, whether it has ended or not.
    var shownSession: OneSecret? { request.cookies[ConsoleAccess.cookie].map { OneSecret(text: $0.value) } }

    /// A redirect with the cookie of a session.
    func redirect(to path: String, beginning session: OneSecret) -> Response {
        var response = redirect(to: path)
        response.headers[.setCookie] =
            "\(ConsoleAccess.cookie)=\(session.text); Path=/; Secure; HttpOnly; SameSite=Lax"
        return response
    }

    /// The page that `next` names, if it is one of the console; else its first page.
    func next(_ fields: FormFields) -> String {
        let next = fields.first("next") ?? ""
        return LanguagePage.isPage(next) ? next : "/console/"
    }
}

extension PasswordFault {
    /// The sentence for a person.
    func words(_ pageRequest: PageRequest) -> String {
        let numbers = ["shortest": String(PasswordFault.shortest), "longest": String(PasswordFault.longest)]
        return pageRequest.texts.text("people.password.\(rawValue)", numbers)
    }
}
