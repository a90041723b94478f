import PushServer

/// Topics and broadcasts, reports, people and the audit log.
extension PostgresSchema {
    /// Subscriptions, unsubscriptions and broadcasts are numbered by one counter, `fanout` in `meta`, whose row a transaction
    /// keeps until its end: no number becomes visible before a lower one.
    static let topics = [
        """
        INSERT INTO meta VALUES ('fanout', 0);
        CREATE TABLE topic(id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, team text NOT NULL, name text COLLATE "C" NOT NULL,
            UNIQUE (team, name));
        CREATE TABLE subscription(device bigint, app bigint, environment smallint, topic bigint REFERENCES topic(id),
            generation integer NOT NULL, joined bigint NOT NULL, subscribed_at bigint NOT NULL,
            PRIMARY KEY (device, app, environment, topic));
        CREATE TABLE past_subscription(device bigint, app bigint, environment smallint, topic bigint,
            generation integer NOT NULL, joined bigint, ended bigint NOT NULL,
            PRIMARY KEY (device, app, environment, topic, joined));
        CREATE INDEX past_subscription_ended ON past_subscription(ended);
        CREATE TABLE broadcast(id bigint PRIMARY KEY, sequence bigint NOT NULL, team text NOT NULL, name text UNIQUE,
            audience text NOT NULL, written text NOT NULL, push_type text, priority smallint NOT NULL, collapse_id text,
            accepted_at bigint NOT NULL, expires_at bigint NOT NULL, is_attempt boolean NOT NULL,
            looks_back boolean NOT NULL, withdrawn_at bigint, ended_at bigint);
        CREATE INDEX broadcast_open ON broadcast(expires_at) WHERE ended_at IS NULL;
        CREATE INDEX broadcast_leaving ON broadcast(sequence) WHERE ended_at IS NULL AND looks_back;
        CREATE INDEX broadcast_withdrawn ON broadcast(id) WHERE withdrawn_at IS NOT NULL AND ended_at IS NULL;
        CREATE TABLE broadcast_topic(topic bigint, sequence bigint, broadcast bigint NOT NULL,
            PRIMARY KEY (topic, sequence));
        CREATE INDEX broadcast_topic_broadcast ON broadcast_topic(broadcast);
        CREATE INDEX broadcast_topic_sequence ON broadcast_topic(sequence);
        CREATE TABLE expired_broadcast(topic bigint, expires_at bigint, id bigint, sequence bigint NOT NULL,
            team text NOT NULL, audience text NOT NULL, accepted_at bigint NOT NULL, is_attempt boolean NOT NULL,
            lane smallint NOT NULL, PRIMARY KEY (topic, expires_at, id));
        CREATE INDEX expired_broadcast_end ON expired_broadcast(expires_at);
        CREATE TABLE fanout_cursor(device bigint PRIMARY KEY, sequence bigint NOT NULL) WITH (fillfactor = 50);
        """
    ]

    /// Each batch records in one row of report_change which notifications it concerns.
    static let reports = [
        """
        CREATE TABLE report_change(number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, ids bigint[] NOT NULL);
        CREATE TABLE report(number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, app bigint NOT NULL,
            day bigint NOT NULL, lane smallint NOT NULL, label text COLLATE "C" NOT NULL,
            \(ReportCounts.names.map { "\"\($0)\" bigint NOT NULL DEFAULT 0" }.joined(separator: ", ")),
            UNIQUE (app, day, lane, label));
        CREATE INDEX report_day ON report(day);
        CREATE TABLE sync_member(id bigint PRIMARY KEY, app bigint NOT NULL, device bigint NOT NULL, name text NOT NULL);
        CREATE INDEX sync_member_group ON sync_member(app, name, id);
        CREATE TABLE sync_clearing(id bigint PRIMARY KEY, device bigint NOT NULL);
        """
    ]

    /// Triggers refuse every change of an entry of the audit log.
    static let console = [
        """
        CREATE TABLE person(id text PRIMARY KEY, name text COLLATE "C" NOT NULL UNIQUE, password text, issuer text,
            subject text, created_at bigint NOT NULL);
        CREATE UNIQUE INDEX person_identity ON person(issuer, subject) WHERE issuer IS NOT NULL;
        CREATE TABLE membership(person text, place bigint, role text NOT NULL, team text, device bigint,
            PRIMARY KEY (person, place));
        CREATE TABLE console_session(hash bytea PRIMARY KEY, person text NOT NULL, created_at bigint NOT NULL,
            confirmed_at bigint NOT NULL, used_at bigint NOT NULL, address text NOT NULL, agent text NOT NULL, team text);
        CREATE INDEX console_session_person ON console_session(person);
        CREATE TABLE person_link(hash bytea PRIMARY KEY, person text, expires_at bigint NOT NULL);
        CREATE TABLE audit(number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, at bigint NOT NULL, origin text NOT NULL,
            actor_kind text NOT NULL, actor text NOT NULL, actor_id text, action text NOT NULL, object text NOT NULL,
            team text, before text);
        CREATE TABLE audit_end(number bigint PRIMARY KEY REFERENCES audit(number), at bigint NOT NULL,
            outcome text NOT NULL, object text, after text);
        CREATE FUNCTION audit_is_kept() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'the audit log is append-only';
        END $$;
        CREATE TRIGGER audit_is_kept BEFORE UPDATE OR DELETE ON audit FOR EACH ROW EXECUTE FUNCTION audit_is_kept();
        CREATE TRIGGER audit_end_is_kept BEFORE UPDATE OR DELETE ON audit_end FOR EACH ROW
            EXECUTE FUNCTION audit_is_kept();
        CREATE TRIGGER audit_is_not_emptied BEFORE TRUNCATE ON audit EXECUTE FUNCTION audit_is_kept();
        CREATE TRIGGER audit_end_is_not_emptied BEFORE TRUNCATE ON audit_end EXECUTE FUNCTION audit_is_kept();
        """
    ]
}
