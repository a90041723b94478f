import PushModel

/// Where FCM's device groups are durable. They are no part of what directories remember: each request reads them.
public protocol DeviceGroupRegister: Sendable {
    /// The group of a notification key; `nil` when there is none.
    func deviceGroup(key: String) async throws -> DeviceGroup?

    /// A team's group of that name; `nil` when there is none.
    func deviceGroup(named name: String, team: TeamID) async throws -> DeviceGroup?

    /// Adds a group; `false` when its team has one of that name.
    func addDeviceGroup(_ group: DeviceGroup, at now: Timestamp) async throws -> Bool

    /// Adds members to a group and takes members out of it, in one step. A group without members is gone.
    ///
    /// - Returns: The group as it is now, perhaps without members; `nil` when there is none of that key, or it would have
    ///   more members than the limit, and then nothing has changed.
    func changeDeviceGroup(
        key: String, adding: [String], removing: [String], limit: Int
    ) async throws -> DeviceGroup?
}

/// Registration tokens that a provider addresses as one.
public struct DeviceGroup: Hashable, Sendable {
    /// The notification key, which stands where a token does. Random: who has it may name the group.
    public var key: String
    /// The team whose group it is.
    public var team: TeamID
    /// Its name, of the provider's choice; a team has it once.
    public var name: String
    /// The members' registration tokens, in lower case and in their order.
    public var tokens: [String]

    /// Makes a group; nothing is checked.
    public init(key: String, team: TeamID, name: String, tokens: [String]) {
        self.key = key
        self.team = team
        self.name = name
        self.tokens = tokens
    }
}
