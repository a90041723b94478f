import Foundation
import GRDB
import PushCore
import PushServer

/// The people of the console with their sessions and links, in the database of a server's store.
package struct SQLitePeople: PeopleStore {
    let pool: WatchedDatabase<DatabasePool>

    /// Reads all rows.
    package func people() async throws -> [Person] { try await pool.read(Self.people) }

    /// Reads one row.
    package func person(_ id: PersonID) async throws -> Person? {
        try await pool.read { try Self.person($0, "id = ?", [id.rawValue]) }
    }

    /// Reads one row.
    package func person(named name: String) async throws -> Person? {
        try await pool.read { try Self.person($0, "name = ?", [name]) }
    }

    /// Reads one row.
    package func person(_ identity: ExternalIdentity) async throws -> Person? {
        try await pool.read { try Self.person($0, "issuer = ? AND subject = ?", [identity.issuer, identity.subject]) }
    }

    /// Inserts a row.
    package func addPerson(_ person: Person) async throws {
        try await pool.write { try Self.insert(person, into: $0) }
    }

    /// Inserts a row into an empty table.
    package func addFirstPerson(_ person: Person) async throws -> Bool {
        try await pool.write { database in
            guard try Int.fetchOne(database, sql: "SELECT count(*) FROM person") == 0 else { return false }
            try Self.insert(person, into: database)
            return true
        }
    }

    /// Replaces a row and those of its memberships.
    package func changePerson(_ person: Person) async throws -> Bool {
        try await pool.write { database in
            let people = try Self.people(database)
            guard people.contains(where: { $0.id == person.id }) else { return false }
            try people.checkOwner(afterChangeOf: person.id, to: person)
            try database.execute(sql: "DELETE FROM person WHERE id = ?", arguments: [person.id.rawValue])
            try database.execute(sql: "DELETE FROM membership WHERE person = ?", arguments: [person.id.rawValue])
            try Self.insert(person, into: database)
            return true
        }
    }

    /// Deletes a row and those that belong to it.
    package func removePerson(_ id: PersonID) async throws -> Person? {
        try await pool.write { database in
            let people = try Self.people(database)
            guard let person = people.first(where: { $0.id == id }) else { return nil }
            try people.checkOwner(afterChangeOf: id, to: nil)
            for sql in [
                "DELETE FROM person WHERE id = ?", "DELETE FROM membership WHERE person = ?",
                "DELETE FROM console_session WHERE person = ?", "DELETE FROM person_link WHERE person = ?",
            ] { try database.execute(sql: sql, arguments: [id.rawValue]) }
            return person
        }
    }

    private static func people(_ database: Database) throws -> [Person] {
        try Row.fetchAll(database, sql: "SELECT * FROM person ORDER BY name").map { try person($0, database) }
    }

    private static func person(
        _ database: Database, _ condition: String, _ arguments: StatementArguments
    ) throws -> Person? {
        try Row.fetchOne(database, sql: "SELECT * FROM person WHERE \(condition)", arguments: arguments)
            .map { try person($0, database) }
    }

    private static func person(_ row: Row, _ database: Database) throws -> Person {
        let memberships = try Row.fetchAll(
            database, sql: "SELECT * FROM membership WHERE person = ? ORDER BY place", arguments: [row["id"] as String])
        let issuer: String? = row["issuer"]
        return Person(
            id: PersonID(rawValue: row["id"]), name: row["name"],
            password: (row["password"] as String?).flatMap(PasswordHash.init(text:)),
            identity: issuer.map { ExternalIdentity(issuer: $0, subject: row["subject"]) },
            memberships: memberships.compactMap(membership), createdAt: Timestamp(rawValue: row["created_at"]))
    }

    /// A membership; `nil` for a role of a later version, which gives no right here.
    private static func membership(_ row: Row) -> PersonMembership? {
        PersonRole(rawValue: row["role"]).map { role in
            PersonMembership(
                role, team: (row["team"] as String?).map(TeamID.init(rawValue:)),
                device: (row["device"] as Int64?).flatMap(DeviceID.init(column:)))
        }
    }

    private static func insert(_ person: Person, into database: Database) throws {
        let named = "SELECT 1 FROM person WHERE name = ?"
        guard try !(Bool.fetchOne(database, sql: named, arguments: [person.name]) ?? false) else {
            throw PeopleError.nameTaken(person.name)
        }
        if let identity = person.identity {
            let known = try Self.person(database, "issuer = ? AND subject = ?", [identity.issuer, identity.subject])
            guard known == nil else { throw PeopleError.identityTaken }
        }
        try database.execute(
            sql: "INSERT INTO person(id, name, password, issuer, subject, created_at) VALUES(?, ?, ?, ?, ?, ?)",
            arguments: [
                person.id.rawValue, person.name, person.password?.text, person.identity?.issuer,
                person.identity?.subject, person.createdAt.rawValue,
            ])
        for (place, membership) in person.memberships.enumerated() {
            try database.execute(
                sql: "INSERT INTO membership(person, place, role, team, device) VALUES(?, ?, ?, ?, ?)",
                arguments: [
                    person.id.rawValue, place, membership.role.rawValue, membership.team?.rawValue,
                    membership.device?.column,
                ])
        }
    }
}

