import HTTPTypes
import Hummingbird
import PushCore
import PushServer

/// Logging in by an OpenID provider: the redirect to it, and the return.
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
    private func redirect(_ pageRequest: PageRequest) throws -> String {
        let origin = "https://\(pageRequest.request.head.authority ?? "")"
        guard people.names().include(origin: origin) else {
            throw ControlError.invalid("\(origin) is no name of this server; its setting server-names has them")
        }
        return origin + "/console/login/callback"
    }

    private func provider() throws -> OpenIDProvider {
        guard let provider = people.provider else { throw ControlError.notFound }
        return provider
    }

    private func begin(_ pageRequest: PageRequest) async throws -> Response {
        let provider = try provider()
        let purpose: OpenIDAttempt.Purpose
        switch pageRequest.query.first("for") {
        case "confirm":
            guard pageRequest.user.person != nil else { return pageRequest.redirect(to: "/console/login") }
            purpose = .confirm
        case "link": purpose = .link(pageRequest.query.first("link").map { String($0.prefix(64)) } ?? "")
        default: purpose = .logIn
        }
        let attempt = OpenIDAttempt(purpose, next: pageRequest.next(pageRequest.query))
        let address: String
        do { address = try await provider.address(of: attempt, redirect: try redirect(pageRequest)) } catch let fault
            as OpenIDFault
        { throw refused(fault, pageRequest) }
        var response = pageRequest.redirect(to: address)
        response.headers[.setCookie] =
            "\(Self.cookie)=\(attempt.text); Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=600"
        return response
    }

    private func refused(_ fault: OpenIDFault, _ pageRequest: PageRequest) -> ControlError {
        pageRequest.context.logger.warning("a log-in to the console by the OpenID provider failed: \(fault)")
        return ControlError(
            status: .badGateway, code: "refused", message: pageRequest.texts.text("people.provider.failed"))
    }

    private func end(_ pageRequest: PageRequest) async throws -> Response {
        let provider = try provider()
        guard let attempt = pageRequest.request.cookies[Self.cookie].flatMap({ OpenIDAttempt(text: $0.value) }),
            let state = pageRequest.query.first("state"), ConstantTime.equal(state.utf8, attempt.state.utf8)
        else { throw ControlError.forbidden(pageRequest.texts.text("people.provider.foreign")) }
        guard let code = pageRequest.query.first("code") else {
            throw ControlError.forbidden(pageRequest.texts.text("people.provider.denied"))
        }
        let identity: ExternalIdentity
        do {
            identity = try await provider.identity(ofCode: code, attempt, redirect: try redirect(pageRequest))
        } catch let
            fault
            as OpenIDFault
        { throw refused(fault, pageRequest) }
        let person = try await person(of: identity, attempt, pageRequest)
        let team = pageRequest.user.session?.team
        let session = try await people.service.begin(
            person, from: pageRequest.origin, endingSession: pageRequest.shownSession)
        if attempt.purpose == .confirm { try await people.service.store.chooseTeam(team, inSession: session.hash) }
        try await people.recorded(.logIn, person.name, by: .person(person.name)) {}
        let next = LanguagePage.isPage(attempt.next) ? attempt.next : "/console/"
        return pageRequest.redirect(to: next, beginning: session)
    }

    private func person(
        of identity: ExternalIdentity, _ attempt: OpenIDAttempt, _ pageRequest: PageRequest
    ) async throws -> Person {
        switch attempt.purpose {
        case .logIn:
            if let person = try await people.service.store.person(identity) { return person }
            throw ControlError.forbidden(
                pageRequest.texts.text("people.provider.unknown", ["subject": identity.subject]))
        case .confirm:
            guard let person = pageRequest.user.person, person.identity == identity else {
                throw ControlError.forbidden(pageRequest.texts.text("people.provider.foreign"))
            }
            return person
        case .link(let text):
            guard let person = try await people.service.connect(OneSecret(text: text), to: identity) else {
                throw ControlError(status: .gone, code: "gone", message: pageRequest.texts.text("people.setup.gone"))
            }
            return person
        }
    }
}
