import AgentProtocol

/// The app in whose name a connection acts, and its role.
package struct AppRole: Sendable, Hashable {
    /// The app's bundle id.
    package var app: BundleID
    /// The kind of process that connects in the app's name.
    package var role: ConnectionRole

    /// A role of a connection.
    ///
    /// - Parameters:
    ///   - app: The app's bundle id.
    ///   - role: The kind of process that connects in its name.
    package init(app: BundleID, role: ConnectionRole) {
        self.app = app
        self.role = role
    }
}
