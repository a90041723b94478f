CREATE TABLE app(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    topic TEXT NOT NULL UNIQUE,
    team TEXT NOT NULL,
    mailbox_limit INTEGER NOT NULL,
    overflow TEXT NOT NULL,
    created_at INTEGER NOT NULL
, removed_at INTEGER, name TEXT, push_enabled INTEGER NOT NULL DEFAULT 1);
CREATE TABLE certificate_authority(
    id TEXT PRIMARY KEY NOT NULL,
    fingerprint BLOB NOT NULL,
    team TEXT NOT NULL,
    der BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) WITHOUT ROWID;
CREATE TABLE device(
    id INTEGER PRIMARY KEY NOT NULL,
    secret_hash BLOB NOT NULL,
    enrolled_at INTEGER NOT NULL
, revoked_at INTEGER);
CREATE INDEX device_revoked_at ON device(revoked_at) WHERE revoked_at IS NOT NULL;
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
CREATE TABLE identity(
    apns_id TEXT NOT NULL,
    device INTEGER NOT NULL,
    app INTEGER NOT NULL,
    environment INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY(apns_id, device, app, environment, id)
) WITHOUT ROWID;
CREATE TABLE lingering(
    id INTEGER PRIMARY KEY NOT NULL,
    checked_at INTEGER NOT NULL
);
CREATE INDEX lingering_checked_at ON lingering(checked_at);
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
CREATE TABLE meta(
    key TEXT PRIMARY KEY NOT NULL,
    value INTEGER NOT NULL
) WITHOUT ROWID;
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
CREATE TABLE pending(
    device INTEGER NOT NULL,
    id INTEGER NOT NULL,
    message INTEGER NOT NULL,
    app INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    collapse_id TEXT, environment INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY(device, id)
) WITHOUT ROWID;
CREATE TABLE provider_certificate(
    id TEXT PRIMARY KEY NOT NULL,
    fingerprint BLOB NOT NULL UNIQUE,
    team TEXT NOT NULL,
    der BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) WITHOUT ROWID;
CREATE TABLE provider_key(
    key_id TEXT PRIMARY KEY NOT NULL,
    team TEXT NOT NULL,
    public_key TEXT NOT NULL,
    created_at INTEGER NOT NULL
, revoked_at INTEGER) WITHOUT ROWID;
CREATE TABLE recall(
    device INTEGER NOT NULL,
    id INTEGER NOT NULL,
    message INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY(device, id)
) WITHOUT ROWID;
CREATE INDEX recall_message ON recall(message);
CREATE TABLE refusal(
    apns_id TEXT NOT NULL,
    team TEXT NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY(apns_id, team, id)
) WITHOUT ROWID;
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
CREATE TABLE sqlite_sequence(name,seq);
CREATE TABLE team(
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE timeline(
    id INTEGER NOT NULL,
    at INTEGER NOT NULL,
    state TEXT NOT NULL,
    source TEXT NOT NULL,
    note TEXT,
    PRIMARY KEY(id, at, state)
) WITHOUT ROWID;
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
CREATE TABLE unrecorded(
    team TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY(team, first)
) WITHOUT ROWID;
CREATE INDEX unrecorded_last ON unrecorded(last);
