CREATE TABLE app(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    topic TEXT NOT NULL UNIQUE,
    team TEXT NOT NULL,
    mailbox_limit INTEGER NOT NULL,
    overflow TEXT NOT NULL,
    created_at INTEGER NOT NULL
, removed_at INTEGER, name TEXT, push_enabled INTEGER NOT NULL DEFAULT 1);
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
CREATE INDEX app_message_app ON app_message(app, number) WHERE ended_at IS NULL;
CREATE TRIGGER app_message_comes AFTER INSERT ON app_message
BEGIN
    INSERT INTO app_message_count(app, device, waiting) VALUES(NEW.app, NEW.device, 1), (NEW.app, 0, 1)
        ON CONFLICT(app, device) DO UPDATE SET waiting = waiting + 1;
END;
CREATE TABLE app_message_count(
    app INTEGER NOT NULL,
    device INTEGER NOT NULL,
    waiting INTEGER NOT NULL,
    PRIMARY KEY(app, device)
) WITHOUT ROWID;
CREATE INDEX app_message_due ON app_message(expires_at) WHERE ended_at IS NULL;
CREATE INDEX app_message_ended ON app_message(ended_at) WHERE ended_at IS NOT NULL;
CREATE TRIGGER app_message_ends AFTER UPDATE OF ended_at ON app_message
WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
BEGIN
    UPDATE app_message_count SET waiting = waiting - 1 WHERE app = NEW.app AND device IN (NEW.device, 0);
    DELETE FROM app_message_count WHERE app = NEW.app AND device IN (NEW.device, 0) AND waiting = 0;
END;
CREATE UNIQUE INDEX app_message_name ON app_message(app, message_id, device);
CREATE INDEX app_message_team ON app_message(team, number) WHERE ended_at IS NULL;
CREATE INDEX app_message_waiting ON app_message(number) WHERE ended_at IS NULL;
CREATE TABLE audit(
    number INTEGER PRIMARY KEY AUTOINCREMENT CHECK(number > 0),
    at INTEGER NOT NULL,
    origin TEXT NOT NULL,
    actor_kind TEXT NOT NULL,
    actor TEXT NOT NULL,
    actor_id TEXT,
    action TEXT NOT NULL,
    object TEXT NOT NULL,
    team TEXT,
    before TEXT
);
CREATE TRIGGER audit_changes BEFORE UPDATE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE TABLE audit_end(
    number INTEGER PRIMARY KEY NOT NULL REFERENCES audit(number),
    at INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    object TEXT,
    after TEXT
);
CREATE TRIGGER audit_end_changes BEFORE UPDATE ON audit_end
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE TRIGGER audit_end_leaves BEFORE DELETE ON audit_end
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE TRIGGER audit_end_replaces BEFORE INSERT ON audit_end
WHEN EXISTS(SELECT 1 FROM audit_end WHERE number = NEW.number)
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE TRIGGER audit_leaves BEFORE DELETE ON audit
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
END;
CREATE TRIGGER audit_replaces BEFORE INSERT ON audit
WHEN EXISTS(SELECT 1 FROM audit WHERE number = NEW.number)
BEGIN
    SELECT RAISE(ABORT, 'the audit log is append-only');
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
, name TEXT);
CREATE TABLE broadcast_channel(
    app INTEGER NOT NULL,
    environment INTEGER NOT NULL,
    channel BLOB NOT NULL,
    policy INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY(app, environment, channel)
) WITHOUT ROWID;
CREATE INDEX broadcast_leaving ON broadcast(sequence) WHERE ended_at IS NULL AND looks_back;
CREATE UNIQUE INDEX broadcast_name ON broadcast(name) WHERE name IS NOT NULL;
CREATE INDEX broadcast_open ON broadcast(expires_at) WHERE ended_at IS NULL;
CREATE TABLE broadcast_topic(
    topic INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    broadcast INTEGER NOT NULL,
    PRIMARY KEY(topic, sequence)
) WITHOUT ROWID;
CREATE INDEX broadcast_topic_broadcast ON broadcast_topic(broadcast);
CREATE INDEX broadcast_topic_sequence ON broadcast_topic(sequence);
CREATE INDEX broadcast_withdrawn ON broadcast(id) WHERE withdrawn_at IS NOT NULL AND ended_at IS NULL;
CREATE TABLE certificate_authority(
    id TEXT PRIMARY KEY NOT NULL,
    fingerprint BLOB NOT NULL,
    team TEXT NOT NULL,
    der BLOB NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) WITHOUT ROWID;
