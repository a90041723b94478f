import PushCore

/// Durable storage of the names of teams and the properties of apps; part of the register.
package protocol TeamRegister: Sendable {
    /// The teams that have a name, in the order of their ids. A team that only owns something is not included.
    func teams() async throws -> [RegisteredTeam]

    /// Adds a team. - Throws: ``RegisterError`` when the id is taken.
    func addTeam(_ team: RegisteredTeam) async throws

    /// Sets an app's display name, whether it has the capability of push notifications, and the limits of its queue on
    /// a device. `nil` leaves a property as it is; an empty name removes the name.
    ///
    /// - Returns: The app after the change; `nil` when there is none with that topic.
    func updateApp(
        topic: Topic, name: String?, isPushEnabled: Bool?, policy: MailboxPolicy?
    ) async throws -> RegisteredApp?
}

extension TeamRegister {
    /// Sets an app's display name, and whether it has the capability of push notifications; `nil` leaves a property as
    /// it is.
    package func updateApp(topic: Topic, name: String?, isPushEnabled: Bool?) async throws -> RegisteredApp? {
        try await updateApp(topic: topic, name: name, isPushEnabled: isPushEnabled, policy: nil)
    }
}

/// A team in the server's register.
package struct RegisteredTeam: Hashable, Sendable {
    /// The team's id: ten characters `A-Z0-9`.
    package var id: TeamID
    /// The team's display name.
    package var name: String
    /// The time at which it was added to the register.
    package var createdAt: Timestamp

    /// Creates an entry of the register; nothing is checked.
    package init(id: TeamID, name: String, createdAt: Timestamp) {
        self.id = id
        self.name = name
        self.createdAt = createdAt
    }
}
