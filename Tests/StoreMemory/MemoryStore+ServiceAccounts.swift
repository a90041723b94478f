import PushCore
import PushServer

extension MemoryStore: ServiceAccountRegister {
    /// All service accounts, the oldest first.
    package func serviceAccounts() async throws -> [ServiceAccount] {
        state.withLock { $0.register.shelf.serviceAccounts }
    }

    /// Adds a service account.
    package func addServiceAccount(_ account: ServiceAccount) async throws {
        try state.withLock { state in try state.register.changeShelf { try $0.add(account) } }
    }

    /// Revokes a service account, which remains in the store.
    package func revokeServiceAccount(_ keyID: String, at now: Timestamp) async throws -> ServiceAccount? {
        state.withLock { state in state.register.changeShelf { $0.revokeServiceAccount(keyID, at: now) } }
    }
}

extension MemoryStore: DeviceGroupRegister {
    /// The group of a notification key.
    package func deviceGroup(key: String) async throws -> DeviceGroup? {
        state.withLock { $0.deviceGroups[key] }
    }

    /// The group of a team with a name.
    package func deviceGroup(named name: String, team: TeamID) async throws -> DeviceGroup? {
        state.withLock { $0.deviceGroups.values.first { $0.name == name && $0.team == team } }
    }

    /// Adds a group with its members.
    package func addDeviceGroup(_ group: DeviceGroup, at now: Timestamp) async throws -> Bool {
        state.withLock { state in
            let isTaken = state.deviceGroups.values.contains {
                $0.key == group.key || ($0.name == group.name && $0.team == group.team)
            }
            guard !isTaken else { return false }
            var group = group
            group.tokens = Set(group.tokens).sorted()
            state.deviceGroups[group.key] = group
            return true
        }
    }

    /// Adds and removes members.
    package func changeDeviceGroup(
        key: String, adding: [String], removing: [String], limit: Int
    ) async throws -> DeviceGroup? {
        state.withLock { state in
            guard var group = state.deviceGroups[key] else { return nil }
            group.tokens = Set(group.tokens).union(adding).subtracting(removing).sorted()
            guard group.tokens.count <= limit else { return nil }
            state.deviceGroups[key] = group.tokens.isEmpty ? nil : group
            return group
        }
    }
}
