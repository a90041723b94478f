/// Hears which devices have a session; the port of whoever speaks to devices beside their mailboxes.
///
/// Called on the connections' event loops; must not block. `opened` comes before anything that the session sends upstream.
public protocol SessionListener: Sendable {
    /// A session is open, over this connection.
    func opened(_ session: DeviceSessionID, _ connection: any DeviceConnection)
    /// A session is over.
    func closed(_ session: DeviceSessionID)
}
