import GRDB

/// The tables of the server's database, as migrations. A migration that has landed never changes.
package enum Schema {
    /// All migrations, in their order.
    package static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 the whole path") { database in
            try database.execute(sql: migration1)
        }
        migrator.registerMigration("2 environments and lingering payloads") { database in
            try database.execute(sql: migration2)
        }
        migrator.registerMigration("3 revocation and refusals by team") { database in
            try database.execute(sql: migration3)
        }
        migrator.registerMigration("4 the ends of what was not recorded") { database in
            try database.execute(sql: "CREATE INDEX unrecorded_last ON unrecorded(last)")
        }
        migrator.registerMigration("5 shared payloads") { database in
            try database.execute(sql: migration5)
        }
        migrator.registerMigration("6 tombstones") { database in
            try database.execute(sql: migration6)
        }
        migrator.registerMigration("7 recalls") { database in
            try database.execute(sql: migration7)
        }
        migrator.registerMigration("8 encryption keys") { database in
            try database.execute(sql: migration8)
        }
        migrator.registerMigration("9 certificates and teams") { database in
            try database.execute(sql: migration9)
        }
        migrator.registerMigration("10 ended registrations") { database in
            try database.execute(sql: migration10)
        }
        migrator.registerMigration("11 when devices were seen") { database in
            try database.execute(sql: migration11)
        }
        migrator.registerMigration("12 service accounts and device groups") { database in
            try database.execute(sql: migration12)
        }
        migrator.registerMigration("13 enrolment of FCM's clients") { database in
            try database.execute(sql: migration13)
        }
        migrator.registerMigration("14 messages from apps") { database in
            try database.execute(sql: migration14)
        }
        migrator.registerMigration("15 topics and broadcasts") { database in
            try database.execute(sql: migration15)
        }
        migrator.registerMigration("16 reports and sync groups") { database in
            try database.execute(sql: migration16)
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
            try database.execute(sql: migration19)
        }
        migrator.registerMigration("20 what devices missed") { database in
            try database.execute(sql: migration20)
        }
        migrator.registerMigration("21 expired broadcasts") { database in
            try database.execute(sql: migration21)
        }
        migrator.registerMigration("22 audit log") { database in
            try database.execute(sql: migration22)
        }
        migrator.registerMigration("23 people of the console") { database in
            try database.execute(sql: migration23)
        }
        migrator.registerMigration("24 browsers' subscriptions") { database in
            try database.execute(sql: migration24)
        }
        migrator.registerMigration("25 broadcast channels") { database in
            try database.execute(sql: migration25)
        }
        return migrator
    }
}
