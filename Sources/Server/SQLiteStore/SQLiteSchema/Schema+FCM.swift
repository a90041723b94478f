/// Migrations 12 to 16, 19 and 20: the tables of FCM, topics and reports.
extension Schema {
    static let migration12 = """
        CREATE TABLE service_account(
            key_id TEXT PRIMARY KEY NOT NULL,
            team TEXT NOT NULL,
            email TEXT NOT NULL UNIQUE,
            public_key TEXT NOT NULL,
            created_at INTEGER NOT NULL,
            revoked_at INTEGER
        ) WITHOUT ROWID;
        CREATE TABLE device_group(
            key TEXT PRIMARY KEY NOT NULL,
            team TEXT NOT NULL,
            name TEXT NOT NULL,
            created_at INTEGER NOT NULL
        ) WITHOUT ROWID;
        CREATE UNIQUE INDEX device_group_name ON device_group(team, name);
        CREATE TABLE device_group_member(
            group_key TEXT NOT NULL,
            token TEXT NOT NULL,
            PRIMARY KEY(group_key, token)
        ) WITHOUT ROWID;
        """

    /// Registrations in browsers' form, installations of apps, keys for enrolment, and devices that are blocked.
    static let migration13 = """
        CREATE TABLE web_registration(
            device INTEGER NOT NULL,
            app INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            category TEXT NOT NULL,
            subtype TEXT NOT NULL,
            sender TEXT NOT NULL,
            point BLOB,
            authentication_secret BLOB,
            installation TEXT,
            registered_at INTEGER NOT NULL,
            PRIMARY KEY(device, app, environment)
        ) WITHOUT ROWID;
        CREATE INDEX web_registration_installation ON web_registration(installation) WHERE installation IS NOT NULL;
        CREATE TRIGGER web_registration_ends AFTER UPDATE OF ended_at ON registration
        WHEN NEW.ended_at IS NOT NULL
        BEGIN
            DELETE FROM web_registration
            WHERE device = NEW.device AND app = NEW.app AND environment = NEW.environment;
        END;
        CREATE TABLE installation(
            team TEXT NOT NULL,
            id TEXT NOT NULL,
            app_id TEXT NOT NULL,
            refresh_hash BLOB NOT NULL,
            created_at INTEGER NOT NULL,
            PRIMARY KEY(team, id)
        ) WITHOUT ROWID;
        CREATE TABLE enrolment_key(
            id TEXT PRIMARY KEY NOT NULL,
            secret_hash BLOB NOT NULL UNIQUE,
            quota INTEGER,
            used INTEGER NOT NULL,
            expires_at INTEGER,
            created_at INTEGER NOT NULL,
            revoked_at INTEGER
        ) WITHOUT ROWID;
        ALTER TABLE device ADD COLUMN blocked_at INTEGER;
        CREATE INDEX device_blocked_at ON device(blocked_at) WHERE blocked_at IS NOT NULL;
        """

    /// The messages of apps on devices to their providers. Ended ones are kept for a while without their content, so
    /// that none is delivered twice. Triggers count the queued ones, for an app under the device 0, so that no limit
    /// needs a count.
    static let migration14 = """
        CREATE TABLE app_message(
            number INTEGER PRIMARY KEY AUTOINCREMENT,
            device INTEGER NOT NULL,
            app INTEGER NOT NULL,
            message_id TEXT NOT NULL,
            team TEXT NOT NULL,
            environment INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            data BLOB,
            raw BLOB,
            received_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            ended_at INTEGER,
            ending TEXT
        );
        CREATE UNIQUE INDEX app_message_name ON app_message(app, message_id, device);
        CREATE INDEX app_message_waiting ON app_message(number) WHERE ended_at IS NULL;
        CREATE INDEX app_message_team ON app_message(team, number) WHERE ended_at IS NULL;
        CREATE INDEX app_message_app ON app_message(app, number) WHERE ended_at IS NULL;
        CREATE INDEX app_message_due ON app_message(expires_at) WHERE ended_at IS NULL;
        CREATE INDEX app_message_ended ON app_message(ended_at) WHERE ended_at IS NOT NULL;
        CREATE TABLE app_message_count(
            app INTEGER NOT NULL,
            device INTEGER NOT NULL,
            waiting INTEGER NOT NULL,
            PRIMARY KEY(app, device)
        ) WITHOUT ROWID;
        CREATE TRIGGER app_message_comes AFTER INSERT ON app_message
        BEGIN
            INSERT INTO app_message_count(app, device, waiting) VALUES(NEW.app, NEW.device, 1), (NEW.app, 0, 1)
                ON CONFLICT(app, device) DO UPDATE SET waiting = waiting + 1;
        END;
        CREATE TRIGGER app_message_ends AFTER UPDATE OF ended_at ON app_message
        WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        BEGIN
            UPDATE app_message_count SET waiting = waiting - 1 WHERE app = NEW.app AND device IN (NEW.device, 0);
            DELETE FROM app_message_count WHERE app = NEW.app AND device IN (NEW.device, 0) AND waiting = 0;
        END;
        CREATE TABLE webhook(
            app INTEGER PRIMARY KEY NOT NULL,
            url TEXT NOT NULL,
            secret TEXT NOT NULL,
            set_at INTEGER NOT NULL
        );
        """

