/// Migration 22: the audit log.
extension Schema {
    /// The log of changes: an entry before a change, and its end after it. Triggers refuse to change or delete a row.
    /// Another refuses an `INSERT OR REPLACE` of an existing number, whose deletion runs no trigger of DELETE.
    static let migration22 = """
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
        CREATE TABLE audit_end(
            number INTEGER PRIMARY KEY NOT NULL REFERENCES audit(number),
            at INTEGER NOT NULL,
            outcome TEXT NOT NULL,
            object TEXT,
            after TEXT
        );
        CREATE TRIGGER audit_replaces BEFORE INSERT ON audit
        WHEN EXISTS(SELECT 1 FROM audit WHERE number = NEW.number)
        BEGIN
            SELECT RAISE(ABORT, 'the audit log is append-only');
        END;
        CREATE TRIGGER audit_changes BEFORE UPDATE ON audit
        BEGIN
            SELECT RAISE(ABORT, 'the audit log is append-only');
        END;
        CREATE TRIGGER audit_leaves BEFORE DELETE ON audit
        BEGIN
            SELECT RAISE(ABORT, 'the audit log is append-only');
        END;
        CREATE TRIGGER audit_end_replaces BEFORE INSERT ON audit_end
        WHEN EXISTS(SELECT 1 FROM audit_end WHERE number = NEW.number)
        BEGIN
            SELECT RAISE(ABORT, 'the audit log is append-only');
        END;
        CREATE TRIGGER audit_end_changes BEFORE UPDATE ON audit_end
        BEGIN
            SELECT RAISE(ABORT, 'the audit log is append-only');
        END;
        CREATE TRIGGER audit_end_leaves BEFORE DELETE ON audit_end
        BEGIN
            SELECT RAISE(ABORT, 'the audit log is append-only');
        END;
        """
}
