import AgentEngine
import GRDB

/// The tables of the agent's database. A migration that has landed is never changed; a new one is added.
///
/// Times are milliseconds since 1970 UTC. A `sequence` is a place in the order of arrival; no value is used twice.
package enum AgentSchema {
    /// The migrations that have landed, in their order; they bring a database of any earlier version up to date.
    package static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1") { database in try database.execute(sql: migration1) }
        migrator.registerMigration("2") { database in try database.execute(sql: migration2) }
        migrator.registerMigration("3") { database in try database.execute(sql: migration3) }
        migrator.registerMigration("4") { database in try database.execute(sql: migration4) }
        migrator.registerMigration("5") { database in try database.execute(sql: migration5) }
        migrator.registerMigration("6") { database in try database.execute(sql: migration6) }
        migrator.registerMigration("7") { database in try database.execute(sql: migration7) }
        migrator.registerMigration("8") { database in try database.execute(sql: migration8) }
        migrator.registerMigration("9") { database in try database.execute(sql: migration9) }
        migrator.registerMigration("10") { database in try database.execute(sql: migration10) }
        migrator.registerMigration("11") { database in try database.execute(sql: migration11) }
        migrator.registerMigration("12") { database in try database.execute(sql: migration12) }
        migrator.registerMigration("13") { database in try database.execute(sql: migration13) }
        migrator.registerMigration("14") { database in try database.execute(sql: migration14) }
        migrator.registerMigration("15") { database in try database.execute(sql: migration15) }
        return migrator
    }

    /// `presentation`: 0 nothing to show, 1 wanted (the intent), 2 shown, 3 could not be shown.
    /// `presentation_note`: why it could not be shown.
    /// `expires_at`: NULL for one attempt: it has arrived, and does not expire any more.
    /// `registration.token`: NULL when the app ended its registration.
    /// `handle`: by what the presenter finds it on the screen; NULL while it is not there.
    private static let migration1 = """
        CREATE TABLE identity (
            one INTEGER PRIMARY KEY CHECK (one = 1),
            device INTEGER NOT NULL,
            secret INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE registration (
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            token TEXT,
            PRIMARY KEY (app, environment)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE notification (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            id INTEGER NOT NULL UNIQUE,
            app TEXT NOT NULL,
            apns_id TEXT NOT NULL,
            identifier TEXT NOT NULL,
            environment TEXT NOT NULL,
            push_type TEXT,
            priority INTEGER NOT NULL,
            payload BLOB NOT NULL,
            accepted_at INTEGER NOT NULL,
            received_at INTEGER NOT NULL,
            expires_at INTEGER,
            presentation INTEGER NOT NULL,
            presentation_note TEXT,
            handle TEXT,
            presented_at INTEGER,
            handed_at INTEGER,
            responded_at INTEGER
        ) STRICT;
        CREATE INDEX notification_of_app ON notification (app, sequence);
        CREATE INDEX notification_waiting ON notification (app, sequence) WHERE handed_at IS NULL;
        CREATE INDEX notification_wanted ON notification (sequence) WHERE presentation = 1;
        CREATE INDEX notification_shown ON notification (sequence) WHERE handle IS NOT NULL;
        CREATE TABLE unconfirmed (id INTEGER PRIMARY KEY) STRICT;
        CREATE TABLE outbox (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            notification INTEGER NOT NULL,
            state TEXT NOT NULL,
            at INTEGER NOT NULL,
            source TEXT NOT NULL,
            note TEXT
        ) STRICT;
        CREATE TABLE response (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            notification INTEGER NOT NULL,
            app TEXT NOT NULL,
            action TEXT NOT NULL,
            text TEXT,
            at INTEGER NOT NULL,
            handled_at INTEGER
        ) STRICT;
        CREATE INDEX response_of_notification ON response (notification);
        CREATE INDEX response_waiting ON response (app, sequence) WHERE handled_at IS NULL;
        """

    /// `content` and `trigger`: the content and the trigger of an app's own notification, as JSON; NULL for one that
    /// came from a provider. `listed_at`: when it came into the list; NULL while it is not there. `preference`: a
    /// person's settings for all apps. `request`: the requests that have not fired yet. `standing`: an
    /// ``AppNotificationRecord``, as JSON. `local_id`: the last id that was given to an app's own notification.
    private static let migration2 = """
        ALTER TABLE notification ADD COLUMN content TEXT;
        ALTER TABLE notification ADD COLUMN trigger TEXT;
        ALTER TABLE notification ADD COLUMN listed_at INTEGER;
        CREATE INDEX notification_listed ON notification (app, sequence) WHERE listed_at IS NOT NULL;
        CREATE TABLE request (
            app TEXT NOT NULL,
            identifier TEXT NOT NULL,
            request TEXT NOT NULL,
            added_at INTEGER NOT NULL,
            PRIMARY KEY (app, identifier)
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE standing (app TEXT PRIMARY KEY, standing TEXT NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE preference (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
        CREATE TABLE local_id (one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL) STRICT;
        """

    /// `done`: the requests of an app's newest run that are done, so that none is done twice. `registration.team`: the
    /// app's team, with which the registration is ended when the app is removed; NULL in rows of an earlier version.
    /// `notification.shows`: how it appears, a `PresentationOptions`. `response.held`: whether it waits for the screen
    /// to be unlocked.
    private static let migration3 = """
        CREATE TABLE done (
            app TEXT NOT NULL,
            run TEXT NOT NULL,
            request INTEGER NOT NULL,
            PRIMARY KEY (app, run, request)
        ) STRICT, WITHOUT ROWID;
        ALTER TABLE registration ADD COLUMN team TEXT;
        ALTER TABLE notification ADD COLUMN shows INTEGER NOT NULL DEFAULT 26;
        ALTER TABLE response ADD COLUMN held INTEGER NOT NULL DEFAULT 0;
        """

    /// `question`: the presenter's handle of the question whether an app may send notifications, while it is open.
    /// `notification.deferred_at`: when the budget first kept its app from being woken for it; 0 where it wakes no app.
    private static let migration4 = """
        CREATE TABLE question (app TEXT PRIMARY KEY, handle TEXT NOT NULL) STRICT, WITHOUT ROWID;
        ALTER TABLE notification ADD COLUMN deferred_at INTEGER;
        """

    /// `pending` replaces `request`. `key`: the request's key in the schedule. `boot`, `since_boot`: the boot in which
    /// it was added, and CLOCK_BOOTTIME at that moment, in milliseconds. `last_fired`: the last occurrence that fired
    /// or was skipped. `side`: the side of a region's edge on which the machine was last. `fired`: how often it has
    /// fired. `zone_offset`: the offset of the machine's zone from UTC when it was added, in seconds, positive to the
    /// east.
    private static let migration5 = """
        CREATE TABLE pending (
            key INTEGER PRIMARY KEY AUTOINCREMENT,
            app TEXT NOT NULL,
            identifier TEXT NOT NULL,
            request TEXT NOT NULL,
            added_at INTEGER NOT NULL,
            boot TEXT,
            since_boot INTEGER NOT NULL DEFAULT 0,
            last_fired INTEGER,
            side TEXT NOT NULL DEFAULT 'unknown',
            fired INTEGER NOT NULL DEFAULT 0,
            zone_offset INTEGER,
            UNIQUE (app, identifier)
        ) STRICT;
        INSERT INTO pending (app, identifier, request, added_at)
            SELECT app, identifier, request, added_at FROM request ORDER BY added_at, identifier;
        DROP TABLE request;
        """

    /// Indexes for the queries that are made for each notification: their cost does not grow with the size of the
    /// store. `notification_visible`: notifications in the list, on the screen, queued for it, or that could not be
    /// shown. `notification_waking`: notifications for which an app may be woken. `notification_undeferred`: those
    /// among them that no budget has delayed yet.
    private static let migration6 = """
        CREATE INDEX notification_wanted_of_app ON notification (app) WHERE presentation = 1;
        CREATE INDEX notification_listed_as ON notification (app, identifier) WHERE listed_at IS NOT NULL;
        CREATE INDEX notification_visible ON notification (app, identifier)
            WHERE listed_at IS NOT NULL OR handle IS NOT NULL OR presentation IN (1, 3);
        UPDATE notification SET deferred_at = 0
            WHERE handed_at IS NULL AND deferred_at IS NULL AND (
                content IS NOT NULL
                OR json_valid(CAST(payload AS TEXT))
                    AND CAST(payload AS TEXT) ->> '$.aps."content-available"' IS NOT 1
                    AND coalesce(
                        CAST(payload AS TEXT) ->> '$.aps.alert', CAST(payload AS TEXT) ->> '$.aps.sound',
                        CAST(payload AS TEXT) ->> '$.aps.badge') IS NOT NULL);
        CREATE INDEX notification_waking ON notification (app, sequence)
            WHERE handed_at IS NULL AND deferred_at IS NOT 0;
        CREATE INDEX notification_undeferred ON notification (app, sequence)
            WHERE handed_at IS NULL AND deferred_at IS NULL;
        CREATE INDEX response_held ON response (sequence) WHERE held;
        """

    /// `deletion`: the deletions on the server to report to an app; `id` is that of the notice.
    private static let migration7 = """
        CREATE TABLE deletion (
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            lane INTEGER NOT NULL,
            id INTEGER NOT NULL,
            count INTEGER NOT NULL,
            since INTEGER NOT NULL,
            PRIMARY KEY (app, environment, lane)
        ) STRICT, WITHOUT ROWID;
        """

    /// `encryption_key`: the keys with which senders encrypt to an app, in the order in which they were made.
    /// `published_at`: when the server had it for the first time. `opened_message`: the messages that were opened, so
    /// that none is opened twice; `fingerprint` is that of the message, `notification` the one that carried it.
    private static let migration8 = """
        CREATE TABLE encryption_key (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            app TEXT NOT NULL,
            environment TEXT NOT NULL,
            private_key BLOB NOT NULL,
            authentication_secret BLOB NOT NULL,
            published_at INTEGER
        ) STRICT;
        CREATE INDEX encryption_key_of_app ON encryption_key (app, environment, sequence);
        CREATE TABLE opened_message (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            fingerprint BLOB NOT NULL UNIQUE,
            notification INTEGER NOT NULL
        ) STRICT;
        """

    /// `extending`: the notifications that wait for their app's service extension, and are not in `notification` before
    /// it has answered. The columns are those of `notification`.
    private static let migration9 = """
        CREATE TABLE extending (
            id INTEGER PRIMARY KEY,
            app TEXT NOT NULL,
            apns_id TEXT NOT NULL,
            identifier TEXT NOT NULL,
            environment TEXT NOT NULL,
            push_type TEXT,
            priority INTEGER NOT NULL,
            payload BLOB NOT NULL,
            accepted_at INTEGER NOT NULL,
            received_at INTEGER NOT NULL,
            expires_at INTEGER
        ) STRICT;
        CREATE INDEX extending_of_app ON extending (app);
        """

    /// `data_message`: the messages queued for their app's direct channel, in the order of arrival; a row is deleted
    /// when the app has received it. `collapse_key`: a later message of its app with the same key replaces it.
    private static let migration10 = """
        CREATE TABLE data_message (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            id INTEGER NOT NULL UNIQUE,
            app TEXT NOT NULL,
            apns_id TEXT NOT NULL,
            environment TEXT NOT NULL,
            collapse_key TEXT,
            payload BLOB NOT NULL,
            accepted_at INTEGER NOT NULL,
            received_at INTEGER NOT NULL,
            expires_at INTEGER
        ) STRICT;
        CREATE INDEX data_message_of_app ON data_message (app, sequence);
        CREATE INDEX data_message_collapsing ON data_message (app, collapse_key) WHERE collapse_key IS NOT NULL;
        CREATE INDEX data_message_expiring ON data_message (expires_at) WHERE expires_at IS NOT NULL;
        """

    /// `upstream`: messages of apps to their providers. `ended`: whether the server has it, or it failed; its app does
    /// not know that yet. `code`: why it failed. `topic_wish`: topics that apps want to join or leave, until the server
    /// has answered.
    private static let migration11 = """
        CREATE TABLE upstream (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            app TEXT NOT NULL,
            message TEXT NOT NULL,
            recipient TEXT NOT NULL,
            data TEXT NOT NULL,
            time_to_live INTEGER NOT NULL,
            sent_at INTEGER NOT NULL,
            expires_at INTEGER NOT NULL,
            ended INTEGER NOT NULL DEFAULT 0,
            code TEXT,
            UNIQUE (app, message)
        ) STRICT;
        CREATE INDEX upstream_waiting ON upstream (sequence) WHERE ended = 0;
        CREATE INDEX upstream_expiring ON upstream (expires_at) WHERE ended = 0;
        CREATE INDEX upstream_waiting_of_app ON upstream (app, sequence) WHERE ended = 0;
        CREATE INDEX upstream_ended ON upstream (app, sequence) WHERE ended = 1;
        CREATE TABLE topic_wish (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            app TEXT NOT NULL,
            topic TEXT NOT NULL,
            joins INTEGER NOT NULL,
            UNIQUE (app, topic)
        ) STRICT;
        """

    /// `upstream.under_way`: whether it was sent, so that the server may know of it. What waits from before may have
    /// been.
    private static let migration12 = """
        ALTER TABLE upstream ADD COLUMN under_way INTEGER NOT NULL DEFAULT 0;
        UPDATE upstream SET under_way = 1 WHERE ended = 0;
        """

    /// `attempts`: the number of runs of the app that ended before they had answered it.
    private static let migration13 = ["notification", "response", "data_message", "upstream", "deletion"]
        .map { "ALTER TABLE \($0) ADD COLUMN attempts INTEGER NOT NULL DEFAULT 0;" }.joined(separator: "\n")

    /// `unified_push`: the registrations of apps by UnifiedPush. `vapid`: NULL where every server may send. `endpoint`: NULL until
    /// the server has given one. `unified_push_message`: messages that wait for their apps; `expires_at`: NULL for one
    /// attempt. `ended_channel`: channels that the server is to forget.
    private static let migration14 = """
        CREATE TABLE unified_push (
            token TEXT PRIMARY KEY,
            service TEXT NOT NULL,
            description TEXT NOT NULL,
            vapid TEXT,
            version INTEGER NOT NULL,
            channel BLOB NOT NULL UNIQUE,
            endpoint TEXT
        ) STRICT, WITHOUT ROWID;
        CREATE TABLE unified_push_message (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT,
            id INTEGER NOT NULL UNIQUE,
            token TEXT NOT NULL,
            service TEXT NOT NULL,
            topic TEXT,
            body BLOB NOT NULL,
            received_at INTEGER NOT NULL,
            expires_at INTEGER
        ) STRICT;
        CREATE INDEX unified_push_pending ON unified_push (token) WHERE endpoint IS NULL;
        CREATE INDEX unified_push_message_once ON unified_push_message (service) WHERE expires_at IS NULL;
        CREATE INDEX unified_push_message_of_service ON unified_push_message (service, sequence);
        CREATE INDEX unified_push_message_of_token ON unified_push_message (token, sequence);
        CREATE INDEX unified_push_message_expiring ON unified_push_message (expires_at) WHERE expires_at IS NOT NULL;
        CREATE TABLE ended_channel (channel BLOB PRIMARY KEY) STRICT, WITHOUT ROWID;
        """

    /// `live_activity.record`: a `LiveActivityRecord` as JSON.
    private static let migration15 = """
        CREATE TABLE live_activity (
            app TEXT NOT NULL,
            id TEXT NOT NULL,
            record TEXT NOT NULL,
            PRIMARY KEY (app, id)
        ) STRICT, WITHOUT ROWID;
        """
}
