import Logging

/// The keys of log metadata; one word each, the same in every module.
///
/// Never logged: secrets, payloads, whole device tokens.
public enum LogKey {
    /// The internal id of a notification.
    public static let notification = "aldaba.notification"
    /// An `apns-id`.
    public static let apnsID = "aldaba.apns-id"
    /// A device's id.
    public static let device = "aldaba.device"
    /// The epoch of a device's session.
    public static let epoch = "aldaba.epoch"
    /// The number of an agent's session, counted from its start.
    public static let session = "aldaba.session"
    /// A topic.
    public static let topic = "aldaba.topic"
    /// A team's id.
    public static let team = "aldaba.team"
    /// A provider key's id, never the key.
    public static let key = "aldaba.key"
    /// The address and port of a listener or a peer.
    public static let address = "aldaba.address"
    /// A listener's name.
    public static let listener = "aldaba.listener"
    /// The path of a file.
    public static let path = "aldaba.path"
    /// A description of an error.
    public static let error = "aldaba.error"
    /// A number of items.
    public static let count = "aldaba.count"
    /// A duration in milliseconds.
    public static let milliseconds = "aldaba.milliseconds"
    /// The time at which an event was expected.
    public static let due = "aldaba.due"
    /// The role of a connection for its app.
    public static let role = "aldaba.role"
    /// The process id of a child.
    public static let process = "aldaba.process"
}
