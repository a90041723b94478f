import Mailbox
import PushModel
import RegisterCore

/// Where the names of teams and what is set of apps are durable; part of the register.
public protocol TeamRegister: Sendable {
    /// The teams that have a name, in the order of their ids. A team that only owns something is not among them.
    func teams() async throws -> [RegisteredTeam]

    /// Adds a team. - Throws: ``RegisterError`` when the id is taken.
    func addTeam(_ team: RegisteredTeam) async throws

    /// Sets what an app is called, whether it has the capability of push notifications, and how much may wait for it on a
    /// device; `nil` leaves each as it is. A name that is empty takes the name away.
    ///
    /// - Returns: The app as it is now; `nil` when there is none of that topic.
    func setApp(
        topic: Topic, name: String?, isPushEnabled: Bool?, policy: MailboxPolicy?
    ) async throws -> RegisteredApp?
}

extension TeamRegister {
    /// Sets what an app is called and whether it has the capability of push notifications; `nil` leaves it as it is.
    public func setApp(topic: Topic, name: String?, isPushEnabled: Bool?) async throws -> RegisteredApp? {
        try await setApp(topic: topic, name: name, isPushEnabled: isPushEnabled, policy: nil)
    }
}

/// A team in the server's register.
public struct RegisteredTeam: Hashable, Sendable {
    /// Ten characters `A-Z0-9`.
    public var id: TeamID
    /// What people call it.
    public var name: String
    /// When it was added to the register.
    public var createdAt: Timestamp

    /// Makes an entry of the register; nothing is checked.
    public init(id: TeamID, name: String, createdAt: Timestamp) {
        self.id = id
        self.name = name
        self.createdAt = createdAt
    }
}
