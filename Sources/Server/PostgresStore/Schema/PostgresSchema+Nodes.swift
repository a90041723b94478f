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
}
