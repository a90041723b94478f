import GRDB

/// The tables of the hub's database, as migrations. A migration that has landed never changes.
enum HubSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 hubs, installations and sends") { database in
            try database.execute(sql: first)
        }
        migrator.registerMigration("2 channels of registrations") { database in
            try database.execute(
                sql: "CREATE INDEX installation_handle ON installation(hub, \(handle)) WHERE channel IS NOT NULL")
        }
        migrator.registerMigration("3 the ends of sends, and faults by installation") { database in
            try database.execute(
                sql: """
                    CREATE INDEX send_ended ON send(ended_at) WHERE ended_at IS NOT NULL;
                    CREATE INDEX send_fault_installation ON send_fault(installation);
                    """)
        }
        migrator.registerMigration("4 paced sends") { database in
            try database.execute(
                sql: "ALTER TABLE send ADD COLUMN rate INTEGER; ALTER TABLE send ADD COLUMN next_at INTEGER")
        }
        migrator.registerMigration("5 recipients of sends, and credentials") { database in
            try database.execute(sql: recipients)
        }
        migrator.registerMigration("6 waves of campaigns") { database in try database.execute(sql: waves) }
        migrator.registerMigration("7 webhooks, events and keys of the API") { database in
            try database.execute(sql: events)
        }
        migrator.registerMigration("8 parts that are handed over as one") { database in
            try database.execute(sql: parts)
        }
        migrator.registerMigration("9 when a channel was registered, and faults in their order") { database in
            // NULL where the channel was registered when the installation was changed last. Faults are read in their
            // order.
            try database.execute(
                sql: """
                    ALTER TABLE installation ADD COLUMN registered_at INTEGER;
                    DROP INDEX send_fault_of;
                    CREATE INDEX send_fault_of ON send_fault(send);
                    """)
        }
        migrator.registerMigration("10 events by the installation that they name, one spelling of channels") {
            database in
            try database.execute(
                sql: """
                    CREATE INDEX hub_event_installation ON hub_event(hub, lower(data ->> '$.installationId'))
                        WHERE kind = 'channel.dead';
                    \(spellings)
                    """)
        }
        migrator.registerMigration("11 sends of templates whose sizes were not looked at when they began") { database in
            // Running sends keep their cursors: a check of sizes would begin again with the first.
            try database.execute(
                sql: """
                    UPDATE send SET checked_at = started_at
                    WHERE format = 'template' AND campaign IS NULL AND started_at IS NOT NULL
                    """)
        }
        migrator.registerMigration("12 parts whose copies end with a pause, and whom a send did not reach") {
            database in
            try database.execute(sql: closures)
        }
        migrator.registerMigration("13 the variants of recipients, who is left out, and when installations were seen") {
            database in
            try database.execute(sql: variants)
        }
        migrator.registerMigration("14 the sizes and the quotas of hubs") { database in
            try database.execute(sql: quotas)
        }
        migrator.registerMigration("15 sends of templates whose sizes were being looked at") { database in
            // Nothing of them was handed over: they begin with the first installation.
            try database.execute(
                sql: """
                    UPDATE send SET cursor = 0
                    WHERE format = 'template' AND checked_at IS NULL AND started_at IS NOT NULL AND ended_at IS NULL;
                    ALTER TABLE send DROP COLUMN checked_at;
                    """)
        }
        migrator.registerMigration("16 the members of payloads that name pictures") { database in
            // NULL where all that fit are chosen.
            try database.execute(sql: "ALTER TABLE hub ADD COLUMN picture_keys TEXT")
        }
        migrator.registerMigration("17 the log of audiences") { database in try database.execute(sql: log) }
        return migrator
    }

    /// The bytes of an installation's document. `octet_length` is younger than the SQLite of Debian 12.
    static let documentBytes = "length(CAST(document AS BLOB))"

    /// `audience_change.content` is ``AudienceCommit/content``.
    private static let log = """
        ALTER TABLE hub ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE send ADD COLUMN step INTEGER NOT NULL DEFAULT 0;
        CREATE TABLE audience_change(
            hub INTEGER NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
            version INTEGER NOT NULL,
            content TEXT NOT NULL,
            PRIMARY KEY (hub, version)
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX hub_lower_name ON hub(lower(name));
        """

    /// The counts follow every row, whoever writes it. A quota that is NULL is the standard one of ``HubLimits``; a hub that is
    /// large already is allowed twice its size.
    private static let quotas = """
        ALTER TABLE hub ADD COLUMN installations INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE hub ADD COLUMN document_bytes INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE hub ADD COLUMN most_installations INTEGER;
        ALTER TABLE hub ADD COLUMN most_tags INTEGER;
        ALTER TABLE hub ADD COLUMN writes_per_second INTEGER;
        UPDATE hub SET installations = held.count, document_bytes = held.bytes
        FROM (SELECT hub, COUNT(*) AS count, SUM(\(documentBytes)) AS bytes FROM installation GROUP BY hub) AS held
        WHERE held.hub = hub.number;
        UPDATE hub SET most_installations = MAX(1000000, 2 * installations, document_bytes / 512),
            most_tags = MAX(250000, 2 * installations)
        WHERE installations > 125000 OR document_bytes > 512000000;
        CREATE TRIGGER installation_put AFTER INSERT ON installation
        BEGIN
            UPDATE hub SET installations = installations + 1,
                document_bytes = document_bytes + length(CAST(NEW.document AS BLOB))
            WHERE number = NEW.hub;
        END;
        CREATE TRIGGER installation_changed AFTER UPDATE OF document ON installation
        BEGIN
            UPDATE hub SET document_bytes = document_bytes + length(CAST(NEW.document AS BLOB))
                - length(CAST(OLD.document AS BLOB))
            WHERE number = NEW.hub;
        END;
        CREATE TRIGGER installation_deleted AFTER DELETE ON installation
        BEGIN
            UPDATE hub SET installations = installations - 1,
                document_bytes = document_bytes - length(CAST(OLD.document AS BLOB))
            WHERE number = OLD.hub;
        END;
        """

    /// `send_left_out.why` is ``ExclusionReason``. Those whom an experiment gives nothing are meant from now on: they are in the counts.
    private static let variants = """
        ALTER TABLE send_recipient ADD COLUMN variant TEXT;
        ALTER TABLE installation ADD COLUMN seen_at INTEGER;
        CREATE TABLE send_left_out(
            send INTEGER NOT NULL REFERENCES send(number) ON DELETE CASCADE,
            why TEXT NOT NULL,
            audience BLOB NOT NULL,
            PRIMARY KEY (send, why)
        ) WITHOUT ROWID;
        UPDATE send SET targeted = targeted + held.count
        FROM send_count AS held WHERE held.send = send.number AND held.name = 'left heldOut';
        """

    /// `closure` is ``PartClosure``.
    private static let closures = """
        ALTER TABLE send_part ADD COLUMN closure INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX send_recipient_missed ON send_recipient(send, installation)
            WHERE outcome IS NOT 'Success' AND ending <> 'pending';
        """

    /// Lowercases device tokens of this server and of Apple's. Of installations with one token in two spellings, the
    /// one that was registered last keeps it.
    private static let spellings = """
        UPDATE installation SET channel = NULL, fault = 'TakenOver', fault_at = updated_at, version = version + 1
        WHERE number IN (
            SELECT number FROM (
                SELECT number, ROW_NUMBER() OVER (
                    PARTITION BY hub, lower(channel) ORDER BY COALESCE(registered_at, updated_at) DESC, number DESC) AS place
                FROM installation
                WHERE (hub, lower(channel)) IN (SELECT hub, lower(channel) FROM installation WHERE \(isSpelled))
                    AND (\(isSpelled) OR channel = lower(channel)))
            WHERE place > 1);
        UPDATE installation SET channel = lower(channel) WHERE \(isSpelled);
        """

    /// Whether a device token is in another spelling.
    private static let isSpelled = """
        (platform IN ('aldaba', 'apns') AND channel IS NOT NULL AND channel <> lower(channel)
            AND \(handle) NOT GLOB '*[^0-9A-Fa-f]*'
            AND (instr(channel, ' ') = 0 OR substr(channel, 1, length(id) + 1) = id || ' '))
        """

    private static let waves = """
        ALTER TABLE hub ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE installation ADD COLUMN time_zone TEXT;
        UPDATE installation SET time_zone = document ->> '$.timeZone';
        ALTER TABLE send ADD COLUMN plan TEXT;
        ALTER TABLE send ADD COLUMN checked_at INTEGER;
        ALTER TABLE send ADD COLUMN reason TEXT;
        CREATE TABLE send_wave(
            number INTEGER PRIMARY KEY,
            send INTEGER NOT NULL REFERENCES send(number) ON DELETE CASCADE,
            due_at INTEGER NOT NULL,
            opened_at INTEGER,
            ended_at INTEGER,
            audience BLOB NOT NULL
        );
        CREATE UNIQUE INDEX send_wave_of ON send_wave(send, due_at);
        CREATE INDEX send_wave_due ON send_wave(due_at);
        CREATE TABLE send_count(
            send INTEGER NOT NULL REFERENCES send(number) ON DELETE CASCADE,
            name TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (send, name)
        ) WITHOUT ROWID;
        """

    /// `hub.moment` is a version, incremented whenever a send or wave stores parts; `channel_moment` is the version at
    /// which the channel was last changed: a part leaves out channels that changed later. The unique index serves
    /// look-ups of installations' channels, which saves imports an index; `installation_handle` is for registrations.
    private static let parts = """
        ALTER TABLE hub ADD COLUMN moment INTEGER NOT NULL DEFAULT 0;
        ALTER TABLE installation ADD COLUMN channel_moment INTEGER NOT NULL DEFAULT 0;
        CREATE INDEX installation_own ON installation(hub, lower(substr(channel, 1, 16)))
            WHERE platform = 'aldaba' AND channel IS NOT NULL;
        DROP INDEX installation_handle;
        CREATE INDEX installation_handle ON installation(hub, \(handle)) WHERE instr(channel, ' ') > 0;
        CREATE TABLE send_part(
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            send INTEGER NOT NULL REFERENCES send(number) ON DELETE CASCADE,
            moment INTEGER NOT NULL,
            locale TEXT,
            variant TEXT,
            audience BLOB NOT NULL,
            count INTEGER NOT NULL,
            broadcast INTEGER,
            expires_at INTEGER,
            withdrawn_at INTEGER,
            followed INTEGER
        );
        CREATE INDEX send_part_of ON send_part(send, number);
        ALTER TABLE send_recipient ADD COLUMN list INTEGER;
        ALTER TABLE send_recipient ADD COLUMN notification INTEGER;
        """

    /// An expression for the channel without the id that precedes it in a registration.
    static let handle = "substr(channel, instr(channel, ' ') + 1)"

    private static let events = """
        CREATE TABLE hub_webhook(
            hub INTEGER PRIMARY KEY NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
            url TEXT NOT NULL,
            secret TEXT NOT NULL,
            set_at INTEGER NOT NULL
        );
        CREATE TABLE hub_event(
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            hub INTEGER NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
            kind TEXT NOT NULL,
            data TEXT NOT NULL,
            at INTEGER NOT NULL
        );
        CREATE INDEX hub_event_of ON hub_event(hub, number);
        CREATE INDEX hub_event_at ON hub_event(at);
        CREATE TABLE api_key(
            hash BLOB PRIMARY KEY NOT NULL,
            hub INTEGER NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
            name TEXT NOT NULL,
            rights TEXT NOT NULL,
            expires_at INTEGER,
            created_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX api_key_name ON api_key(hub, name);
        CREATE TRIGGER send_ended_event AFTER UPDATE OF ended_at ON send
        WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        BEGIN
            INSERT INTO hub_event(hub, kind, data, at)
            SELECT hub, 'send.ended', json_object(
                'send', NEW.id, 'state', NEW.state, 'campaign', NEW.campaign, 'targeted', NEW.targeted), NEW.ended_at
            FROM hub_webhook WHERE hub = NEW.hub;
        END;
        """

    private static let recipients = """
        CREATE TABLE send_recipient(
            send INTEGER NOT NULL REFERENCES send(number) ON DELETE CASCADE,
            installation INTEGER NOT NULL,
            part TEXT NOT NULL,
            name TEXT NOT NULL,
            platform TEXT NOT NULL,
            locale TEXT,
            app_version TEXT,
            outcome TEXT,
            reason TEXT,
            ending TEXT NOT NULL,
            reached INTEGER NOT NULL,
            at INTEGER NOT NULL,
            attempts INTEGER NOT NULL,
            first_at INTEGER NOT NULL,
            retry_at INTEGER,
            looked_up_at INTEGER,
            PRIMARY KEY (send, installation, part)
        ) WITHOUT ROWID;
        CREATE INDEX send_recipient_retry ON send_recipient(send, retry_at) WHERE retry_at IS NOT NULL;
        CREATE INDEX send_recipient_open ON send_recipient(send, looked_up_at) WHERE looked_up_at IS NOT NULL;
        CREATE INDEX send_recipient_installation ON send_recipient(installation);
        CREATE TABLE push_credential(
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            hub INTEGER NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
            service TEXT NOT NULL,
            kind TEXT NOT NULL,
            environment TEXT NOT NULL,
            address TEXT NOT NULL,
            name TEXT NOT NULL,
            owner TEXT NOT NULL,
            secret TEXT NOT NULL,
            authority TEXT,
            expires_at INTEGER,
            created_at INTEGER NOT NULL
        );
        CREATE UNIQUE INDEX push_credential_of ON push_credential(hub, service, environment);
        """

    private static let first = """
        CREATE TABLE hub(
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            name TEXT NOT NULL COLLATE NOCASE UNIQUE,
            team TEXT NOT NULL,
            topic TEXT NOT NULL,
            is_strict INTEGER NOT NULL,
            created_at INTEGER NOT NULL
        );
        CREATE TABLE hub_key(
            hub INTEGER NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
            name TEXT NOT NULL,
            rights TEXT NOT NULL,
            primary_key TEXT NOT NULL,
            secondary_key TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            PRIMARY KEY (hub, name)
        ) WITHOUT ROWID;
        CREATE TABLE backend_key(
            hash BLOB PRIMARY KEY NOT NULL,
            hub INTEGER NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
            name TEXT NOT NULL,
            created_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE TABLE installation(
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            hub INTEGER NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
            id TEXT NOT NULL,
            user TEXT,
            channel TEXT,
            document TEXT NOT NULL,
            platform TEXT NOT NULL,
            tags TEXT NOT NULL,
            template_tags TEXT,
            locale TEXT,
            country TEXT,
            app_version TEXT,
            version INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL,
            expires_at INTEGER,
            fault TEXT,
            fault_at INTEGER
        );
        CREATE UNIQUE INDEX installation_id ON installation(hub, id);
        CREATE UNIQUE INDEX installation_channel ON installation(hub, channel) WHERE channel IS NOT NULL;
        CREATE INDEX installation_number ON installation(hub, number);
        CREATE INDEX installation_user ON installation(hub, user) WHERE user IS NOT NULL;
        CREATE INDEX installation_fault ON installation(hub, number) WHERE fault IS NOT NULL;
        CREATE INDEX installation_expiry ON installation(expires_at) WHERE expires_at IS NOT NULL;
        CREATE TABLE send(
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            id TEXT NOT NULL,
            hub INTEGER NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
            format TEXT NOT NULL,
            body BLOB NOT NULL,
            headers TEXT NOT NULL,
            expression TEXT,
            channels TEXT,
            reads_fields INTEGER NOT NULL,
            due_at INTEGER,
            idempotency_key TEXT,
            digest BLOB NOT NULL,
            campaign TEXT,
            state TEXT NOT NULL,
            enqueued_at INTEGER NOT NULL,
            started_at INTEGER,
            ended_at INTEGER,
            targeted INTEGER NOT NULL,
            cursor INTEGER NOT NULL,
            audience BLOB
        );
        CREATE UNIQUE INDEX send_id ON send(hub, id);
        CREATE UNIQUE INDEX send_key ON send(hub, idempotency_key) WHERE idempotency_key IS NOT NULL;
        CREATE INDEX send_open ON send(state, due_at) WHERE ended_at IS NULL;
        CREATE TABLE send_outcome(
            send INTEGER NOT NULL REFERENCES send(number) ON DELETE CASCADE,
            platform TEXT NOT NULL,
            outcome TEXT NOT NULL,
            count INTEGER NOT NULL,
            PRIMARY KEY (send, platform, outcome)
        ) WITHOUT ROWID;
        CREATE TABLE send_fault(
            number INTEGER PRIMARY KEY,
            send INTEGER NOT NULL REFERENCES send(number) ON DELETE CASCADE,
            installation INTEGER NOT NULL,
            name TEXT NOT NULL,
            outcome TEXT NOT NULL,
            at INTEGER NOT NULL
        );
        CREATE INDEX send_fault_of ON send_fault(send, installation);
        """
}
