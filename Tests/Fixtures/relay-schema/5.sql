CREATE TABLE relay_device(
    device TEXT PRIMARY KEY NOT NULL,
    account BLOB NOT NULL,
    described BLOB NOT NULL,
    seen_at INTEGER NOT NULL
, wake BLOB) WITHOUT ROWID;
CREATE INDEX relay_device_account ON relay_device(account, seen_at);
CREATE TABLE relay_document(
    number INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    account BLOB NOT NULL,
    key BLOB NOT NULL,
    revision INTEGER NOT NULL,
    body BLOB NOT NULL,
    removed_at INTEGER
);
CREATE INDEX relay_document_account_removed ON relay_document(account, removed_at)
    WHERE removed_at IS NOT NULL;
CREATE UNIQUE INDEX relay_document_key ON relay_document(account, key);
CREATE INDEX relay_document_order ON relay_document(account, number);
CREATE INDEX relay_document_removed ON relay_document(removed_at) WHERE removed_at IS NOT NULL;
CREATE TABLE relay_document_sum(
    account BLOB PRIMARY KEY NOT NULL,
    count INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    removed INTEGER NOT NULL,
    seen_at INTEGER NOT NULL
, last INTEGER NOT NULL DEFAULT 0) WITHOUT ROWID;
CREATE INDEX relay_document_sum_seen ON relay_document_sum(seen_at);
CREATE TABLE "relay_letter"(
    number INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL,
    device TEXT NOT NULL,
    account BLOB NOT NULL,
    sender TEXT NOT NULL,
    id BLOB NOT NULL,
    deadline INTEGER NOT NULL,
    body BLOB NOT NULL
);
CREATE INDEX relay_letter_deadline ON relay_letter(deadline);
CREATE UNIQUE INDEX relay_letter_key ON relay_letter(device, sender, id);
CREATE INDEX relay_letter_order ON relay_letter(device, number);
CREATE TABLE relay_letter_sum(
    device TEXT PRIMARY KEY NOT NULL,
    count INTEGER NOT NULL,
    bytes INTEGER NOT NULL
) WITHOUT ROWID;
