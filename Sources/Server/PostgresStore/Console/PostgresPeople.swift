import PushCore
import PushServer

/// The people of the console with their sessions and links, in the database of a server's store.
package struct PostgresPeople: PeopleStore {
    let pool: PostgresPool

    /// Reads all rows.
    package func people() async throws -> [Person] { try await pool.read(Self.people) }

    /// Reads one row.
    package func person(_ id: PersonID) async throws -> Person? {
        try await pool.read { try Self.person(where: "id = $1", id.rawValue, in: $0) }
    }

    /// Reads one row.
    package func person(named name: String) async throws -> Person? {
        try await pool.read { try Self.person(where: "name = $1", name, in: $0) }
    }

    /// Reads one row.
    package func person(_ identity: ExternalIdentity) async throws -> Person? {
        try await pool.read {
            try Self.person(where: "issuer = $1 AND subject = $2", identity.issuer, identity.subject, in: $0)
        }
    }

    /// Makes a change; one follows the other, since an owner must remain.
    private func change<Value: Sendable>(
        _ body: @escaping @Sendable (PostgresConnection) throws -> Value
    ) async throws -> Value {
        try await pool.write { connection in
            try connection.run("LOCK TABLE person IN SHARE ROW EXCLUSIVE MODE")
            return try body(connection)
        }
    }

    /// Inserts a row.
    package func addPerson(_ person: Person) async throws { try await change { try Self.insert(person, into: $0) } }

    /// Inserts a row into an empty table.
    package func addFirstPerson(_ person: Person) async throws -> Bool {
        try await change { connection in
            guard try connection.run("SELECT 1 FROM person LIMIT 1").isEmpty else { return false }
            try Self.insert(person, into: connection)
            return true
        }
    }

    /// Replaces a row and those of its memberships.
    package func changePerson(_ person: Person) async throws -> Bool {
        try await change { connection in
            let people = try Self.people(connection)
            guard people.contains(where: { $0.id == person.id }) else { return false }
            try people.checkOwner(afterChangeOf: person.id, to: person)
            try connection.run("DELETE FROM person WHERE id = $1", person.id)
            try connection.run("DELETE FROM membership WHERE person = $1", person.id)
            try Self.insert(person, into: connection)
            return true
        }
    }

    /// Deletes a row and those that belong to it.
    package func removePerson(_ id: PersonID) async throws -> Person? {
        try await change { connection in
            let people = try Self.people(connection)
            guard let person = people.first(where: { $0.id == id }) else { return nil }
            try people.checkOwner(afterChangeOf: id, to: nil)
            for (table, column) in [
                ("person", "id"), ("membership", "person"), ("console_session", "person"), ("person_link", "person"),
            ] { try connection.run("DELETE FROM \(table) WHERE \(column) = $1", id) }
            return person
        }
    }

    private static func people(_ connection: PostgresConnection) throws -> [Person] {
        try connection.run("SELECT * FROM person ORDER BY name").map { try person($0, connection) }
    }

    private static func person(
        where condition: String, _ values: String..., in connection: PostgresConnection
    ) throws -> Person? {
        try connection.run(
            .init("SELECT * FROM person WHERE \(condition)", values.map { PostgresParameter($0) })
        ).first.map { try person($0, connection) }
    }

    private static func person(_ row: PostgresRow, _ connection: PostgresConnection) throws -> Person {
        let id: PersonID = try row["id"]
        let memberships = try connection.run("SELECT * FROM membership WHERE person = $1 ORDER BY place", id)
        let (password, issuer): (String?, String?) = (try row["password"], try row["issuer"])
        return Person(
            id: id, name: try row["name"], password: password.flatMap(PasswordHash.init(text:)),
            identity: try issuer.map { ExternalIdentity(issuer: $0, subject: try row["subject"]) },
            memberships: try memberships.compactMap(membership), createdAt: try row["created_at"])
    }

    /// A membership; `nil` for a role of a later version, which gives no right here.
    private static func membership(_ row: PostgresRow) throws -> PersonMembership? {
        guard let role = PersonRole(rawValue: try row["role"]) else { return nil }
        return PersonMembership(role, team: try row["team"], device: try row["device"])
    }

    private static func insert(_ person: Person, into connection: PostgresConnection) throws {
        guard try connection.run("SELECT 1 FROM person WHERE name = $1", person.name).isEmpty else {
            throw PeopleError.nameTaken(person.name)
        }
        if let identity = person.identity {
            let known = try Self.person(
                where: "issuer = $1 AND subject = $2", identity.issuer, identity.subject, in: connection)
            guard known == nil else { throw PeopleError.identityTaken }
        }
        try connection.run(
            "INSERT INTO person(id, name, password, issuer, subject, created_at) VALUES($1, $2, $3, $4, $5, $6)",
            person.id, person.name, person.password?.text, person.identity?.issuer, person.identity?.subject,
            person.createdAt)
        for (place, membership) in person.memberships.enumerated() {
            try connection.run(
                "INSERT INTO membership(person, place, role, team, device) VALUES($1, $2, $3, $4, $5)", person.id,
                place,
                membership.role.rawValue, membership.team, membership.device)
        }
    }
}

