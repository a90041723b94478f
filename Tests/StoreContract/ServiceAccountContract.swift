import PushCore
import PushServer
import Testing

extension RegisterStoreContract {
    private func account(_ keyID: String, _ email: String) -> ServiceAccount {
        ServiceAccount(keyID: keyID, team: team, email: email, publicKeyPEM: "PEM", createdAt: now)
    }

    package func `a service account is there once, and stays known when it was revoked`() async throws {
        let first = account("aa", "one@project")
        let before = store.registerVersion
        try await store.addServiceAccount(first)
        #expect(store.registerVersion != before)
        #expect(try await store.serviceAccounts() == [first])
        for taken in [account("aa", "two@project"), account("bb", "one@project")] {
            await #expect(throws: RegisterError.serviceAccountTaken(taken.email)) {
                try await store.addServiceAccount(taken)
            }
        }
        let between = store.registerVersion
        var revoked = first
        revoked.revokedAt = now
        #expect(try await store.revokeServiceAccount("aa", at: now) == revoked)
        #expect(store.registerVersion != between)
        #expect(try await store.revokeServiceAccount("aa", at: now) == nil)
        #expect(try await store.serviceAccounts() == [revoked])
        await #expect(throws: RegisterError.serviceAccountTaken("one@project")) {
            try await store.addServiceAccount(first)
        }
    }

    package func `a device group is its team's, changes in one step and ends with its last member`() async throws {
        let group = DeviceGroup(key: "group-1", team: team, name: "home", tokens: ["b", "a", "a"])
        #expect(try await store.addDeviceGroup(group, at: now))
        #expect(
            try await !store.addDeviceGroup(
                DeviceGroup(key: "group-2", team: team, name: "home", tokens: ["a"]), at: now))
        let other = TeamID(rawValue: "OTHER12345")
        #expect(
            try await store.addDeviceGroup(
                DeviceGroup(key: "group-3", team: other, name: "home", tokens: ["c"]), at: now))
        #expect(try await store.deviceGroup(named: "home", team: team)?.key == "group-1")
        #expect(try await store.deviceGroup(named: "home", team: other)?.tokens == ["c"])
        #expect(try await store.deviceGroup(key: "group-1")?.tokens == ["a", "b"])
        #expect(try await store.deviceGroup(key: "group-2") == nil)

        let changed = try await store.changeDeviceGroup(key: "group-1", adding: ["d", "a"], removing: ["b"], limit: 2)
        #expect(changed?.tokens == ["a", "d"])
        #expect(
            try await store.changeDeviceGroup(key: "group-1", adding: ["e"], removing: [], limit: 2) == nil,
            "more than the limit changes nothing")
        #expect(try await store.deviceGroup(key: "group-1")?.tokens == ["a", "d"])
        #expect(
            try await store.changeDeviceGroup(key: "group-1", adding: [], removing: ["a", "d"], limit: 2)?.tokens == [])
        #expect(try await store.deviceGroup(key: "group-1") == nil)
        #expect(try await store.changeDeviceGroup(key: "group-1", adding: ["a"], removing: [], limit: 2) == nil)
        #expect(try await store.addDeviceGroup(group, at: now), "the name is free again")
    }
}
