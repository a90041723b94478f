import HTTPTypes
import Hummingbird
import PushCore
import PushServer

/// Logging in by an OpenID provider: the way there, and the way back.
struct OpenIDPage: Sendable {
    let people: ConsolePeople
    /// The browser's part of a log-in that has begun.
    private static let cookie = "__Host-aldaba-oidc"

    init(people: ConsolePeople) { self.people = people }

    func add(to routes: ConsoleRoutes) {
        routes.get("login/provider") { try await begin($0) }
        routes.get("login/callback") { try await end($0) }
    }

    /// The address to which the browser comes back, of a name of this server.
    private func redirect(_ visit: Visit) throws -> String {
        let origin = "https://\(visit.request.head.authority ?? "")"
        guard people.names().include(origin: origin) else {
            throw ControlError.invalid("\(origin) is no name of this server; its setting server-names has them")
        }
        return origin + "/console/login/callback"
    }

    private func provider() throws -> OpenIDProvider {
        guard let provider = people.provider else { throw ControlError.notFound }
        return provider
    }

    private func begin(_ visit: Visit) async throws -> Response {
        let provider = try provider()
        let purpose: OpenIDAttempt.Purpose
        switch visit.query.first("for") {
        case "confirm":
            guard visit.visitor.person != nil else { return visit.redirect(to: "/console/login") }
            purpose = .confirm
        case "link": purpose = .link(visit.query.first("link").map { String($0.prefix(64)) } ?? "")
        default: purpose = .logIn
        }
        let attempt = OpenIDAttempt(purpose, next: visit.next(visit.query))
        let address: String
        do { address = try await provider.address(of: attempt, redirect: try redirect(visit)) } catch let fault
            as OpenIDFault
        { throw refused(fault, visit) }
        var response = visit.redirect(to: address)
        response.headers[.setCookie] =
            "\(Self.cookie)=\(attempt.text); Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600"
        return response
    }

    private func refused(_ fault: OpenIDFault, _ visit: Visit) -> ControlError {
        visit.context.logger.warning("a log-in to the console by the OpenID provider failed: \(fault)")
        return ControlError(
            status: .badGateway, code: "refused", message: visit.texts.text("people.provider.failed"))
    }

    private func end(_ visit: Visit) async throws -> Response {
        let provider = try provider()
        guard let attempt = visit.request.cookies[Self.cookie].flatMap({ OpenIDAttempt(text: $0.value) }),
            let state = visit.query.first("state"), ConstantTime.equal(state.utf8, attempt.state.utf8)
        else { throw ControlError.forbidden(visit.texts.text("people.provider.foreign")) }
        guard let code = visit.query.first("code") else {
            throw ControlError.forbidden(visit.texts.text("people.provider.denied"))
        }
        let identity: ExternalIdentity
        do { identity = try await provider.identity(ofCode: code, attempt, redirect: try redirect(visit)) } catch let
            fault
            as OpenIDFault
        { throw refused(fault, visit) }
        let person = try await person(of: identity, attempt, visit)
        let team = visit.visitor.session?.team
        let session = try await people.service.begin(person, from: visit.origin, endingSession: visit.shownSession)
        if attempt.purpose == .confirm { try await people.service.store.chooseTeam(team, inSession: session.hash) }
        try await people.recorded(.logIn, person.name, by: .person(person.name)) {}
        let next = LanguagePage.isPage(attempt.next) ? attempt.next : "/console/"
        return visit.redirect(to: next, beginning: session)
    }

    private func person(
        of identity: ExternalIdentity, _ attempt: OpenIDAttempt, _ visit: Visit
    ) async throws -> Person {
        switch attempt.purpose {
        case .logIn:
            if let person = try await people.service.store.person(identity) { return person }
            throw ControlError.forbidden(visit.texts.text("people.provider.unknown", ["subject": identity.subject]))
        case .confirm:
            guard let person = visit.visitor.person, person.identity == identity else {
                throw ControlError.forbidden(visit.texts.text("people.provider.foreign"))
            }
            return person
        case .link(let text):
            guard let person = try await people.service.connect(OneSecret(text: text), to: identity) else {
                throw ControlError(status: .gone, code: "gone", message: visit.texts.text("people.setup.gone"))
            }
            return person
        }
    }
}