extension SQLitePeople {
    /// Inserts a row.
    package func addSession(_ session: ConsoleSession) async throws {
        try await pool.write { database in
            try database.execute(
                sql: """
                    INSERT INTO console_session(hash, person, created_at, confirmed_at, used_at, address, agent, team)
                    VALUES(?, ?, ?, ?, ?, ?, ?, ?)
                    """,
                arguments: [
                    Data(session.hash), session.person.rawValue, session.createdAt.rawValue,
                    session.confirmedAt.rawValue, session.usedAt.rawValue, session.address, session.agent,
                    session.team?.rawValue,
                ])
        }
    }

    /// Reads one row.
    package func session(_ hash: [UInt8]) async throws -> ConsoleSession? {
        try await pool.read { database in
            try Row.fetchOne(database, sql: "SELECT * FROM console_session WHERE hash = ?", arguments: [Data(hash)])
                .map(Self.session)
        }
    }

    /// Reads the rows of a person.
    package func sessions(of person: PersonID) async throws -> [ConsoleSession] {
        try await pool.read { database in
            try Row.fetchAll(
                database, sql: "SELECT * FROM console_session WHERE person = ? ORDER BY created_at DESC, hash",
                arguments: [person.rawValue]
            ).map(Self.session)
        }
    }

    private static func session(_ row: Row) -> ConsoleSession {
        ConsoleSession(
            hash: Array(row["hash"] as Data), person: PersonID(rawValue: row["person"]),
            createdAt: Timestamp(rawValue: row["created_at"]), confirmedAt: Timestamp(rawValue: row["confirmed_at"]),
            usedAt: Timestamp(rawValue: row["used_at"]), address: row["address"], agent: row["agent"],
            team: (row["team"] as String?).map(TeamID.init(rawValue:)))
    }

    /// Changes one row.
    package func noteUse(ofSession hash: [UInt8], at now: Timestamp) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "UPDATE console_session SET used_at = ? WHERE hash = ?", arguments: [now.rawValue, Data(hash)])
        }
    }

    /// Changes one row.
    package func chooseTeam(_ team: TeamID?, inSession hash: [UInt8]) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "UPDATE console_session SET team = ? WHERE hash = ?", arguments: [team?.rawValue, Data(hash)])
        }
    }

    /// Deletes one row.
    package func endSession(_ hash: [UInt8]) async throws -> Bool {
        try await pool.write { database in
            try database.execute(sql: "DELETE FROM console_session WHERE hash = ?", arguments: [Data(hash)])
            return database.changesCount == 1
        }
    }

    /// Deletes the rows of a person, but for one.
    package func endSessions(of person: PersonID, except hash: [UInt8]?) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "DELETE FROM console_session WHERE person = ? AND hash IS NOT ?",
                arguments: [person.rawValue, hash.map { Data($0) }])
        }
    }

    /// Inserts a row in the place of earlier ones of the same person.
    package func addLink(_ link: PersonLink) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "DELETE FROM person_link WHERE person IS ?", arguments: [link.person?.rawValue])
            try database.execute(
                sql: "INSERT INTO person_link(hash, person, expires_at) VALUES(?, ?, ?)",
                arguments: [Data(link.hash), link.person?.rawValue, link.expiresAt.rawValue])
        }
    }

    /// Reads one row.
    package func link(_ hash: [UInt8]) async throws -> PersonLink? { try await pool.read { try Self.link(hash, $0) } }

    /// Deletes one row.
    package func useLink(_ hash: [UInt8]) async throws -> PersonLink? {
        try await pool.write { database in
            guard let link = try Self.link(hash, database) else { return nil }
            try database.execute(sql: "DELETE FROM person_link WHERE hash = ?", arguments: [Data(hash)])
            return link
        }
    }

    private static func link(_ hash: [UInt8], _ database: Database) throws -> PersonLink? {
        try Row.fetchOne(database, sql: "SELECT * FROM person_link WHERE hash = ?", arguments: [Data(hash)]).map {
            PersonLink(
                hash: hash, person: ($0["person"] as String?).map(PersonID.init(rawValue:)),
                expiresAt: Timestamp(rawValue: $0["expires_at"]))
        }
    }

    /// Deletes rows by their times.
    package func forgetSessions(usedBefore: Timestamp, now: Timestamp) async throws {
        try await pool.write { database in
            try database.execute(
                sql: "DELETE FROM console_session WHERE used_at < ?", arguments: [usedBefore.rawValue])
            try database.execute(sql: "DELETE FROM person_link WHERE expires_at <= ?", arguments: [now.rawValue])
        }
    }
}
