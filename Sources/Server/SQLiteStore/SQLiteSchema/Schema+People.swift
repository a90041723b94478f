/// Migration 23: the people of the console.
extension Schema {
    static let migration23 = """
        CREATE TABLE person(
            id TEXT PRIMARY KEY NOT NULL,
            name TEXT NOT NULL UNIQUE,
            password TEXT,
            issuer TEXT,
            subject TEXT,
            created_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX person_identity ON person(issuer, subject) WHERE issuer IS NOT NULL;
        CREATE TABLE membership(
            person TEXT NOT NULL,
            place INTEGER NOT NULL,
            role TEXT NOT NULL,
            team TEXT,
            device INTEGER,
            PRIMARY KEY(person, place)
        ) WITHOUT ROWID;
        CREATE TABLE console_session(
            hash BLOB PRIMARY KEY NOT NULL,
            person TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            confirmed_at INTEGER NOT NULL,
            used_at INTEGER NOT NULL,
            address TEXT NOT NULL,
            agent TEXT NOT NULL,
            team TEXT
        ) WITHOUT ROWID;
        CREATE INDEX console_session_person ON console_session(person);
        CREATE TABLE person_link(
            hash BLOB PRIMARY KEY NOT NULL,
            person TEXT,
            expires_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        """
}
