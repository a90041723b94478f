import GRDB

/// The tables of the server's database, as migrations. A migration that has landed never changes.
enum Schema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 the whole path") { database in
            try database.execute(sql: first)
        }
        migrator.registerMigration("2 environments and lingering payloads") { database in
            try database.execute(sql: second)
        }
        migrator.registerMigration("3 revocation and refusals by team") { database in
            try database.execute(sql: third)
        }
        migrator.registerMigration("4 the ends of what was not recorded") { database in
            try database.execute(sql: "CREATE INDEX unrecorded_last ON unrecorded(last)")
        }
        migrator.registerMigration("5 shared payloads") { database in
            try database.execute(sql: fifth)
        }
        return migrator
    }

    private static let first = """
        CREATE TABLE app(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            topic TEXT NOT NULL UNIQUE,
            team TEXT NOT NULL,
            mailbox_limit INTEGER NOT NULL,
            overflow TEXT NOT NULL,
            created_at INTEGER NOT NULL
        );
        CREATE TABLE provider_key(
            key_id TEXT PRIMARY KEY NOT NULL,
            team TEXT NOT NULL,
            public_key TEXT NOT NULL,
            created_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE device(
            id INTEGER PRIMARY KEY NOT NULL,
            secret_hash BLOB NOT NULL,
            enrolled_at INTEGER NOT NULL
        );
        CREATE TABLE registration(
            device INTEGER NOT NULL,
            app INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            registered_at INTEGER NOT NULL,
            ended_at INTEGER,
            previous_ended_at INTEGER,
            PRIMARY KEY(device, app, environment)
        ) WITHOUT ROWID;
        CREATE TABLE message(
            id INTEGER PRIMARY KEY NOT NULL,
            app INTEGER,
            device INTEGER,
            environment INTEGER,
            generation INTEGER,
            lane INTEGER NOT NULL,
            apns_id TEXT,
            push_type TEXT,
            priority INTEGER NOT NULL,
            collapse_id TEXT,
            accepted_at INTEGER NOT NULL,
            expires_at INTEGER,
            stored INTEGER NOT NULL,
            payload BLOB,
            team TEXT,
            topic TEXT,
            code TEXT,
            note TEXT
        );
        CREATE TABLE pending(
            device INTEGER NOT NULL,
            id INTEGER NOT NULL,
            message INTEGER NOT NULL,
            app INTEGER NOT NULL,
            lane INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            collapse_id TEXT,
            PRIMARY KEY(device, id)
        ) WITHOUT ROWID;
        CREATE TABLE identity(
            apns_id TEXT NOT NULL,
            device INTEGER NOT NULL,
            app INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            id INTEGER NOT NULL,
            PRIMARY KEY(apns_id, device, app, environment, id)
        ) WITHOUT ROWID;
        CREATE TABLE timeline(
            id INTEGER NOT NULL,
            at INTEGER NOT NULL,
            state TEXT NOT NULL,
            source TEXT NOT NULL,
            note TEXT,
            PRIMARY KEY(id, at, state)
        ) WITHOUT ROWID;
        CREATE TABLE unrecorded(
            team TEXT NOT NULL,
            first INTEGER NOT NULL,
            last INTEGER NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY(team, first)
        ) WITHOUT ROWID;
        CREATE TABLE meta(
            key TEXT PRIMARY KEY NOT NULL,
            value INTEGER NOT NULL
        ) WITHOUT ROWID;
        """

    /// What waits knows its environment. Notifications whose payload was still needed when the sweep passed them
    /// are looked at again after a while.
    private static let second = """
        ALTER TABLE pending ADD COLUMN environment INTEGER NOT NULL DEFAULT 0;
        UPDATE pending SET environment =
            coalesce((SELECT environment FROM message WHERE message.id = pending.message), 0);
        CREATE TABLE lingering(
            id INTEGER PRIMARY KEY NOT NULL,
            checked_at INTEGER NOT NULL
        );
        CREATE INDEX lingering_checked_at ON lingering(checked_at);
        DELETE FROM meta WHERE key = 'payloads_cleared';
        """

    /// Keys, apps and devices can be revoked; their rows stay, for the timelines and so that no name is given twice.
    /// Refused requests are found by their team, so that no team's hide another's.
    private static let third = """
        ALTER TABLE app ADD COLUMN removed_at INTEGER;
        ALTER TABLE provider_key ADD COLUMN revoked_at INTEGER;
        ALTER TABLE device ADD COLUMN revoked_at INTEGER;
        CREATE INDEX device_revoked_at ON device(revoked_at) WHERE revoked_at IS NOT NULL;
        CREATE TABLE refusal(
            apns_id TEXT NOT NULL,
            team TEXT NOT NULL,
            id INTEGER NOT NULL,
            PRIMARY KEY(apns_id, team, id)
        ) WITHOUT ROWID;
        INSERT INTO refusal(apns_id, team, id)
            SELECT identity.apns_id, message.team, message.id FROM identity JOIN message ON message.id = identity.id
            WHERE message.code IS NOT NULL AND message.team IS NOT NULL;
        DELETE FROM identity WHERE device = 0;
        """

    /// What was accepted once for many devices is kept once, and each message for them points to it from a table of its
    /// own: those that have their payload themselves cost no more than before.
    private static let fifth = """
        CREATE TABLE payload(
            id INTEGER PRIMARY KEY NOT NULL,
            lane INTEGER NOT NULL,
            content BLOB NOT NULL,
            checked_at INTEGER NOT NULL
        );
        CREATE INDEX payload_checked_at ON payload(checked_at);
        CREATE TABLE payload_use(
            message INTEGER PRIMARY KEY NOT NULL,
            payload INTEGER NOT NULL REFERENCES payload(id)
        );
        CREATE INDEX payload_use_payload ON payload_use(payload);
        """
}
