import Foundation
import RelayProtocol

/// The question that the user is asked when a device calls a service for the first time.
package struct RelayQuestion: Hashable, Sendable {
    /// The device's id.
    package var device: String
    /// The device's display name.
    package var deviceName: String
    /// The app that offers the service.
    package var app: String
    /// The app's display name.
    package var appName: String
    /// The service.
    package var service: String
    /// Whether the device is another person's.
    package var isGuests = false

    /// The user's answer to the question.
    package enum Answer: String, Hashable, Sendable, CaseIterable {
        /// This time, every time, or never.
        case once, always, deny
    }
}

/// A log entry for a command that another device sent to this one, or this one to another.
package struct RelayLogEntry: Hashable, Sendable {
    /// The other device's id.
    package var device: String
    /// The kind of command and its target, without addresses and contents.
    package var what: String
    /// The outcome of the command.
    package var status: RelayStatus
    /// The command's id, which both devices note.
    package var id: UUID?
    /// The app here that wanted it from the other device; `nil` where the other device wanted it.
    package var asker: String?
}
