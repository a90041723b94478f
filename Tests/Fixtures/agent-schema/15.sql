CREATE TABLE identity (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    device INTEGER NOT NULL,
    secret INTEGER NOT NULL
) STRICT;
CREATE TABLE registration (
    app TEXT NOT NULL,
    environment TEXT NOT NULL,
    token TEXT, team TEXT,
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
, content TEXT, trigger TEXT, listed_at INTEGER, shows INTEGER NOT NULL DEFAULT 26, deferred_at INTEGER, attempts INTEGER NOT NULL DEFAULT 0) STRICT;
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
, held INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX response_of_notification ON response (notification);
CREATE INDEX response_waiting ON response (app, sequence) WHERE handled_at IS NULL;
CREATE INDEX notification_listed ON notification (app, sequence) WHERE listed_at IS NOT NULL;
CREATE TABLE standing (app TEXT PRIMARY KEY, standing TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE preference (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE local_id (one INTEGER PRIMARY KEY CHECK (one = 1), last INTEGER NOT NULL) STRICT;
CREATE TABLE done (
    app TEXT NOT NULL,
    run TEXT NOT NULL,
    request INTEGER NOT NULL,
    PRIMARY KEY (app, run, request)
) STRICT, WITHOUT ROWID;
CREATE TABLE question (app TEXT PRIMARY KEY, handle TEXT NOT NULL) STRICT, WITHOUT ROWID;
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
CREATE INDEX notification_wanted_of_app ON notification (app) WHERE presentation = 1;
CREATE INDEX notification_listed_as ON notification (app, identifier) WHERE listed_at IS NOT NULL;
CREATE INDEX notification_visible ON notification (app, identifier)
    WHERE listed_at IS NOT NULL OR handle IS NOT NULL OR presentation IN (1, 3);
CREATE INDEX notification_waking ON notification (app, sequence)
    WHERE handed_at IS NULL AND deferred_at IS NOT 0;
CREATE INDEX notification_undeferred ON notification (app, sequence)
    WHERE handed_at IS NULL AND deferred_at IS NULL;
CREATE INDEX response_held ON response (sequence) WHERE held;
CREATE TABLE deletion (
    app TEXT NOT NULL,
    environment TEXT NOT NULL,
    lane INTEGER NOT NULL,
    id INTEGER NOT NULL,
    count INTEGER NOT NULL,
    since INTEGER NOT NULL, attempts INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (app, environment, lane)
) STRICT, WITHOUT ROWID;
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
, attempts INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE INDEX data_message_of_app ON data_message (app, sequence);
CREATE INDEX data_message_collapsing ON data_message (app, collapse_key) WHERE collapse_key IS NOT NULL;
CREATE INDEX data_message_expiring ON data_message (expires_at) WHERE expires_at IS NOT NULL;
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
    code TEXT, under_way INTEGER NOT NULL DEFAULT 0, attempts INTEGER NOT NULL DEFAULT 0,
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
CREATE TABLE live_activity (
    app TEXT NOT NULL,
    id TEXT NOT NULL,
    record TEXT NOT NULL,
    PRIMARY KEY (app, id)
) STRICT, WITHOUT ROWID;