extension PostgresPeople {
    /// Inserts a row.
    package func addSession(_ session: ConsoleSession) async throws {
        try await pool.write { connection in
            _ = try connection.run(
                """
                INSERT INTO console_session(hash, person, created_at, confirmed_at, used_at, address, agent, team)
                VALUES($1, $2, $3, $4, $5, $6, $7, $8)
                """, session.hash, session.person, session.createdAt, session.confirmedAt, session.usedAt,
                session.address,
                session.agent, session.team)
        }
    }

    /// Reads one row.
    package func session(_ hash: [UInt8]) async throws -> ConsoleSession? {
        try await pool.read { connection in
            try connection.run("SELECT * FROM console_session WHERE hash = $1", hash).first.map {
                try ConsoleSession($0)
            }
        }
    }

    /// Reads the rows of a person.
    package func sessions(of person: PersonID) async throws -> [ConsoleSession] {
        try await pool.read { connection in
            try connection.run(
                "SELECT * FROM console_session WHERE person = $1 ORDER BY created_at DESC, hash", person
            ).map { try ConsoleSession($0) }
        }
    }

    /// Changes one row.
    package func noteUse(ofSession hash: [UInt8], at now: Timestamp) async throws {
        try await pool.write { _ = try $0.run("UPDATE console_session SET used_at = $2 WHERE hash = $1", hash, now) }
    }

    /// Changes one row.
    package func chooseTeam(_ team: TeamID?, inSession hash: [UInt8]) async throws {
        try await pool.write { _ = try $0.run("UPDATE console_session SET team = $2 WHERE hash = $1", hash, team) }
    }

    /// Deletes one row.
    package func endSession(_ hash: [UInt8]) async throws -> Bool {
        try await pool.write { try $0.run("DELETE FROM console_session WHERE hash = $1", hash).changed == 1 }
    }

    /// Deletes the rows of a person, but for one.
    package func endSessions(of person: PersonID, except hash: [UInt8]?) async throws {
        try await pool.write {
            _ = try $0.run(
                "DELETE FROM console_session WHERE person = $1 AND hash IS DISTINCT FROM $2", person, hash)
        }
    }

    /// Inserts a row in the place of earlier ones of the same person.
    package func addLink(_ link: PersonLink) async throws {
        try await change { connection in
            try connection.run("DELETE FROM person_link WHERE person IS NOT DISTINCT FROM $1", link.person)
            try connection.run(
                "INSERT INTO person_link(hash, person, expires_at) VALUES($1, $2, $3)", link.hash, link.person,
                link.expiresAt)
        }
    }

    /// Reads one row.
    package func link(_ hash: [UInt8]) async throws -> PersonLink? {
        try await pool.read { connection in
            try connection.run("SELECT * FROM person_link WHERE hash = $1", hash).first.map { try PersonLink($0) }
        }
    }

    /// Deletes one row.
    package func useLink(_ hash: [UInt8]) async throws -> PersonLink? {
        try await pool.write { connection in
            try connection.run("DELETE FROM person_link WHERE hash = $1 RETURNING *", hash).first
                .map { try PersonLink($0) }
        }
    }

    /// Deletes rows by their times.
    package func forgetSessions(usedBefore: Timestamp, now: Timestamp) async throws {
        try await pool.write { connection in
            try connection.run("DELETE FROM console_session WHERE used_at < $1", usedBefore)
            try connection.run("DELETE FROM person_link WHERE expires_at <= $1", now)
        }
    }
}

extension ConsoleSession {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(
            hash: try row["hash"], person: try row["person"], createdAt: try row["created_at"],
            confirmedAt: try row["confirmed_at"], usedAt: try row["used_at"], address: try row["address"],
            agent: try row["agent"], team: try row["team"])
    }
}

extension PersonLink {
    fileprivate init(_ row: PostgresRow) throws {
        self.init(hash: try row["hash"], person: try row["person"], expiresAt: try row["expires_at"])
    }
}
