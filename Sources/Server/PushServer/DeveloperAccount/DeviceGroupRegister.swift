import PushCore

/// Durable storage of FCM's device groups. Directories do not cache them: each request reads them.
package protocol DeviceGroupRegister: Sendable {
    /// The group with a notification key; `nil` when there is none.
    func deviceGroup(key: String) async throws -> DeviceGroup?

    /// The group of a team with a name; `nil` when there is none.
    func deviceGroup(named name: String, team: TeamID) async throws -> DeviceGroup?

    /// Adds a group; `false` when its team has one with that name.
    func addDeviceGroup(_ group: DeviceGroup, at now: Timestamp) async throws -> Bool

    /// Adds and removes members of a group, in one transaction. A group without members is deleted.
    ///
    /// - Returns: The group after the change, perhaps without members. `nil` when there is none with that key, or it
    ///   would exceed the limit, and then nothing has changed.
    func changeDeviceGroup(
        key: String, adding: [String], removing: [String], limit: Int
    ) async throws -> DeviceGroup?
}

/// Registration tokens that a provider addresses as one.
package struct DeviceGroup: Hashable, Sendable {
    /// The notification key, which is used in place of a token. It is random: knowing it gives access to the group.
    package var key: String
    /// The team that owns the group.
    package var team: TeamID
    /// The name that the provider chose, unique within the team.
    package var name: String
    /// The members' registration tokens, in lower case and in their order.
    package var tokens: [String]

    /// Creates a group; nothing is checked.
    package init(key: String, team: TeamID, name: String, tokens: [String]) {
        self.key = key
        self.team = team
        self.name = name
        self.tokens = tokens
    }
}