    /// Registrations subscribe to topics, and a broadcast is found by its topics. Subscriptions, unsubscriptions and
    /// broadcasts are numbered by one counter, `fanout` in `meta`. A device has processed everything up to its cursor.
    /// Nothing is indexed by the subscribers of a topic: a broadcast costs the same whatever their number. A
    /// broadcast's payload is in `payload` under the broadcast's id, so that `payload_use` has its copies.
    static let migration15 = """
        CREATE TABLE topic(
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            team TEXT NOT NULL,
            name TEXT NOT NULL,
            UNIQUE(team, name)
        );
        CREATE TABLE subscription(
            device INTEGER NOT NULL,
            app INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            topic INTEGER NOT NULL REFERENCES topic(id),
            generation INTEGER NOT NULL,
            joined INTEGER NOT NULL,
            subscribed_at INTEGER NOT NULL,
            PRIMARY KEY(device, app, environment, topic)
        ) WITHOUT ROWID;
        CREATE TABLE past_subscription(
            device INTEGER NOT NULL,
            app INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            topic INTEGER NOT NULL,
            generation INTEGER NOT NULL,
            joined INTEGER NOT NULL,
            ended INTEGER NOT NULL,
            PRIMARY KEY(device, app, environment, topic, joined)
        ) WITHOUT ROWID;
        CREATE INDEX past_subscription_ended ON past_subscription(ended);
        CREATE TRIGGER registration_leaves AFTER UPDATE OF ended_at ON registration
        WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
        BEGIN
            DELETE FROM subscription
            WHERE device = NEW.device AND app = NEW.app AND environment = NEW.environment;
            DELETE FROM past_subscription
            WHERE device = NEW.device AND app = NEW.app AND environment = NEW.environment;
        END;
        CREATE TABLE broadcast(
            id INTEGER PRIMARY KEY NOT NULL,
            sequence INTEGER NOT NULL,
            team TEXT NOT NULL,
            audience TEXT NOT NULL,
            written TEXT NOT NULL,
            push_type TEXT,
            priority INTEGER NOT NULL,
            collapse_id TEXT,
            accepted_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            is_attempt INTEGER NOT NULL,
            looks_back INTEGER NOT NULL,
            withdrawn_at INTEGER,
            ended_at INTEGER
        );
        CREATE INDEX broadcast_open ON broadcast(expires_at) WHERE ended_at IS NULL;
        CREATE INDEX broadcast_leaving ON broadcast(sequence) WHERE ended_at IS NULL AND looks_back;
        CREATE INDEX broadcast_withdrawn ON broadcast(id) WHERE withdrawn_at IS NOT NULL AND ended_at IS NULL;
        CREATE TABLE broadcast_topic(
            topic INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            broadcast INTEGER NOT NULL,
            PRIMARY KEY(topic, sequence)
        ) WITHOUT ROWID;
        CREATE INDEX broadcast_topic_broadcast ON broadcast_topic(broadcast);
        CREATE TABLE fanout_cursor(
            device INTEGER PRIMARY KEY NOT NULL,
            sequence INTEGER NOT NULL
        );
        CREATE TRIGGER device_leaves AFTER UPDATE OF revoked_at ON device WHEN NEW.revoked_at IS NOT NULL
        BEGIN
            DELETE FROM fanout_cursor WHERE device = NEW.id;
        END;
        """

