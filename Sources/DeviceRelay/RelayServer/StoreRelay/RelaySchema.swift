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
        migrator.registerMigration("3 letters for devices that are away") { database in
            try database.execute(
                sql: """
                    CREATE TABLE relay_letter(
                        number INTEGER PRIMARY KEY NOT NULL,
                        device TEXT NOT NULL,
                        account BLOB NOT NULL,
                        sender TEXT NOT NULL,
                        id BLOB NOT NULL,
                        deadline INTEGER NOT NULL,
                        body BLOB NOT NULL
                    );
                    CREATE UNIQUE INDEX relay_letter_key ON relay_letter(device, sender, id);
                    CREATE INDEX relay_letter_order ON relay_letter(device, number);
                    CREATE INDEX relay_letter_deadline ON relay_letter(deadline);
                    CREATE TABLE relay_letter_sum(
                        device TEXT PRIMARY KEY NOT NULL,
                        count INTEGER NOT NULL,
                        bytes INTEGER NOT NULL
                    ) WITHOUT ROWID;
                    """)
        }
        migrator.registerMigration("4 documents of accounts") { database in
            try database.execute(
                sql: """
                    CREATE TABLE relay_document(
                        number INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
                        account BLOB NOT NULL,
                        key BLOB NOT NULL,
                        revision INTEGER NOT NULL,
                        body BLOB NOT NULL,
                        removed_at INTEGER
                    );
                    CREATE UNIQUE INDEX relay_document_key ON relay_document(account, key);
                    CREATE INDEX relay_document_order ON relay_document(account, number);
                    CREATE INDEX relay_document_removed ON relay_document(removed_at) WHERE removed_at IS NOT NULL;
                    CREATE INDEX relay_document_account_removed ON relay_document(account, removed_at)
                        WHERE removed_at IS NOT NULL;
                    CREATE TABLE relay_document_sum(
                        account BLOB PRIMARY KEY NOT NULL,
                        count INTEGER NOT NULL,
                        bytes INTEGER NOT NULL,
                        removed INTEGER NOT NULL,
                        seen_at INTEGER NOT NULL
                    ) WITHOUT ROWID;
                    CREATE INDEX relay_document_sum_seen ON relay_document_sum(seen_at);
                    """)
        }
        migrator.registerMigration("5 numbers of messages and documents") { database in
            try database.execute(
                sql: """
                    CREATE TABLE relay_letter_new(
                        number INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
                        device TEXT NOT NULL,
                        account BLOB NOT NULL,
                        sender TEXT NOT NULL,
                        id BLOB NOT NULL,
                        deadline INTEGER NOT NULL,
                        body BLOB NOT NULL
                    );
                    INSERT INTO relay_letter_new SELECT * FROM relay_letter;
                    DROP TABLE relay_letter;
                    ALTER TABLE relay_letter_new RENAME TO relay_letter;
                    CREATE UNIQUE INDEX relay_letter_key ON relay_letter(device, sender, id);
                    CREATE INDEX relay_letter_order ON relay_letter(device, number);
                    CREATE INDEX relay_letter_deadline ON relay_letter(deadline);
                    ALTER TABLE relay_document_sum ADD COLUMN last INTEGER NOT NULL DEFAULT 0;
                    UPDATE relay_document_sum
                        SET last = coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'relay_document'), 0);
                    """)
        }
        return migrator
    }
}
