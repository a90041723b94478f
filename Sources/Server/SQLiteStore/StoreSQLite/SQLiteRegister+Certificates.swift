import APNsProtocol
import Foundation
import GRDB
import PushCore
import PushServer

extension SQLiteRegister: CertificateRegister {
    /// All certificates, the oldest first. A row that cannot be read is ignored: no provider can send with it.
    package func providerCertificates() async throws -> [RegisteredCertificate] {
        try await pool.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM provider_certificate ORDER BY created_at, id")
                .compactMap(Self.certificate)
        }
    }

    private static func certificate(_ row: Row) -> RegisteredCertificate? {
        guard let certificate = try? ProviderCertificate(der: Array(row["der"] as Data)) else { return nil }
        return RegisteredCertificate(
            certificateID: row["id"], team: TeamID(rawValue: row["team"]), certificate: certificate,
            createdAt: Timestamp(rawValue: row["created_at"]),
            revokedAt: (row["revoked_at"] as Int64?).map(Timestamp.init(rawValue:)))
    }

    /// Adds a certificate.
    ///
    /// - Throws: ``RegisterError``, also for a certificate or an id that was revoked; or SQLite's error.
    package func addProviderCertificate(_ certificate: RegisteredCertificate) async throws {
        try await changeRegister { database in
            let fingerprint = Data(certificate.certificate.fingerprint)
            let known = try String.fetchOne(
                database, sql: "SELECT id FROM provider_certificate WHERE fingerprint = ?", arguments: [fingerprint])
            if let known { throw RegisterError.certificateKnown(known) }
            try database.execute(
                sql: """
                    INSERT OR IGNORE INTO provider_certificate(id, fingerprint, team, der, created_at, revoked_at)
                    VALUES(?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    certificate.certificateID, fingerprint, certificate.team.rawValue,
                    Data(certificate.certificate.der), certificate.createdAt.rawValue,
                    certificate.revokedAt?.rawValue,
                ])
            guard database.changesCount == 1 else {
                throw RegisterError.certificateIDTaken(certificate.certificateID)
            }
        }
    }

    /// Revokes a certificate; its row remains.
    package func revokeProviderCertificate(
        _ certificateID: String, at now: Timestamp
    ) async throws -> RegisteredCertificate? {
        try await changeRegister { database in
            try database.execute(
                sql: "UPDATE provider_certificate SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
                arguments: [now.rawValue, certificateID])
            guard database.changesCount == 1 else { return nil }
            return try Row.fetchOne(
                database, sql: "SELECT * FROM provider_certificate WHERE id = ?", arguments: [certificateID]
            ).flatMap(Self.certificate)
        }
    }

    /// The authorities that were not revoked, the oldest first.
    package func certificateAuthorities() async throws -> [RegisteredAuthority] {
        try await pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM certificate_authority WHERE revoked_at IS NULL ORDER BY created_at, id"
            ).compactMap(Self.authority)
        }
    }

    private static func authority(_ row: Row) -> RegisteredAuthority? {
        guard let authority = try? CertificateAuthority(der: Array(row["der"] as Data)) else { return nil }
        return RegisteredAuthority(
            authorityID: row["id"], team: TeamID(rawValue: row["team"]), authority: authority,
            createdAt: Timestamp(rawValue: row["created_at"]))
    }

    /// Adds an authority.
    ///
    /// - Throws: ``RegisterError``, also for the id of a revoked one; or SQLite's error.
    package func addCertificateAuthority(_ authority: RegisteredAuthority) async throws {
        try await changeRegister { database in
            let fingerprint = Data(authority.authority.fingerprint)
            let known = try String.fetchOne(
                database,
                sql: "SELECT id FROM certificate_authority WHERE fingerprint = ? AND revoked_at IS NULL",
                arguments: [fingerprint])
            if let known { throw RegisterError.certificateKnown(known) }
            try database.execute(
                sql: """
                    INSERT OR IGNORE INTO certificate_authority(id, fingerprint, team, der, created_at)
                    VALUES(?, ?, ?, ?, ?)
                    """,
                arguments: [
                    authority.authorityID, fingerprint, authority.team.rawValue, Data(authority.authority.der),
                    authority.createdAt.rawValue,
                ])
            guard database.changesCount == 1 else { throw RegisterError.certificateIDTaken(authority.authorityID) }
        }
    }

    /// Revokes an authority; its row remains.
    package func revokeCertificateAuthority(
        _ authorityID: String, at now: Timestamp
    ) async throws -> RegisteredAuthority? {
        try await changeRegister { database in
            try database.execute(
                sql: "UPDATE certificate_authority SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL",
                arguments: [now.rawValue, authorityID])
            guard database.changesCount == 1 else { return nil }
            return try Row.fetchOne(
                database, sql: "SELECT * FROM certificate_authority WHERE id = ?", arguments: [authorityID]
            ).flatMap(Self.authority)
        }
    }
}

extension SQLiteRegister: TeamRegister {
    /// The teams that have a name, in the order of their ids.
    package func teams() async throws -> [RegisteredTeam] {
        try await pool.read { database in
            try Row.fetchAll(database, sql: "SELECT * FROM team ORDER BY id").map { row in
                RegisteredTeam(
                    id: TeamID(rawValue: row["id"]), name: row["name"],
                    createdAt: Timestamp(rawValue: row["created_at"]))
            }
        }
    }

    /// Adds a team.
    package func addTeam(_ team: RegisteredTeam) async throws {
        try await changeRegister { database in
            try database.execute(
                sql: "INSERT OR IGNORE INTO team(id, name, created_at) VALUES(?, ?, ?)",
                arguments: [team.id.rawValue, team.name, team.createdAt.rawValue])
            guard database.changesCount == 1 else { throw RegisterError.teamTaken(team.id) }
        }
    }

    /// Sets the given properties of an app.
    package func updateApp(
        topic: Topic, name: String?, isPushEnabled: Bool?, policy: MailboxPolicy?
    ) async throws -> RegisteredApp? {
        try await changeRegister { database in
            try database.execute(
                sql: """
                    UPDATE app SET name = nullif(coalesce(?, name), ''), push_enabled = coalesce(?, push_enabled),
                        mailbox_limit = coalesce(?, mailbox_limit), overflow = coalesce(?, overflow)
                    WHERE topic = ? AND removed_at IS NULL
                    """,
                arguments: [name, isPushEnabled, policy?.limit, policy?.overflow.rawValue, topic.rawValue])
            return try Row.fetchOne(
                database, sql: "SELECT * FROM app WHERE topic = ? AND removed_at IS NULL", arguments: [topic.rawValue]
            ).map(Self.app)
        }
    }
}