CREATE TABLE console_session(
    hash BLOB PRIMARY KEY NOT NULL,
    person TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    confirmed_at INTEGER NOT NULL,
    used_at INTEGER NOT NULL,
    address TEXT NOT NULL,
    agent TEXT NOT NULL,
    team TEXT
) WITHOUT ROWID;
CREATE INDEX console_session_person ON console_session(person);
CREATE TABLE device(
    id INTEGER PRIMARY KEY NOT NULL,
    secret_hash BLOB NOT NULL,
    enrolled_at INTEGER NOT NULL
, revoked_at INTEGER, seen_at INTEGER, blocked_at INTEGER);
CREATE INDEX device_blocked_at ON device(blocked_at) WHERE blocked_at IS NOT NULL;
CREATE TABLE device_group(
    key TEXT PRIMARY KEY NOT NULL,
    team TEXT NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE device_group_member(
    group_key TEXT NOT NULL,
    token TEXT NOT NULL,
    PRIMARY KEY(group_key, token)
) WITHOUT ROWID;
CREATE UNIQUE INDEX device_group_name ON device_group(team, name);
CREATE TRIGGER device_leaves AFTER UPDATE OF revoked_at ON device WHEN NEW.revoked_at IS NOT NULL
BEGIN
    DELETE FROM fanout_cursor WHERE device = NEW.id;
END;
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
CREATE TABLE ended_registration(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    app INTEGER NOT NULL,
    environment INTEGER NOT NULL,
    device INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    ended_at INTEGER NOT NULL
);
CREATE INDEX ended_registration_app ON ended_registration(app, environment, number);
CREATE TABLE enrolment_key(
    id TEXT PRIMARY KEY NOT NULL,
    secret_hash BLOB NOT NULL UNIQUE,
    quota INTEGER,
    used INTEGER NOT NULL,
    expires_at INTEGER,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
, installations INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
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
CREATE TABLE fanout_cursor(
    device INTEGER PRIMARY KEY NOT NULL,
    sequence INTEGER NOT NULL
);
CREATE TABLE identity(
    apns_id TEXT NOT NULL,
    device INTEGER NOT NULL,
    app INTEGER NOT NULL,
    environment INTEGER NOT NULL,
    id INTEGER NOT NULL,
    PRIMARY KEY(apns_id, device, app, environment, id)
) WITHOUT ROWID;
CREATE TABLE installation(
    team TEXT NOT NULL,
    id TEXT NOT NULL,
    app_id TEXT NOT NULL,
    refresh_hash BLOB NOT NULL,
    created_at INTEGER NOT NULL, enrolment_key TEXT,
    PRIMARY KEY(team, id)
) WITHOUT ROWID;
CREATE TRIGGER installation_comes AFTER INSERT ON installation WHEN NEW.enrolment_key IS NOT NULL
BEGIN
    UPDATE enrolment_key SET installations = installations + 1 WHERE id = NEW.enrolment_key;
END;
CREATE TRIGGER installation_leaves AFTER DELETE ON installation WHEN OLD.enrolment_key IS NOT NULL
BEGIN
    UPDATE enrolment_key SET installations = installations - 1 WHERE id = OLD.enrolment_key;
END;
CREATE TABLE lingering(
    id INTEGER PRIMARY KEY NOT NULL,
    checked_at INTEGER NOT NULL
);
CREATE INDEX lingering_checked_at ON lingering(checked_at);
CREATE TABLE membership(
    person TEXT NOT NULL,
    place INTEGER NOT NULL,
    role TEXT NOT NULL,
    team TEXT,
    device INTEGER,
    PRIMARY KEY(person, place)
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
CREATE TABLE meta(
    key TEXT PRIMARY KEY NOT NULL,
    value INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE missed(
    device INTEGER NOT NULL,
    app INTEGER NOT NULL,
    environment INTEGER NOT NULL,
    lane INTEGER NOT NULL,
    count INTEGER NOT NULL,
    since INTEGER NOT NULL,
    PRIMARY KEY(device, app, environment, lane)
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
CREATE TABLE person(
    id TEXT PRIMARY KEY NOT NULL,
    name TEXT NOT NULL UNIQUE,
    password TEXT,
    issuer TEXT,
    subject TEXT,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX person_identity ON person(issuer, subject) WHERE issuer IS NOT NULL;
CREATE TABLE person_link(
    hash BLOB PRIMARY KEY NOT NULL,
    person TEXT,
    expires_at INTEGER NOT NULL
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
CREATE TRIGGER registration_ends AFTER UPDATE OF ended_at ON registration
WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
BEGIN
    INSERT INTO ended_registration(app, environment, device, generation, ended_at)
    VALUES(NEW.app, NEW.environment, NEW.device, NEW.generation, NEW.ended_at);
    DELETE FROM ended_registration WHERE number <= (SELECT max(number) FROM ended_registration) - 200000;
END;
CREATE TRIGGER registration_leaves AFTER UPDATE OF ended_at ON registration
WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
BEGIN
    DELETE FROM subscription
    WHERE device = NEW.device AND app = NEW.app AND environment = NEW.environment;
    DELETE FROM past_subscription
    WHERE device = NEW.device AND app = NEW.app AND environment = NEW.environment;
END;
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
CREATE TABLE report_change(
    number INTEGER PRIMARY KEY NOT NULL,
    ids BLOB NOT NULL
);
CREATE TABLE report_counted(
    id INTEGER PRIMARY KEY NOT NULL,
    report INTEGER NOT NULL,
    outcome INTEGER NOT NULL
);
CREATE INDEX report_day ON report(day);
CREATE UNIQUE INDEX report_place ON report(app, day, lane, label);
CREATE TABLE service_account(
    key_id TEXT PRIMARY KEY NOT NULL,
    team TEXT NOT NULL,
    email TEXT NOT NULL UNIQUE,
    public_key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    revoked_at INTEGER
) WITHOUT ROWID;
CREATE TABLE sqlite_sequence(name,seq);
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
CREATE TABLE sync_clearing(
    id INTEGER PRIMARY KEY NOT NULL,
    device INTEGER NOT NULL
);
CREATE TABLE sync_member(
    id INTEGER PRIMARY KEY NOT NULL,
    app INTEGER NOT NULL,
    device INTEGER NOT NULL,
    name TEXT NOT NULL
);
CREATE INDEX sync_member_group ON sync_member(app, name, id);
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
CREATE TABLE topic(
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    team TEXT NOT NULL,
    name TEXT NOT NULL,
    UNIQUE(team, name)
);
CREATE TABLE unrecorded(
    team TEXT NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY(team, first)
) WITHOUT ROWID;
CREATE INDEX unrecorded_last ON unrecorded(last);
CREATE TABLE web_channel(
    device INTEGER NOT NULL,
    channel BLOB NOT NULL,
    app INTEGER NOT NULL,
    environment INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    sender TEXT NOT NULL,
    registered_at INTEGER NOT NULL,
    PRIMARY KEY(device, channel)
) WITHOUT ROWID;
CREATE TRIGGER web_channel_ends AFTER UPDATE OF ended_at ON registration
WHEN NEW.ended_at IS NOT NULL
BEGIN
    DELETE FROM web_channel
    WHERE device = NEW.device AND app = NEW.app AND environment = NEW.environment;
END;
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
CREATE TRIGGER web_registration_ends AFTER UPDATE OF ended_at ON registration
WHEN NEW.ended_at IS NOT NULL
BEGIN
    DELETE FROM web_registration
    WHERE device = NEW.device AND app = NEW.app AND environment = NEW.environment;
END;
CREATE INDEX web_registration_installation ON web_registration(installation) WHERE installation IS NOT NULL;
CREATE TABLE webhook(
    app INTEGER PRIMARY KEY NOT NULL,
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    set_at INTEGER NOT NULL
);
