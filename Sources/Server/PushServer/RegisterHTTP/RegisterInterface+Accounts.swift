import Crypto
import FCMProtocol
import HTTPTypes
import Hummingbird
import PushCore

extension RegisterInterface {
    /// A service account in the form of the API.
    private struct AccountAnswer: Encodable {
        var keyId: String
        var email: String
        var team: String
        var projectId: String
        var senderId: String?
        var createdAt: String
        var revokedAt: String?
        /// The account's file, in the answer to its creation alone.
        var file: String?

        init(_ account: ServiceAccount) {
            keyId = account.keyID
            email = account.email
            team = account.team.rawValue
            projectId = ProjectName.id(of: account.team)
            senderId = ProjectNumber(account.team)?.description
            createdAt = account.createdAt.description
            revokedAt = account.revokedAt?.description
        }
    }

    private struct AccountsAnswer: Encodable {
        var serviceAccounts: [AccountAnswer]
    }

    func listServiceAccounts(_ request: Request, _ context: ControlContext) async throws -> Response {
        .json(AccountsAnswer(serviceAccounts: try await register.serviceAccounts().map(AccountAnswer.init)))
    }

    func addServiceAccount(_ request: Request, _ context: ControlContext) async throws -> Response {
        let document = try await RequestDocument(request, members: ["team", "url"])
        let (team, url) = (try document.team(), try document.text("url"))
        let answer = try await changes.make(AuditChange(.addServiceAccount, "", team: team.rawValue), naming: \.email) {
            let made = try await files.addServiceAccount(team: team, url: url)
            var answer = AccountAnswer(made.account)
            answer.file = made.file
            return answer
        }
        return .json(answer, status: .created)
    }

    func revokeServiceAccount(_ request: Request, _ context: ControlContext) async throws -> Response {
        let id = try component("id", context)
        let found = try await register.serviceAccounts().first {
            ($0.keyID == id || $0.email == id) && $0.revokedAt == nil
        }
        guard let found else {
            throw missing("service account \(id.prefix(100)) that could be revoked", list: "/v1/service-accounts")
        }
        _ = try await changes.make(
            AuditChange(.revokeServiceAccount, found.email, team: found.team.rawValue), before: AccountAnswer(found)
        ) {
            _ = try await register.revokeServiceAccount(found.keyID, at: clock())
            return DeletedObject()
        }
        return Response(status: .noContent)
    }
}

extension RegisterInterface {
    /// A key for enrolment in the form of the API.
    private struct EnrolmentKeyAnswer: Encodable {
        var id: String
        var state: String
        var used: Int
        var installations: Int
        var quota: Int?
        var expiresAt: String?
        var createdAt: String
        /// The key itself, in the answer to its creation alone.
        var key: String?

        init(_ key: EnrolmentKey, at now: Timestamp) {
            id = key.id
            state = key.verdict(at: now).rawValue
            used = key.used
            installations = key.installations
            quota = key.quota
            expiresAt = key.expiresAt?.description
            createdAt = key.createdAt.description
        }
    }

    private struct EnrolmentKeysAnswer: Encodable {
        var enrolmentKeys: [EnrolmentKeyAnswer]
    }

    func listEnrolmentKeys(_ request: Request, _ context: ControlContext) async throws -> Response {
        let now = clock()
        return .json(
            EnrolmentKeysAnswer(
                enrolmentKeys: try await register.enrolmentKeys().map { EnrolmentKeyAnswer($0, at: now) }))
    }

    func addEnrolmentKey(_ request: Request, _ context: ControlContext) async throws -> Response {
        let document = try await RequestDocument(request, members: ["id", "quota", "hours"])
        let id = try document.text(required: "id", "1 to 64 letters, digits, - and _")
        guard EnrolmentKey.hasShape(id: id) else {
            throw ControlError.invalid("\"\(id.prefix(80))\" is not 1 to 64 letters, digits, - and _")
        }
        let quota = try document.number("quota", in: 1...1_000_000_000)
        let hours = try document.number("hours", in: 1...876_000)
        let secret = Base64URL.encode(SymmetricKey(size: .bits256).withUnsafeBytes { Array($0) })
        let now = clock()
        let key = EnrolmentKey(
            id: id, secretHash: Array(SHA256.hash(data: Array(secret.utf8))), quota: quota,
            expiresAt: hours.map { now.adding(milliseconds: Int64($0) * 3_600_000) }, createdAt: now)
        let answer = try await changes.make(AuditChange(.addEnrolmentKey, id)) {
            try await register.addEnrolmentKey(key)
            var answer = EnrolmentKeyAnswer(key, at: now)
            answer.key = secret
            return answer
        }
        return .json(answer, status: .created)
    }

    func revokeEnrolmentKey(_ request: Request, _ context: ControlContext) async throws -> Response {
        let id = try component("id", context)
        let found = try await register.enrolmentKeys().first { $0.id == id && $0.revokedAt == nil }
        guard let found else {
            throw missing("enrolment key \(id.prefix(80)) that could be revoked", list: "/v1/enrolment-keys")
        }
        _ = try await changes.make(
            AuditChange(.revokeEnrolmentKey, id), before: EnrolmentKeyAnswer(found, at: clock())
        ) {
            _ = try await register.revokeEnrolmentKey(id, at: clock())
            return DeletedObject()
        }
        return Response(status: .noContent)
    }
}
