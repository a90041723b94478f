import APNsProtocol
import HTTPTypes
import Hummingbird
import PushCore

extension RegisterInterface {
    private struct CertificatesAnswer: Encodable {
        var certificates: [CertificateAnswer]
        var authorities: [AuthorityAnswer]
        /// The certificates that the server itself shows to its clients.
        var server: [ServerCertificateState]
    }

    func listCertificates(_ request: Request, _ context: ControlContext) async throws -> Response {
        let now = clock()
        return .json(
            CertificatesAnswer(
                certificates: try await register.providerCertificates().map { CertificateAnswer($0, at: now) },
                authorities: try await register.certificateAuthorities().map { AuthorityAnswer($0, at: now) },
                server: try files.serverCertificates()))
    }

    /// Signs a certificate for a request; with `certificate` it adds one that somebody else signed.
    func addCertificate(_ request: Request, _ context: ControlContext) async throws -> Response {
        let document = try await RequestDocument(
            request, members: ["app", "request", "environments", "services", "days", "certificate"])
        if let text = try document.text("certificate") { return try await importCertificate(text) }
        let topic = try document.text(required: "app", "the topic of the app that it is for")
        let csr = try document.text(
            required: "request", "a certificate signing request in PEM, as `openssl req -new` makes it")
        let app = try await app(named: topic)
        guard app.isPushEnabled else {
            throw ControlError.invalid("\(app.topic) does not have the capability of push notifications")
        }
        let profile = CertificateProfile(
            bundleID: app.topic, team: app.team, environments: try Self.environments(document),
            services: try Self.services(document))
        let days = try Self.days(document)
        let answer = try await changes.make(AuditChange(.addCertificate, "", team: app.team.rawValue), naming: \.id) {
            try await add(try files.sign(csr, as: profile, days: days), of: app.team)
        }
        return .json(answer, status: .created)
    }

    private func importCertificate(_ text: String) async throws -> Response {
        let certificate = try files.readCertificate(text)
        guard certificate.notAfter >= clock() else {
            throw ControlError.invalid("the certificate ended at \(certificate.notAfter)")
        }
        let app = try await app(named: certificate.bundleID.rawValue)
        let answer = try await changes.make(
            AuditChange(.addCertificate, "", team: app.team.rawValue), naming: \.id
        ) {
            try await add(certificate, of: app.team)
        }
        return .json(answer, status: .created)
    }

    /// Issues a successor of a certificate. The earlier one stays valid until it expires or is revoked.
    func renewCertificate(_ request: Request, _ context: ControlContext) async throws -> Response {
        let entry = try await certificate(context)
        let document = try await RequestDocument(request, members: ["request", "days"])
        let (csr, days) = (try document.text("request"), try Self.days(document))
        let answer = try await changes.make(
            AuditChange(.addCertificate, "", team: entry.team.rawValue), before: CertificateAnswer(entry, at: clock()),
            naming: \.id
        ) {
            try await add(try files.renew(entry, request: csr, days: days), of: entry.team)
        }
        return .json(answer, status: .created)
    }

    func revokeCertificate(_ request: Request, _ context: ControlContext) async throws -> Response {
        let entry = try await certificate(context)
        guard entry.revokedAt == nil else {
            throw ControlError(
                status: .conflict, code: "conflict",
                message: "the certificate \(entry.certificateID) was revoked before")
        }
        _ = try await changes.make(
            AuditChange(.revokeCertificate, entry.certificateID, team: entry.team.rawValue),
            before: CertificateAnswer(entry, at: clock())
        ) {
            _ = try await register.revokeProviderCertificate(entry.certificateID, at: clock())
            return DeletedObject()
        }
        return Response(status: .noContent)
    }

    private func add(_ certificate: ProviderCertificate, of team: TeamID) async throws -> CertificateAnswer {
        let entry = RegisteredCertificate(
            certificateID: RegisterID.random(), team: team, certificate: certificate, createdAt: clock())
        try await register.addProviderCertificate(entry)
        var answer = CertificateAnswer(entry, at: clock())
        answer.certificate = files.text(of: certificate)
        return answer
    }

    private func app(named topic: String) async throws -> RegisteredApp {
        guard let app = try await register.apps().first(where: { $0.topic.rawValue == topic }) else {
            throw ControlError.invalid("the register has no app \(topic.prefix(255)); POST /v1/apps adds it")
        }
        return app
    }

    /// The certificate that the path names by its id or its fingerprint.
    private func certificate(_ context: ControlContext) async throws -> RegisteredCertificate {
        let id = try component("id", context)
        let found = try await register.providerCertificates().first {
            $0.certificateID == id || CertificateAnswer.fingerprint($0.certificate) == id.uppercased()
        }
        guard let found else { throw missing("certificate \(id.prefix(100))", list: "/v1/certificates") }
        return found
    }

    private static func environments(_ document: RequestDocument) throws -> Set<PushEnvironment> {
        let names = try document.texts("environments") ?? [PushEnvironment.sandbox.rawValue]
        let environments = names.compactMap(PushEnvironment.init)
        guard !names.isEmpty, environments.count == names.count else {
            throw ControlError.invalid("environments: a list of sandbox, production or both would be right")
        }
        return Set(environments)
    }

    private static func services(_ document: RequestDocument) throws -> [String] {
        let services = try document.texts("services") ?? []
        guard services.allSatisfy(CertificateProfile.knownServices.contains) else {
            throw ControlError.invalid(
                "services: there are \(CertificateProfile.knownServices.joined(separator: " and "))")
        }
        return services
    }

    /// How long a certificate is valid: a year, where nothing else is asked for.
    private static func days(_ document: RequestDocument) throws -> Int {
        try document.number("days", in: 1...CertificateProfile.longestDays) ?? 365
    }
}

/// A provider certificate in the form of the API.
struct CertificateAnswer: Encodable {
    var id: String
    var team: String
    var app: String
    var commonName: String
    var environments: [String]
    var topics: [String]
    var notBefore: String
    var notAfter: String
    var daysLeft: Int
    var fingerprint: String
    /// `valid`, `ended` or `revoked`.
    var state: String
    var revokedAt: String?
    /// The certificate in PEM, in the answer to its creation alone.
    var certificate: String?

    init(_ entry: RegisteredCertificate, at now: Timestamp) {
        let certificate = entry.certificate
        id = entry.certificateID
        team = entry.team.rawValue
        app = certificate.bundleID.rawValue
        commonName = certificate.commonName
        environments = certificate.environments.map(\.rawValue).sorted(by: >)
        topics = certificate.topics.map(\.topic.rawValue)
        notBefore = certificate.notBefore.description
        notAfter = certificate.notAfter.description
        daysLeft = certificate.notAfter.days(since: now)
        fingerprint = Self.fingerprint(certificate)
        state = entry.revokedAt != nil ? "revoked" : certificate.notAfter < now ? "ended" : "valid"
        revokedAt = entry.revokedAt?.description
    }

    /// SHA-256 of a certificate, two digits a byte, with colons.
    static func fingerprint(_ certificate: ProviderCertificate) -> String {
        certificate.fingerprint.map { byte in
            (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }.joined(separator: ":")
    }
}

/// A team's authority in the form of the API.
struct AuthorityAnswer: Encodable {
    var id: String
    var team: String
    var name: String
    var notAfter: String
    var daysLeft: Int

    init(_ entry: RegisteredAuthority, at now: Timestamp) {
        id = entry.authorityID
        team = entry.team.rawValue
        name = entry.authority.name
        notAfter = entry.authority.notAfter.description
        daysLeft = entry.authority.notAfter.days(since: now)
    }
}
