/// Migration 25: broadcast channels.
extension Schema {
    /// The broadcast channels of apps.
    static let migration25 = """
        CREATE TABLE broadcast_channel(
            app INTEGER NOT NULL,
            environment INTEGER NOT NULL,
            channel BLOB NOT NULL,
            policy INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            PRIMARY KEY(app, environment, channel)
        ) WITHOUT ROWID;
        """
}
