/// Notifications and their timelines, and what is queued for devices.
extension PostgresSchema {
    private static let pendingParts = 16

    /// `message`, `timeline` and `report_counted` are partitioned by id, which rises with time, and `identity` by time: whole days
    /// are dropped. `pending`, which changes most, is partitioned by a hash of the device.
    static var notifications: [String] {
        [
            """
            CREATE TABLE node(id bigint PRIMARY KEY, batch bigint NOT NULL DEFAULT 0) WITH (fillfactor = 10);
            CREATE TABLE meta(key text PRIMARY KEY, value bigint NOT NULL);
            CREATE TABLE mailbox(device bigint PRIMARY KEY, last_id bigint NOT NULL DEFAULT 0,
                revision bigint NOT NULL DEFAULT 0, node smallint, epoch bigint NOT NULL DEFAULT 0) WITH (fillfactor = 50);
            CREATE TABLE message(id bigint PRIMARY KEY, app bigint, device bigint, environment smallint, generation integer,
                lane smallint NOT NULL, apns_id text, push_type text, priority smallint NOT NULL, collapse_id text,
                accepted_at bigint NOT NULL, expires_at bigint, stored boolean NOT NULL, payload bytea, team text, topic text,
                code text, note text) PARTITION BY RANGE (id);
            CREATE TABLE timeline(id bigint, at bigint, state text COLLATE "C", source text NOT NULL, note text,
                PRIMARY KEY (id, at, state)) PARTITION BY RANGE (id);
            CREATE TABLE report_counted(id bigint PRIMARY KEY, report bigint NOT NULL, outcome bigint NOT NULL)
                PARTITION BY RANGE (id);
            CREATE TABLE identity(apns_id text, device bigint, app bigint, environment smallint, id bigint, accepted_at bigint,
                PRIMARY KEY (apns_id, device, app, environment, id, accepted_at)) PARTITION BY RANGE (accepted_at);
            CREATE TABLE pending(device bigint, id bigint, app bigint NOT NULL, environment smallint NOT NULL,
                lane smallint NOT NULL, expires_at bigint NOT NULL, collapse_id text, PRIMARY KEY (device, id))
                PARTITION BY HASH (device);
            """
        ]
            + PostgresDays.tables.map { "CREATE TABLE \($0.name)_rest PARTITION OF \($0.name) DEFAULT" }
            + (0..<pendingParts).map { part in
                """
                CREATE TABLE pending_\(part) PARTITION OF pending
                    FOR VALUES WITH (MODULUS \(pendingParts), REMAINDER \(part)) WITH (fillfactor = 80)
                """
            } + [
                """
                CREATE TABLE refusal(apns_id text, team text COLLATE "C", id bigint, PRIMARY KEY (apns_id, team, id));
                CREATE INDEX refusal_id ON refusal(id);
                CREATE TABLE payload(id bigint PRIMARY KEY, lane smallint NOT NULL, content bytea NOT NULL,
                    checked_at bigint NOT NULL);
                CREATE INDEX payload_checked_at ON payload(checked_at);
                CREATE TABLE payload_use(message bigint PRIMARY KEY, payload bigint NOT NULL REFERENCES payload(id));
                CREATE INDEX payload_use_payload ON payload_use(payload, message);
                CREATE TABLE tombstone(device bigint, app bigint, environment smallint, lane smallint, id bigint NOT NULL,
                    count bigint NOT NULL, since bigint NOT NULL, PRIMARY KEY (device, app, environment, lane));
                CREATE INDEX tombstone_id ON tombstone(device, id);
                CREATE INDEX tombstone_app ON tombstone(app);
                CREATE TABLE recall(device bigint, id bigint, message bigint NOT NULL, at bigint NOT NULL,
                    PRIMARY KEY (device, id));
                CREATE INDEX recall_message ON recall(message);
                CREATE TABLE missed(device bigint, app bigint, environment smallint, lane smallint, count bigint NOT NULL,
                    since bigint NOT NULL, PRIMARY KEY (device, app, environment, lane));
                CREATE TABLE unrecorded(team text, first bigint, last bigint NOT NULL, count bigint NOT NULL,
                    PRIMARY KEY (team, first));
                CREATE INDEX unrecorded_last ON unrecorded(last);
                CREATE TABLE lingering(id bigint PRIMARY KEY, checked_at bigint NOT NULL);
                CREATE INDEX lingering_checked_at ON lingering(checked_at);
                """
            ]
    }
}
