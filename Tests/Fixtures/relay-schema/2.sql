CREATE TABLE relay_device(
    device TEXT PRIMARY KEY NOT NULL,
    account BLOB NOT NULL,
    described BLOB NOT NULL,
    seen_at INTEGER NOT NULL
, wake BLOB) WITHOUT ROWID;
CREATE INDEX relay_device_account ON relay_device(account, seen_at);
