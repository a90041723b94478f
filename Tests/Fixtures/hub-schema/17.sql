CREATE TABLE api_key(
    hash BLOB PRIMARY KEY NOT NULL,
    hub INTEGER NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
    name TEXT NOT NULL,
    rights TEXT NOT NULL,
    expires_at INTEGER,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE UNIQUE INDEX api_key_name ON api_key(hub, name);
CREATE TABLE audience_change(
    hub INTEGER NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    content TEXT NOT NULL,
    PRIMARY KEY (hub, version)
) WITHOUT ROWID;
CREATE TABLE backend_key(
    hash BLOB PRIMARY KEY NOT NULL,
    hub INTEGER NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE hub(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL COLLATE NOCASE UNIQUE,
    team TEXT NOT NULL,
    topic TEXT NOT NULL,
    is_strict INTEGER NOT NULL,
    created_at INTEGER NOT NULL
, generation INTEGER NOT NULL DEFAULT 0, moment INTEGER NOT NULL DEFAULT 0, installations INTEGER NOT NULL DEFAULT 0, document_bytes INTEGER NOT NULL DEFAULT 0, most_installations INTEGER, most_tags INTEGER, writes_per_second INTEGER, picture_keys TEXT, version INTEGER NOT NULL DEFAULT 0);
CREATE TABLE hub_event(
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    hub INTEGER NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    data TEXT NOT NULL,
    at INTEGER NOT NULL
);
CREATE INDEX hub_event_at ON hub_event(at);
CREATE INDEX hub_event_installation ON hub_event(hub, lower(data ->> '$.installationId'))
    WHERE kind = 'channel.dead';
CREATE INDEX hub_event_of ON hub_event(hub, number);
CREATE TABLE hub_key(
    hub INTEGER NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
    name TEXT NOT NULL,
    rights TEXT NOT NULL,
    primary_key TEXT NOT NULL,
    secondary_key TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (hub, name)
) WITHOUT ROWID;
CREATE UNIQUE INDEX hub_lower_name ON hub(lower(name));
CREATE TABLE hub_webhook(
    hub INTEGER PRIMARY KEY NOT NULL REFERENCES hub(number) ON DELETE CASCADE,
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    set_at INTEGER NOT NULL
);
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
, time_zone TEXT, channel_moment INTEGER NOT NULL DEFAULT 0, registered_at INTEGER, seen_at INTEGER);
CREATE TRIGGER installation_changed AFTER UPDATE OF document ON installation
BEGIN
    UPDATE hub SET document_bytes = document_bytes + length(CAST(NEW.document AS BLOB))
        - length(CAST(OLD.document AS BLOB))
    WHERE number = NEW.hub;
END;
CREATE UNIQUE INDEX installation_channel ON installation(hub, channel) WHERE channel IS NOT NULL;
CREATE TRIGGER installation_deleted AFTER DELETE ON installation
BEGIN
    UPDATE hub SET installations = installations - 1,
        document_bytes = document_bytes - length(CAST(OLD.document AS BLOB))
    WHERE number = OLD.hub;
END;
CREATE INDEX installation_expiry ON installation(expires_at) WHERE expires_at IS NOT NULL;
CREATE INDEX installation_fault ON installation(hub, number) WHERE fault IS NOT NULL;
CREATE INDEX installation_handle ON installation(hub, substr(channel, instr(channel, ' ') + 1)) WHERE instr(channel, ' ') > 0;
CREATE UNIQUE INDEX installation_id ON installation(hub, id);
CREATE INDEX installation_number ON installation(hub, number);
CREATE INDEX installation_own ON installation(hub, lower(substr(channel, 1, 16)))
    WHERE platform = 'aldaba' AND channel IS NOT NULL;
CREATE TRIGGER installation_put AFTER INSERT ON installation
BEGIN
    UPDATE hub SET installations = installations + 1,
        document_bytes = document_bytes + length(CAST(NEW.document AS BLOB))
    WHERE number = NEW.hub;
END;
CREATE INDEX installation_user ON installation(hub, user) WHERE user IS NOT NULL;
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
, rate INTEGER, next_at INTEGER, plan TEXT, reason TEXT, step INTEGER NOT NULL DEFAULT 0);
CREATE TABLE send_count(
    send INTEGER NOT NULL REFERENCES send(number) ON DELETE CASCADE,
    name TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (send, name)
) WITHOUT ROWID;
CREATE INDEX send_ended ON send(ended_at) WHERE ended_at IS NOT NULL;
CREATE TRIGGER send_ended_event AFTER UPDATE OF ended_at ON send
WHEN OLD.ended_at IS NULL AND NEW.ended_at IS NOT NULL
BEGIN
    INSERT INTO hub_event(hub, kind, data, at)
    SELECT hub, 'send.ended', json_object(
        'send', NEW.id, 'state', NEW.state, 'campaign', NEW.campaign, 'targeted', NEW.targeted), NEW.ended_at
    FROM hub_webhook WHERE hub = NEW.hub;
END;
CREATE TABLE send_fault(
    number INTEGER PRIMARY KEY,
    send INTEGER NOT NULL REFERENCES send(number) ON DELETE CASCADE,
    installation INTEGER NOT NULL,
    name TEXT NOT NULL,
    outcome TEXT NOT NULL,
    at INTEGER NOT NULL
);
CREATE INDEX send_fault_installation ON send_fault(installation);
CREATE INDEX send_fault_of ON send_fault(send);
CREATE UNIQUE INDEX send_id ON send(hub, id);
CREATE UNIQUE INDEX send_key ON send(hub, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE TABLE send_left_out(
    send INTEGER NOT NULL REFERENCES send(number) ON DELETE CASCADE,
    why TEXT NOT NULL,
    audience BLOB NOT NULL,
    PRIMARY KEY (send, why)
) WITHOUT ROWID;
CREATE INDEX send_open ON send(state, due_at) WHERE ended_at IS NULL;
CREATE TABLE send_outcome(
    send INTEGER NOT NULL REFERENCES send(number) ON DELETE CASCADE,
    platform TEXT NOT NULL,
    outcome TEXT NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (send, platform, outcome)
) WITHOUT ROWID;
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
, closure INTEGER NOT NULL DEFAULT 0);
CREATE INDEX send_part_of ON send_part(send, number);
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
    looked_up_at INTEGER, list INTEGER, notification INTEGER, variant TEXT,
    PRIMARY KEY (send, installation, part)
) WITHOUT ROWID;
CREATE INDEX send_recipient_installation ON send_recipient(installation);
CREATE INDEX send_recipient_missed ON send_recipient(send, installation)
    WHERE outcome IS NOT 'Success' AND ending <> 'pending';
CREATE INDEX send_recipient_open ON send_recipient(send, looked_up_at) WHERE looked_up_at IS NOT NULL;
CREATE INDEX send_recipient_retry ON send_recipient(send, retry_at) WHERE retry_at IS NOT NULL;
CREATE TABLE send_wave(
    number INTEGER PRIMARY KEY,
    send INTEGER NOT NULL REFERENCES send(number) ON DELETE CASCADE,
    due_at INTEGER NOT NULL,
    opened_at INTEGER,
    ended_at INTEGER,
    audience BLOB NOT NULL
);
CREATE INDEX send_wave_due ON send_wave(due_at);
CREATE UNIQUE INDEX send_wave_of ON send_wave(send, due_at);
CREATE TABLE sqlite_sequence(name,seq);
