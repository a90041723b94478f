import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer

/// The people of a console, and what they may see.
package struct ConsolePeople: Sendable {
    /// Logs people in.
    let service: PeopleService
    /// The lowest role that sees what notifications say; `nil` for everybody.
    let payloads: PersonRole?
    /// Logs people in by an OpenID provider; `nil` for passwords alone.
    let provider: OpenIDProvider?
    /// The names by which browsers reach the server.
    let names: @Sendable () -> ServerNames
    /// Records log-ins and changes of people; `nil` for a server that records nothing.
    let audit: AuditLog?

    /// Serves the people of a service.
    package init(
        _ service: PeopleService, payloads: PersonRole? = nil, provider: OpenIDProvider? = nil,
        names: @escaping @Sendable () -> ServerNames = { ServerNames([], ports: []) }, audit: AuditLog? = nil
    ) {
        self.service = service
        self.payloads = payloads
        self.provider = provider
        self.names = names
        self.audit = audit
    }
}

/// The rule by which people may visit the pages of a listener.
package enum ConsoleAccess: Sendable {
    /// Everybody who reaches the listener; for development on loopback, where the listener checks `Host` and `Origin`.
    case open
    /// People who have logged in.
    case people(ConsolePeople)

    /// The name of the session's cookie. Browsers take a cookie of this prefix only from this host, over TLS.
    static let cookie = "__Host-aldaba"

    /// The people; `nil` where nobody logs in.
    var people: ConsolePeople? { if case .people(let people) = self { people } else { nil } }

    /// The outcome of the check of a request.
    enum Admission {
        /// The user, and the request with a body that was not read.
        case user(SignedInUser, Request)
        /// Another page comes first.
        case redirect(to: String)
        /// The user may not do that.
        case refusal(SignedInUser, ConsoleRefusal)
    }

    /// Checks whether the sender of a request may call a route.
    ///
    /// - Throws: ``ControlError`` for what the person may not do.
    func admit(
        _ request: Request, _ context: ControlContext, to rule: ConsolePermissions.Rule?
    ) async throws -> Admission {
        guard case .people(let people) = self else { return .user(.open, request) }
        guard let rule else { throw ConsoleRefusal.role.error }
        guard let user = try await Self.user(request, people) else {
            guard rule.need == .anyone else { return try Self.logIn(for: request) }
            return .user(.nobody, request)
        }
        try await RequestScope.prove(user.scope.team.map(Caller.team) ?? .development)
        if let page = user.onlyPage, request.uri.path == "/console/" { return .redirect(to: page) }
        guard rule.admits(user, context) else { return .refusal(user, .role) }
        if rule.needsConfirmation, !user.isConfirmed(forForm: request.method == .post, at: people.service.now) {
            let next = request.method == .get ? request.uri.description : rule.page
            return .redirect(to: "/console/confirm" + Self.next(next))
        }
        guard request.method == .post, rule.need != .anyone else { return .user(user, request) }
        return .user(user, try await FormToken.check(request, user))
    }

    private static func user(_ request: Request, _ people: ConsolePeople) async throws -> SignedInUser? {
        guard let text = request.cookies[cookie]?.value, text.utf8.count <= 64 else { return nil }
        let secret = OneSecret(text: text)
        guard let (session, person) = try await people.service.session(secret) else { return nil }
        return SignedInUser(secret: secret, session: session, person: person, of: people)
    }

    /// A page leads to the log-in; what a script or a form asks for is refused.
    private static func logIn(for request: Request) throws -> Admission {
        let accepts = request.headers[.accept] ?? ""
        guard request.method == .get || request.method == .head, !accepts.contains("text/event-stream") else {
            throw ConsoleRefusal.session.error
        }
        return .redirect(to: "/console/login" + next(request.uri.description))
    }

    private static func next(_ path: String) -> String {
        path == "/console/" || path == "/console" ? "" : "?next=\(QueryText.encoded(path))"
    }
}

extension ControlError {
    /// 403: the person may not do that.
    static func forbidden(_ message: String) -> ControlError {
        ControlError(status: .forbidden, code: "forbidden", message: message)
    }
}

/// The hidden field of forms that another site cannot know.
enum FormToken {
    /// The name of the field.
    static let field = "token"
    /// The longest body of a form, with files.
    static let longest = 16 << 20
    /// The field stands in the first bytes of a form with files.
    private static let searched = 16_384

    /// Checks that a form was made for the session.
    ///
    /// - Returns: The request with its body, which was read for the check.
    static func check(_ request: Request, _ user: SignedInUser) async throws -> Request {
        guard let expected = user.formToken else { return request }
        var request = request
        let isForm = request.headers[.contentType]?.hasPrefix("multipart/form-data") != true
        let body: ByteBuffer
        do { body = try await request.body.collect(upTo: isForm ? FormFields.longest : longest) } catch let error
            as any HTTPResponseError where error.status == .contentTooLarge
        {
            throw ConsoleRefusal.size.error
        }
        request.body = RequestBody(buffer: body)
        let given = isForm ? try FormFields(bytes: Array(buffer: body)).first(field) : part(of: body)
        guard let given, ConstantTime.equal(given.utf8, expected.utf8) else {
            throw ConsoleRefusal.formOfOther.error
        }
        return request
    }

    /// The value of the field in a form with files (RFC 7578).
    private static func part(of body: ByteBuffer) -> String? {
        let text = String(decoding: body.readableBytesView.prefix(searched), as: UTF8.self)
        let head = "name=\"\(field)\"\r\n\r\n"
        guard let start = text.firstRange(of: head)?.upperBound,
            let end = text[start...].firstRange(of: "\r\n")?.lowerBound
        else { return nil }
        return String(text[start..<end])
    }
}