    /// Each transaction records in one row of report_change which notifications it concerns, eight bytes each. A sweep
    /// reads those, keeps the counted outcome of each in report_counted, and the sums in report. Members of a sync
    /// group are moved to sync_clearing when one of them was opened or dismissed: their notifications are to be
    /// cleared.
    static let migration16 = """
        CREATE TABLE report_change(
            number INTEGER PRIMARY KEY NOT NULL,
            ids BLOB NOT NULL
        );
        CREATE TABLE report(
            number INTEGER PRIMARY KEY NOT NULL,
            app INTEGER NOT NULL,
            day INTEGER NOT NULL,
            lane INTEGER NOT NULL,
            label TEXT NOT NULL,
            accepted INTEGER NOT NULL DEFAULT 0,
            notifications INTEGER NOT NULL DEFAULT 0,
            sent INTEGER NOT NULL DEFAULT 0,
            received INTEGER NOT NULL DEFAULT 0,
            presented INTEGER NOT NULL DEFAULT 0,
            opened INTEGER NOT NULL DEFAULT 0,
            dismissed INTEGER NOT NULL DEFAULT 0,
            suppressed INTEGER NOT NULL DEFAULT 0,
            prompt INTEGER NOT NULL DEFAULT 0,
            pending INTEGER NOT NULL DEFAULT 0,
            delivered INTEGER NOT NULL DEFAULT 0,
            expired INTEGER NOT NULL DEFAULT 0,
            replaced INTEGER NOT NULL DEFAULT 0,
            withdrawn INTEGER NOT NULL DEFAULT 0,
            droppedOverflow INTEGER NOT NULL DEFAULT 0,
            droppedInactive INTEGER NOT NULL DEFAULT 0,
            droppedUnregistered INTEGER NOT NULL DEFAULT 0,
            droppedOffline INTEGER NOT NULL DEFAULT 0,
            failed INTEGER NOT NULL DEFAULT 0
        );
        CREATE UNIQUE INDEX report_place ON report(app, day, lane, label);
        CREATE INDEX report_day ON report(day);
        CREATE TABLE report_counted(
            id INTEGER PRIMARY KEY NOT NULL,
            report INTEGER NOT NULL,
            outcome INTEGER NOT NULL
        );
        CREATE TABLE sync_member(
            id INTEGER PRIMARY KEY NOT NULL,
            app INTEGER NOT NULL,
            device INTEGER NOT NULL,
            name TEXT NOT NULL
        );
        CREATE INDEX sync_member_group ON sync_member(app, name, id);
        CREATE TABLE sync_clearing(
            id INTEGER PRIMARY KEY NOT NULL,
            device INTEGER NOT NULL
        );
        """

    /// Triggers count the installations that an enrolment key has made, so that its limit needs no count.
    static let migration19 = """
        ALTER TABLE installation ADD COLUMN enrolment_key TEXT;
        ALTER TABLE enrolment_key ADD COLUMN installations INTEGER NOT NULL DEFAULT 0;
        CREATE TRIGGER installation_comes AFTER INSERT ON installation WHEN NEW.enrolment_key IS NOT NULL
        BEGIN
            UPDATE enrolment_key SET installations = installations + 1 WHERE id = NEW.enrolment_key;
        END;
        CREATE TRIGGER installation_leaves AFTER DELETE ON installation WHEN OLD.enrolment_key IS NOT NULL
        BEGIN
            UPDATE enrolment_key SET installations = installations - 1 WHERE id = OLD.enrolment_key;
        END;
        """

    /// The counts of what expired while devices were away: one row at most for each app, environment and lane of a
    /// device, deleted when it comes back.
    static let migration20 = """
        CREATE TABLE missed(
            device INTEGER NOT NULL,
            app INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            lane INTEGER NOT NULL,
            count INTEGER NOT NULL,
            since INTEGER NOT NULL,
            PRIMARY KEY(device, app, environment, lane)
        ) WITHOUT ROWID;
        """

    /// The broadcasts that expired, one row for each of their topics, for devices that come back after a long time.
    static let migration21 = """
        CREATE TABLE expired_broadcast(
            topic INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            id INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            team TEXT NOT NULL,
            audience TEXT NOT NULL,
            accepted_at INTEGER NOT NULL,
            is_attempt INTEGER NOT NULL,
            lane INTEGER NOT NULL,
            PRIMARY KEY(topic, expires_at, id)
        ) WITHOUT ROWID;
        CREATE INDEX expired_broadcast_end ON expired_broadcast(expires_at);
        """
}
