import GRDB

/// The tables of the server's database, as migrations. A migration that has landed never changes.
package enum Schema {
    /// All migrations, in their order.
    package static var migrator: DatabaseMigrator {
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
        migrator.registerMigration("6 tombstones") { database in
            try database.execute(sql: sixth)
        }
        migrator.registerMigration("7 recalls") { database in
            try database.execute(sql: seventh)
        }
        migrator.registerMigration("8 encryption keys") { database in
            try database.execute(sql: eighth)
        }
        migrator.registerMigration("9 certificates and teams") { database in
            try database.execute(sql: ninth)
        }
        migrator.registerMigration("10 ended registrations") { database in
            try database.execute(sql: tenth)
        }
        migrator.registerMigration("11 when devices were seen") { database in
            try database.execute(sql: eleventh)
        }
        migrator.registerMigration("12 service accounts and device groups") { database in
            try database.execute(sql: twelfth)
        }
        migrator.registerMigration("13 enrolment of FCM's clients") { database in
            try database.execute(sql: thirteenth)
        }
        migrator.registerMigration("14 messages from apps") { database in
            try database.execute(sql: fourteenth)
        }
        migrator.registerMigration("15 topics and broadcasts") { database in
            try database.execute(sql: fifteenth)
        }
        migrator.registerMigration("16 reports and sync groups") { database in
            try database.execute(sql: sixteenth)
        }
        migrator.registerMigration("17 broadcasts by sequence") { database in
            try database.execute(sql: "CREATE INDEX broadcast_topic_sequence ON broadcast_topic(sequence)")
        }
        migrator.registerMigration("18 broadcasts by name") { database in
            try database.execute(
                sql: """
                    ALTER TABLE broadcast ADD COLUMN name TEXT;
                    CREATE UNIQUE INDEX broadcast_name ON broadcast(name) WHERE name IS NOT NULL;
                    """)
        }
        migrator.registerMigration("19 installations by enrolment key") { database in
            try database.execute(sql: nineteenth)
        }
        migrator.registerMigration("20 what devices missed") { database in
            try database.execute(sql: twentieth)
        }
        migrator.registerMigration("21 expired broadcasts") { database in
            try database.execute(sql: twentyFirst)
        }
        migrator.registerMigration("22 audit log") { database in
            try database.execute(sql: twentySecond)
        }
        migrator.registerMigration("23 people of the console") { database in
            try database.execute(sql: twentyThird)
        }
        migrator.registerMigration("24 browsers' subscriptions") { database in
            try database.execute(sql: twentyFourth)
        }
        migrator.registerMigration("25 broadcast channels") { database in
            try database.execute(sql: twentyFifth)
        }
        return migrator
    }
}
