import Foundation
import GRDB
import PushCore
import PushServer

/// The registrations of apps on devices.
extension SQLiteRegister {
    /// The registration in its newest generation.
    package func registration(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> Registration? {
        try await pool.read { try Self.registration(device, app: app, environment: environment, database: $0) }
    }

    /// The registrations, read in one transaction.
    package func registrations(of subjects: [TokenSubject]) async throws -> [Registration?] {
        try await pool.read { database in
            try subjects.map {
                try Self.registration($0.device, app: $0.app, environment: $0.environment, database: database)
            }
        }
    }

    /// Reads each device's by the primary key.
    package func activeRegistrations(of devices: [DeviceID], cell: UInt16) async throws -> [TokenSubject] {
        try await pool.read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT app, environment, generation FROM registration WHERE device = ? AND ended_at IS NULL")
            return try devices.flatMap { device in
                try Row.fetchAll(statement, arguments: [device.column]).compactMap { row in
                    UInt32(exactly: row[0] as Int64).map { app in
                        TokenSubject(
                            cell: cell, device: device, app: AppID(rawValue: app),
                            environment: PushEnvironment(column: row[1]),
                            generation: UInt16(truncatingIfNeeded: row[2] as Int64))
                    }
                }
            }
        }
    }

    private static func registration(
        _ device: DeviceID, app: AppID, environment: PushEnvironment, database: Database
    ) throws -> Registration? {
        try Row.fetchOne(
            database.cachedStatement(
                sql: """
                    SELECT generation, ended_at, previous_ended_at FROM registration
                    WHERE device = ? AND app = ? AND environment = ?
                    """), arguments: [device.column, app.column, environment.column]
        ).map { row in
            Registration(
                generation: UInt16(truncatingIfNeeded: row[0] as Int64),
                endedAt: (row[1] as Int64?).map(Timestamp.init(rawValue:)),
                previousEndedAt: (row[2] as Int64?).map(Timestamp.init(rawValue:)))
        }
    }

    /// Makes a registration active; the generation after 32767 is 0.
    package func register(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration {
        try await pool.write { database in
            let known = try Self.registration(device, app: app, environment: environment, database: database)
            if let known, known.endedAt == nil { return known }
            // The 15 bits of a generation start over after 32768 renewals.
            let generation = known.map { ($0.generation &+ 1) & 0x7FFF } ?? 0
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO registration(
                        device, app, environment, generation, registered_at, previous_ended_at)
                    VALUES(?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    device.column, app.column, environment.column, Int64(generation), now.rawValue,
                    known?.endedAt?.rawValue,
                ])
            return Registration(generation: generation, endedAt: nil, previousEndedAt: known?.endedAt)
        }
    }

    /// Ends a registration; one that has ended is not changed.
    package func endRegistration(
        device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws -> Registration? {
        try await pool.write { database in
            guard var known = try Self.registration(device, app: app, environment: environment, database: database)
            else { return nil }
            guard known.endedAt == nil else { return known }
            try database.execute(
                sql: """
                    UPDATE registration SET ended_at = ? WHERE device = ? AND app = ? AND environment = ?;
                    DELETE FROM encryption_key WHERE device = ? AND app = ? AND environment = ?
                    """,
                arguments: [
                    now.rawValue, device.column, app.column, environment.column, device.column, app.column,
                    environment.column,
                ])
            known.endedAt = now
            return known
        }
    }
}

/// The public keys of registrations.
extension SQLiteRegister {
    /// Stores the key in place of an earlier one, or removes that.
    package func setEncryptionKey(
        _ key: RecipientPublicKey?, device: DeviceID, app: AppID, environment: PushEnvironment, at now: Timestamp
    ) async throws {
        try await pool.write { database in
            guard let key else {
                return try database.execute(
                    sql: "DELETE FROM encryption_key WHERE device = ? AND app = ? AND environment = ?",
                    arguments: [device.column, app.column, environment.column])
            }
            try database.execute(
                sql: """
                    INSERT OR REPLACE INTO encryption_key(
                        device, app, environment, point, authentication_secret, published_at)
                    VALUES(?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    device.column, app.column, environment.column, Data(key.point), Data(key.authenticationSecret),
                    now.rawValue,
                ])
        }
    }

    /// The key of a registration; `nil` when it has published none.
    package func encryptionKey(
        device: DeviceID, app: AppID, environment: PushEnvironment
    ) async throws -> RecipientPublicKey? {
        try await pool.read { database in
            try Row.fetchOne(
                database.cachedStatement(
                    sql: """
                        SELECT point, authentication_secret FROM encryption_key
                        WHERE device = ? AND app = ? AND environment = ?
                        """), arguments: [device.column, app.column, environment.column]
            ).map { row in
                try RecipientPublicKey(
                    point: Array(row[0] as Data), authenticationSecret: Array(row[1] as Data))
            }
        }
    }
}

/// The registrations that have ended, for the feedback service.
extension SQLiteRegister: FeedbackStore {
    /// Reads the ends that a trigger of the database has recorded.
    package func endedRegistrations(
        app: AppID, environment: PushEnvironment, limit: Int
    ) async throws -> [EndedRegistration] {
        try await pool.read { database in
            try Row.fetchAll(
                database.cachedStatement(
                    sql: """
                        SELECT number, device, generation, ended_at FROM ended_registration
                        WHERE app = ? AND environment = ? ORDER BY number LIMIT ?
                        """), arguments: [app.column, environment.column, limit]
            ).compactMap { row in
                DeviceID(column: row[1]).map {
                    EndedRegistration(
                        number: row[0], device: $0, generation: UInt16(truncatingIfNeeded: row[2] as Int64),
                        endedAt: Timestamp(rawValue: row[3]))
                }
            }
        }
    }

    /// Deletes the ends in one transaction of the writer's.
    package func forgetEnds(app: AppID, environment: PushEnvironment, through number: Int64) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "DELETE FROM ended_registration WHERE app = ? AND environment = ? AND number <= ?",
                arguments: [app.column, environment.column, number])
        }
    }
}
