import Foundation
import HTTPTypes
import Hummingbird
import PushCore
import PushServer

/// The routes of installations and registrations, which the module's README lists.
package struct FCMEnrolmentInterface: ControlInterface {
    private let installations: Installations
    private let enrolment: WebEnrolment
    private let admission: EnrolmentAdmission

    /// Creates an instance from its properties.
    ///
    /// - Parameter admission: The check of the libraries' API keys, which are keys for enrolment here.
    package init(
        store: any FCMRegister, enrolment: WebEnrolment, admission: EnrolmentAdmission,
        clock: @escaping @Sendable () -> Timestamp
    ) {
        installations = Installations(store: store, clock: clock)
        self.enrolment = enrolment
        self.admission = admission
    }

    /// Adds the routes that the module's README lists; they are the same on every listener.
    package func add(to router: Router<ControlContext>, isSecured: Bool) {
        router.post("v1/projects/:project/installations") { request, context in
            try await answer { try await create(request, context) }
        }
        router.get("v1/projects/:project/installations/:installation") { request, context in
            try await answer { try await show(request, context) }
        }
        router.delete("v1/projects/:project/installations/:installation") { request, context in
            try await answer { try await delete(request, context) }
        }
        router.post("v1/projects/:project/installations/:installation/authTokens:generate") { request, context in
            try await answer { try await refresh(request, context) }
        }
        router.post("v1/projects/:project/registrations") { request, context in
            try await answer { try await register(request, context, token: nil) }
        }
        router.patch("v1/projects/:project/registrations/:token") { request, context in
            try await answer { try await register(request, context, token: context.parameters.require("token")) }
        }
        router.delete("v1/projects/:project/registrations/:token") { request, context in
            try await answer { try await unregister(request, context) }
        }
    }

    private func answer(_ body: () async throws -> Response) async throws -> Response {
        do { return try await body() } catch let refusal as GoogleError { return refusal.response }
    }

    // MARK: Installations

    private struct CreateForm: Decodable {
        var fid: String?
        var appId: String
        var authVersion: String?
    }

    private struct AuthToken: Encodable {
        var token: String
        var expiresIn = "\(Installations.lifetime)s"
    }

    private struct Created: Encodable {
        var name: String
        var fid: String
        var refreshToken: String
        var authToken: AuthToken
    }

    private func create(_ request: Request, _ context: ControlContext) async throws -> Response {
        let (project, team) = try Self.project(context)
        let key = HTTPField.Name("x-goog-api-key").flatMap { request.headers[$0] }
        if let refusal = try await admission.refusal(of: key, isCounted: false) {
            throw GoogleError.denied("x-goog-api-key must be an enrolment key: \(refusal)")
        }
        if admission.asksForKey { try await RequestScope.prove(.clients(of: team)) }
        let form: CreateForm = try await Self.read(request, "an object with appId, and fid or none")
        guard !form.appId.isEmpty, form.appId.utf8.count <= 255 else {
            throw GoogleError.invalid("appId must have 1 to 255 bytes")
        }
        if let fid = form.fid, fid.isEmpty || fid.utf8.count > Installations.longestID {
            throw GoogleError.invalid("fid must have 1 to \(Installations.longestID) bytes")
        }
        let made = try await installations.make(
            id: form.fid, appID: form.appId, team: team, keyHash: admission.registerHash(of: key))
        guard let made else {
            throw GoogleError.exhausted("the enrolment key has as many installations as its quota allows; delete some")
        }
        return .json(
            Created(
                name: "projects/\(project)/installations/\(made.id)", fid: made.id, refreshToken: made.refreshToken,
                authToken: AuthToken(token: made.authToken)))
    }

    private func show(_ request: Request, _ context: ControlContext) async throws -> Response {
        struct Shown: Encodable {
            var name: String
            var fid: String
            var appId: String
        }
        let (project, _) = try Self.project(context)
        let known = try await authenticated(request, context)
        return .json(
            Shown(name: "projects/\(project)/installations/\(known.id)", fid: known.id, appId: known.appID))
    }

    private func delete(_ request: Request, _ context: ControlContext) async throws -> Response {
        let known = try await authenticated(request, context)
        try await enrolment.endAll(ofInstallation: known.id, team: known.team)
        _ = try await installations.store.removeInstallation(known.id, team: known.team)
        return .json([String: String]())
    }

    /// Renews an auth token. The refresh token identifies the installation; the path is ignored, since some libraries
    /// leave their own placeholder in it.
    private func refresh(_ request: Request, _ context: ControlContext) async throws -> Response {
        let (_, team) = try Self.project(context)
        guard let token = Self.proof(request.headers[.authorization], scheme: "FIS_v2"),
            let made = try await installations.refresh(token, team: team)
        else { throw GoogleError.unauthenticated("Authorization must be FIS_v2 and an installation's refresh token") }
        try await RequestScope.prove(.clients(of: team))
        return .json(AuthToken(token: made))
    }

    /// The installation in the path, which the request's token must prove.
    private func authenticated(_ request: Request, _ context: ControlContext) async throws -> Installation {
        let (_, team) = try Self.project(context)
        let header = request.headers[.authorization]
        if let token = Self.proof(header, scheme: "FIS_v2"), try await installations.refresh(token, team: team) != nil,
            let named = try await installations.store.installation(
                context.parameters.require("installation"), team: team),
            token.hasPrefix(Base64URL.encode(Array(named.id.utf8)) + ".")
        {
            try await RequestScope.prove(.clients(of: team))
            return named
        }
        let known = try await proven(request, team)
        guard known.id == context.parameters.get("installation") else {
            throw GoogleError.denied("the auth token is another installation's")
        }
        return known
    }

    // MARK: Registrations

    private struct RegistrationForm: Decodable {
        struct Web: Decodable {
            var endpoint: String
            var p256dh: String
            var auth: String
            var applicationPubKey: String?
        }

        struct IOS: Decodable {
            var apns_token: String
            var bundle_id: String
        }

        var web: Web?
        var ios: IOS?
    }

    private struct Registered: Encodable {
        var name: String
        var token: String
        var web: Keys?

        struct Keys: Encodable {
            var endpoint: String
            var p256dh: String
            var auth: String
        }
    }

    private func register(_ request: Request, _ context: ControlContext, token: String?) async throws -> Response {
        let (project, team) = try Self.project(context)
        let known = try await proven(request, team)
        let form: RegistrationForm = try await Self.read(request, "an object with web{endpoint, p256dh, auth}")
        if let ios = form.ios {
            guard Topic.hasShape(ios.bundle_id),
                try await enrolment.isActive(ios.apns_token, topic: Topic(rawValue: ios.bundle_id), team: team)
            else { throw GoogleError.invalid("ios.apns_token is no active device token of ios.bundle_id") }
            let name = "projects/\(project)/registrations/\(ios.apns_token)"
            return .json(Registered(name: name, token: ios.apns_token))
        }
        guard let web = form.web else { throw GoogleError.invalid("the body must have web, or ios") }
        let key: RecipientPublicKey
        do { key = try RecipientPublicKey(p256dh: web.p256dh, auth: web.auth) } catch {
            throw GoogleError.invalid("web: \(error)")
        }
        let named = web.endpoint.split(separator: "/").last.map(String.init) ?? ""
        guard token == nil || token == named else {
            throw GoogleError.invalid("web.endpoint is another registration's than the one in the path")
        }
        try Self.check(await enrolment.keepKeys(key, installation: known.id, of: named, team: team))
        return .json(
            Registered(
                name: "projects/\(project)/registrations/\(named)", token: named,
                web: .init(endpoint: web.endpoint, p256dh: web.p256dh, auth: web.auth)))
    }

    private func unregister(_ request: Request, _ context: ControlContext) async throws -> Response {
        let (_, team) = try Self.project(context)
        let known = try await proven(request, team)
        let token = try context.parameters.require("token")
        try Self.check(await enrolment.end(token, installation: known.id, team: team))
        return .json([String: String]())
    }

    private static func check(_ outcome: WebEnrolment.KeyOutcome) throws {
        switch outcome {
        case .kept: break
        case .unknownToken:
            throw GoogleError.invalid("web.endpoint does not end with a token that register3 has given to a browser")
        case .unregistered: throw GoogleError.notFound("the registration has ended; register anew")
        case .foreign:
            throw GoogleError.denied(
                "the registration is another project's, or another installation's, and web.auth is not the secret that it told"
            )
        case .unclaimed:
            throw GoogleError.denied(
                "no installation told the keys of the registration within an hour; have its device register again (register3)"
            )
        case .changed: throw GoogleError.aborted("the registration was changed at the same time; try again")
        }
    }

    // MARK: Reading

    private func proven(_ request: Request, _ team: TeamID) async throws -> Installation {
        let header = HTTPField.Name("x-goog-firebase-installations-auth").flatMap { request.headers[$0] }
        let token = Self.proof(header, scheme: "FIS") ?? header
        guard let token, let known = try await installations.authenticate(token, team: team) else {
            throw GoogleError.unauthenticated(
                "x-goog-firebase-installations-auth must be an auth token of an installation of this project; they last a week"
            )
        }
        try await RequestScope.prove(.clients(of: team))
        return known
    }

    private static func project(_ context: ControlContext) throws -> (String, TeamID) {
        let name = try context.parameters.require("project")
        guard let team = ProjectName.team(name) else {
            throw GoogleError.invalid("\"\(name.prefix(40))\" is no project: a project is a team's id, or its number")
        }
        return (name, team)
    }

    private static func read<Form: Decodable>(_ request: Request, _ form: String) async throws -> Form {
        let body = try await request.wholeBody()
        guard let read = try? JSONDecoder().decode(Form.self, from: Data(body.readableBytesView)) else {
            throw GoogleError.invalid("the body must be JSON: \(form)")
        }
        return read
    }

    /// The value after a scheme in a header; `nil` for another scheme.
    private static func proof(_ header: String?, scheme: String) -> String? {
        guard let header, let space = header.firstIndex(of: " "), header[..<space].lowercased() == scheme.lowercased()
        else { return nil }
        return String(header[header.index(after: space)...])
    }
}
