import PushCore
import PushServer

/// The registrations of apps on devices.
extension PostgresRegister {
    private static let registrationSQL = """
        SELECT generation, ended_at, previous_ended_at FROM registration
        WHERE device = $1 AND app = $2 AND environment = $3
        """

    /// The registration in its newest generation.
    package func registration(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> Registration? {
        try await pool.read { connection in
            try connection.run(Self.registrationSQL, device, app, environment).first.map { try Registration($0) }
        }
    }

    /// The registrations, read in one round trip.
    package func registrations(of subjects: [TokenSubject]) async throws -> [Registration?] {
        try await pool.read { connection in
            try connection.pipeline(
                subjects.map {
                    .init(
                        Self.registrationSQL,
                        [PostgresParameter($0.device), PostgresParameter($0.app), PostgresParameter($0.environment)])
                }
            ).map { try $0.first.map { try Registration($0) } }
        }
    }

    /// Reads each device's by the primary key.
    package func activeRegistrations(of devices: [DeviceID], cell: UInt16) async throws -> [TokenSubject] {
        try await pool.read { connection in
            try connection.run(
                .init(
                    """
                    SELECT device, app, environment, generation FROM registration
                    WHERE device = ANY($1::bigint[]) AND ended_at IS NULL
                    """, [.devices(devices)])
            ).map {
                TokenSubject(
                    cell: cell, device: try $0[0], app: try $0[1], environment: try $0[2], generation: try $0[3])
            }
        }
    }

    /// Makes a registration active; the generation after 32767 is 0.
    package func register(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration {
        try await pool.write { connection in
            // Two requests for a registration that is not there yet wait for each other too.
            try connection.run("SELECT pg_advisory_xact_lock($1)", device)
            let known = try connection.run(Self.registrationSQL, device, app, environment).first
                .map { try Registration($0) }
            if let known, known.endedAt == nil { return known }
            // The 15 bits of a generation start over after 32768 renewals.
            let generation = known.map { ($0.generation &+ 1) & 0x7FFF } ?? 0
            try connection.run(
                """
                INSERT INTO registration(device, app, environment, generation, registered_at, previous_ended_at)
                VALUES($1, $2, $3, $4, $5, $6)
                ON CONFLICT (device, app, environment) DO UPDATE SET generation = excluded.generation,
                    registered_at = excluded.registered_at, ended_at = NULL,
                    previous_ended_at = excluded.previous_ended_at
                """, device, app, environment, generation, now, known?.endedAt)
            return Registration(generation: generation, endedAt: nil, previousEndedAt: known?.endedAt)
        }
    }

    /// Ends a registration; one that has ended is not changed.
    package func endRegistration(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration? {
        try await pool.write { connection in
            let ended = try connection.run(
                """
                UPDATE registration SET ended_at = $4
                WHERE device = $1 AND app = $2 AND environment = $3 AND ended_at IS NULL
                """, device, app, environment, now)
            if ended.changed == 1 {
                try connection.run(
                    "DELETE FROM encryption_key WHERE device = $1 AND app = $2 AND environment = $3", device, app,
                    environment)
            }
            return try connection.run(Self.registrationSQL, device, app, environment).first.map { try Registration($0) }
        }
    }

    /// Stores the key in place of an earlier one, or removes that.
    package func setEncryptionKey(
        _ key: RecipientPublicKey?, device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws {
        try await pool.write { connection in
            guard let key else {
                try connection.run(
                    "DELETE FROM encryption_key WHERE device = $1 AND app = $2 AND environment = $3", device, app,
                    environment)
                return
            }
            try connection.run(
                """
                INSERT INTO encryption_key(device, app, environment, point, authentication_secret, published_at)
                VALUES($1, $2, $3, $4, $5, $6)
                ON CONFLICT (device, app, environment) DO UPDATE SET point = excluded.point,
                    authentication_secret = excluded.authentication_secret, published_at = excluded.published_at
                """, device, app, environment, key.point, key.authenticationSecret, now)
        }
    }

    /// The key of a registration; `nil` when it has published none.
    package func encryptionKey(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> RecipientPublicKey? {
        try await pool.read { connection in
            try connection.run(
                """
                SELECT point, authentication_secret FROM encryption_key
                WHERE device = $1 AND app = $2 AND environment = $3
                """, device, app, environment
            ).first.map { try RecipientPublicKey(point: $0[0], authenticationSecret: $0[1]) }
        }
    }
}

/// The registrations that have ended, for the feedback service.
extension PostgresRegister: ServerStoreRegister {
    /// Reads the ends that a trigger of the database has recorded.
    package func endedRegistrations(
        app: AppID, environment: PushEnvironment, limit: Int
    ) async throws -> [EndedRegistration] {
        try await pool.read { connection in
            try connection.run(
                """
                SELECT number, device, generation, ended_at FROM ended_registration
                WHERE app = $1 AND environment = $2 ORDER BY number LIMIT $3
                """, app, environment, limit
            ).map {
                EndedRegistration(number: try $0[0], device: try $0[1], generation: try $0[2], endedAt: try $0[3])
            }
        }
    }

    /// Deletes the ends in one transaction.
    package func forgetEnds(app: AppID, environment: PushEnvironment, through number: Int64) async throws {
        try await pool.write { connection in
            _ = try connection.run(
                "DELETE FROM ended_registration WHERE app = $1 AND environment = $2 AND number <= $3", app, environment,
                number)
        }
    }
}

extension Registration {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(generation: try row[0], endedAt: try row[1], previousEndedAt: try row[2])
    }
}
