/// The nodes that use the database, and what they share besides.
extension PostgresSchema {
    /// The state of a node is not in `node`, whose row each batch changes.
    static let nodes = [
        """
        CREATE TABLE node_state(id bigint PRIMARY KEY, run bigint NOT NULL, beat_at timestamptz NOT NULL,
            register_version bigint NOT NULL, program text NOT NULL, sessions bigint NOT NULL,
            carrier boolean NOT NULL) WITH (fillfactor = 10);
        CREATE TABLE missed_wakeup(node bigint, device bigint, PRIMARY KEY (node, device));
        CREATE TABLE shared_secret(name text PRIMARY KEY, content text NOT NULL);
        INSERT INTO shared_secret VALUES ('cluster', md5(random()::text));
        """
    ]

    // MARK: Files of notifications, which each node keeps in its data folder

    /// The schema of the tables about files.
    package static let mediaSchema = "media"

    static let media = [
        """
        CREATE SCHEMA \(mediaSchema);
        CREATE TABLE \(mediaSchema).file(name text PRIMARY KEY, format text NOT NULL, bytes bigint NOT NULL,
            sha256 text NOT NULL, team text NOT NULL, made_at bigint NOT NULL, expires_at bigint NOT NULL,
            object text);
        CREATE INDEX file_content ON \(mediaSchema).file(team, sha256);
        CREATE INDEX file_expiry ON \(mediaSchema).file(expires_at);
        CREATE TABLE \(mediaSchema).copy(name text REFERENCES \(mediaSchema).file(name) ON DELETE CASCADE, node bigint,
            PRIMARY KEY (name, node));
        CREATE TABLE \(mediaSchema).removed(name text PRIMARY KEY, number bigint GENERATED ALWAYS AS IDENTITY,
            expires_at bigint NOT NULL);
        CREATE INDEX removed_number ON \(mediaSchema).removed(number);
        CREATE INDEX removed_expiry ON \(mediaSchema).removed(expires_at);
        CREATE TABLE \(mediaSchema).sum(team text PRIMARY KEY, bytes bigint NOT NULL, count bigint NOT NULL)
            WITH (fillfactor = 50);
        INSERT INTO \(mediaSchema).sum VALUES ('*', 0, 0);
        CREATE TABLE \(mediaSchema).unused_object(key text PRIMARY KEY, due_at bigint NOT NULL);
        CREATE INDEX unused_object_due ON \(mediaSchema).unused_object(due_at);
        """
    ]
}
