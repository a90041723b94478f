/// Migrations 1 to 11: apps, keys, devices, notifications and their timelines, certificates.
extension Schema {
    static let migration1 = """
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

    /// Waiting rows contain the environment. Notifications whose payload was still needed when the sweep passed them
    /// are checked again after a while.
    static let migration2 = """
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

    /// Keys, apps and devices can be revoked; their rows remain, for the timelines and so that no name is reused.
    /// Refused requests are indexed by their team, so that no team's hide another's.
    static let migration3 = """
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

    /// Payloads that were accepted for many devices are stored once. The messages refer to them from a separate table,
    /// so that those with a payload of their own cost no more than before.
    static let migration5 = """
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

    /// The tombstones for devices: one row at most for each app, environment and lane of a device.
    static let migration6 = """
        CREATE TABLE tombstone(
            device INTEGER NOT NULL,
            app INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            lane INTEGER NOT NULL,
            id INTEGER NOT NULL,
            count INTEGER NOT NULL,
            since INTEGER NOT NULL,
            PRIMARY KEY(device, id)
        ) WITHOUT ROWID;
        CREATE INDEX tombstone_app ON tombstone(app);
        CREATE UNIQUE INDEX tombstone_place ON tombstone(device, app, environment, lane);
        """

    /// The recalls for devices: one row at most for each notification, deleted with it.
    static let migration7 = """
        CREATE TABLE recall(
            device INTEGER NOT NULL,
            id INTEGER NOT NULL,
            message INTEGER NOT NULL,
            at INTEGER NOT NULL,
            PRIMARY KEY(device, id)
        ) WITHOUT ROWID;
        CREATE INDEX recall_message ON recall(message);
        """

    /// The public keys to which senders encrypt: one for each active registration that has published one.
    static let migration8 = """
        CREATE TABLE encryption_key(
            device INTEGER NOT NULL,
            app INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            point BLOB NOT NULL,
            authentication_secret BLOB NOT NULL,
            published_at INTEGER NOT NULL,
            PRIMARY KEY(device, app, environment)
        ) WITHOUT ROWID;
        CREATE INDEX encryption_key_app ON encryption_key(app);
        """

    /// Providers have certificates, teams have names, and apps a name and capabilities. Revoked certificates remain, so
    /// that they are recognized.
    static let migration9 = """
        CREATE TABLE team(
            id TEXT PRIMARY KEY NOT NULL,
            name TEXT NOT NULL,
            created_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        ALTER TABLE app ADD COLUMN name TEXT;
        ALTER TABLE app ADD COLUMN push_enabled INTEGER NOT NULL DEFAULT 1;
        CREATE TABLE provider_certificate(
            id TEXT PRIMARY KEY NOT NULL,
            fingerprint BLOB NOT NULL UNIQUE,
            team TEXT NOT NULL,
            der BLOB NOT NULL,
            created_at INTEGER NOT NULL,
            revoked_at INTEGER
        ) WITHOUT ROWID;
        CREATE TABLE certificate_authority(
            id TEXT PRIMARY KEY NOT NULL,
            fingerprint BLOB NOT NULL,
            team TEXT NOT NULL,
            der BLOB NOT NULL,
            created_at INTEGER NOT NULL,
            revoked_at INTEGER
        ) WITHOUT ROWID;
        """

    /// The ends of registrations by the app, a revocation or a removal, until a provider reads them. Of unread ones the
    /// newest 200,000 are kept.
    static let migration10 = """
        CREATE TABLE ended_registration(
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            app INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            device INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            ended_at INTEGER NOT NULL
        );
        CREATE INDEX ended_registration_app ON ended_registration(app, environment, number);
        CREATE TRIGGER registration_ends AFTER UPDATE OF ended_at ON registration
        WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        BEGIN
            INSERT INTO ended_registration(app, environment, device, generation, ended_at)
            VALUES(NEW.app, NEW.environment, NEW.device, NEW.generation, NEW.ended_at);
            DELETE FROM ended_registration WHERE number <= (SELECT max(number) FROM ended_registration) - 200000;
        END;
        """

    /// The time at which a device's presence was last recorded; NULL since its enrolment. It is unknown for earlier
    /// devices, which count as seen now.
    static let migration11 = """
        ALTER TABLE device ADD COLUMN seen_at INTEGER;
        UPDATE device SET seen_at = CAST(strftime('%s', 'now') AS INTEGER) * 1000;
        """

    /// Providers request access tokens with service accounts, and address several devices as one group. Revoked
    /// accounts remain, so that no name is reused.
}
