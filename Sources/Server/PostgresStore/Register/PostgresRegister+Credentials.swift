import APNsProtocol
import PushCore
import PushServer

extension PostgresRegister: CertificateRegister {
    /// All certificates, the oldest first. A row that cannot be read is ignored: no provider can send with it.
    package func providerCertificates() async throws -> [RegisteredCertificate] {
        try await pool.read { connection in
            try connection.run("SELECT * FROM provider_certificate ORDER BY created_at, id")
                .compactMap { try RegisteredCertificate($0) }
        }
    }

    /// Adds a certificate.
    ///
    /// - Throws: ``RegisterError``, also for a certificate or an id that was revoked.
    package func addProviderCertificate(_ certificate: RegisteredCertificate) async throws {
        try await changeRegister { connection in
            let fingerprint = Array(certificate.certificate.fingerprint)
            let known: String? = try connection.run(
                "SELECT id FROM provider_certificate WHERE fingerprint = $1", fingerprint
            ).first?[0]
            if let known { throw RegisterError.certificateKnown(known) }
            let added = try connection.run(
                """
                INSERT INTO provider_certificate(id, fingerprint, team, der, created_at, revoked_at)
                VALUES($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
                """, certificate.certificateID, fingerprint, certificate.team, certificate.certificate.der,
                certificate.createdAt, certificate.revokedAt)
            guard added.changed == 1 else { throw RegisterError.certificateIDTaken(certificate.certificateID) }
        }
    }

    /// Revokes a certificate; its row remains.
    package func revokeProviderCertificate(
        _ certificateID: String, at now: Timestamp
    ) async throws -> RegisteredCertificate? {
        try await changeRegister { connection in
            try connection.run(
                "UPDATE provider_certificate SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING *",
                certificateID, now
            ).first.flatMap { try RegisteredCertificate($0) }
        }
    }

    /// The authorities that were not revoked, the oldest first.
    package func certificateAuthorities() async throws -> [RegisteredAuthority] {
        try await pool.read { connection in
            try connection.run("SELECT * FROM certificate_authority WHERE revoked_at IS NULL ORDER BY created_at, id")
                .compactMap { try RegisteredAuthority($0) }
        }
    }

    /// Adds an authority.
    ///
    /// - Throws: ``RegisterError``, also for the id of a revoked one.
    package func addCertificateAuthority(_ authority: RegisteredAuthority) async throws {
        try await changeRegister { connection in
            let fingerprint = Array(authority.authority.fingerprint)
            let known: String? = try connection.run(
                "SELECT id FROM certificate_authority WHERE fingerprint = $1 AND revoked_at IS NULL", fingerprint
            ).first?[0]
            if let known { throw RegisterError.certificateKnown(known) }
            let added = try connection.run(
                """
                INSERT INTO certificate_authority(id, fingerprint, team, der, created_at) VALUES($1, $2, $3, $4, $5)
                ON CONFLICT DO NOTHING
                """, authority.authorityID, fingerprint, authority.team, authority.authority.der, authority.createdAt)
            guard added.changed == 1 else { throw RegisterError.certificateIDTaken(authority.authorityID) }
        }
    }

    /// Revokes an authority; its row remains.
    package func revokeCertificateAuthority(
        _ authorityID: String, at now: Timestamp
    ) async throws -> RegisteredAuthority? {
        try await changeRegister { connection in
            try connection.run(
                "UPDATE certificate_authority SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL RETURNING *",
                authorityID, now
            ).first.flatMap { try RegisteredAuthority($0) }
        }
    }
}

extension PostgresRegister: TeamRegister {
    /// The teams that have a name, in the order of their ids.
    package func teams() async throws -> [RegisteredTeam] {
        try await pool.read { connection in
            try connection.run("SELECT * FROM team ORDER BY id").map {
                RegisteredTeam(id: try $0["id"], name: try $0["name"], createdAt: try $0["created_at"])
            }
        }
    }

    /// Adds a team.
    package func addTeam(_ team: RegisteredTeam) async throws {
        try await changeRegister { connection in
            let added = try connection.run(
                "INSERT INTO team(id, name, created_at) VALUES($1, $2, $3) ON CONFLICT DO NOTHING", team.id, team.name,
                team.createdAt)
            guard added.changed == 1 else { throw RegisterError.teamTaken(team.id) }
        }
    }

    /// Sets the given properties of an app.
    package func updateApp(
        topic: Topic, name: String?, isPushEnabled: Bool?, policy: MailboxPolicy?
    ) async throws -> RegisteredApp? {
        try await changeRegister { connection in
            try connection.run(
                """
                UPDATE app SET name = nullif(coalesce($2, name), ''), push_enabled = coalesce($3, push_enabled),
                    mailbox_limit = coalesce($4, mailbox_limit), overflow = coalesce($5, overflow)
                WHERE topic = $1 AND removed_at IS NULL RETURNING *
                """, topic, name, isPushEnabled, policy?.limit, policy?.overflow.rawValue
            ).first.map { try RegisteredApp($0) }
        }
    }
}

extension PostgresRegister: ServiceAccountRegister {
    /// All service accounts, the oldest first.
    package func serviceAccounts() async throws -> [ServiceAccount] {
        try await pool.read { connection in
            try connection.run("SELECT * FROM service_account ORDER BY created_at, key_id").map {
                try ServiceAccount($0)
            }
        }
    }

    /// Adds a service account.
    ///
    /// - Throws: ``RegisterError``, also for one that was revoked.
    package func addServiceAccount(_ account: ServiceAccount) async throws {
        try await changeRegister { connection in
            let added = try connection.run(
                """
                INSERT INTO service_account(key_id, team, email, public_key, created_at, revoked_at)
                VALUES($1, $2, $3, $4, $5, $6) ON CONFLICT DO NOTHING
                """, account.keyID, account.team, account.email, account.publicKeyPEM, account.createdAt,
                account.revokedAt)
            guard added.changed == 1 else { throw RegisterError.serviceAccountTaken(account.email) }
        }
    }

    /// Revokes a service account; its row remains.
    package func revokeServiceAccount(_ keyID: String, at now: Timestamp) async throws -> ServiceAccount? {
        try await changeRegister { connection in
            try connection.run(
                "UPDATE service_account SET revoked_at = $2 WHERE key_id = $1 AND revoked_at IS NULL RETURNING *",
                keyID,
                now
            ).first.map { try ServiceAccount($0) }
        }
    }
}

extension RegisteredCertificate {
    /// Decodes a row; `nil` for a certificate that cannot be read.
    fileprivate init?(_ row: PostgresRow) throws {
        let der: [UInt8] = try row["der"]
        // Nobody can send with what was stored and is no certificate any more.
        guard let certificate = try? ProviderCertificate(der: der) else { return nil }
        self.init(
            certificateID: try row["id"], team: try row["team"], certificate: certificate,
            createdAt: try row["created_at"], revokedAt: try row["revoked_at"])
    }
}

extension RegisteredAuthority {
    /// Decodes a row; `nil` for a certificate that cannot be read.
    fileprivate init?(_ row: PostgresRow) throws {
        let der: [UInt8] = try row["der"]
        // Nobody can send with what was stored and is no certificate any more.
        guard let authority = try? CertificateAuthority(der: der) else { return nil }
        self.init(
            authorityID: try row["id"], team: try row["team"], authority: authority, createdAt: try row["created_at"])
    }
}

extension ServiceAccount {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            keyID: try row["key_id"], team: try row["team"], email: try row["email"],
            publicKeyPEM: try row["public_key"], createdAt: try row["created_at"], revokedAt: try row["revoked_at"])
    }
}
