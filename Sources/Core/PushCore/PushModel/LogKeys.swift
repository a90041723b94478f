/// The keys of log metadata; one word each, the same in every module.
///
/// Never logged: secrets, payloads, whole device tokens.
package enum LogKey {
    /// The internal id of a notification.
    package static let notification = "aldaba.notification"
    /// An `apns-id`.
    package static let apnsID = "aldaba.apns-id"
    /// A device's id.
    package static let device = "aldaba.device"
    /// The epoch of a device's session.
    package static let epoch = "aldaba.epoch"
    /// The number of an agent's session, counted from its start.
    package static let session = "aldaba.session"
    /// A topic.
    package static let topic = "aldaba.topic"
    /// A team's id.
    package static let team = "aldaba.team"
    /// A provider key's id, never the key.
    package static let key = "aldaba.key"
    /// The address and port of a listener or a peer.
    package static let address = "aldaba.address"
    /// A listener's name.
    package static let listener = "aldaba.listener"
    /// The path of a file.
    package static let path = "aldaba.path"
    /// A description of an error.
    package static let error = "aldaba.error"
    /// A number of items.
    package static let count = "aldaba.count"
    /// A duration in milliseconds.
    package static let milliseconds = "aldaba.milliseconds"
    /// The time at which an event was expected.
    package static let due = "aldaba.due"
    /// The role of a connection for its app.
    package static let role = "aldaba.role"
    /// The process id of a child.
    package static let process = "aldaba.process"
}
