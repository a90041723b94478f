/// Migration 24: browsers' subscriptions.
extension Schema {
    /// The subscriptions that browsers made over a WebSocket; they end with the registration of their app.
    static let migration24 = """
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
        """
}
