import GRDB

/// The tables of the relay's database, as migrations. A migration that has landed never changes.
enum RelaySchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 devices of accounts") { database in
            try database.execute(
                sql: """
                    CREATE TABLE relay_device(
                        device TEXT PRIMARY KEY NOT NULL,
                        account BLOB NOT NULL,
                        described BLOB NOT NULL,
                        seen_at INTEGER NOT NULL
                    ) WITHOUT ROWID;
                    CREATE INDEX relay_device_account ON relay_device(account, seen_at);
                    """)
        }
        migrator.registerMigration("2 channels by which devices are woken") { database in
            try database.execute(sql: "ALTER TABLE relay_device ADD COLUMN wake BLOB")
        }
        return migrator
    }
}
