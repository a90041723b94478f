import APNsProtocol
import FCMProtocol
import PushCore
import PushServer
import Testing
import WebPushProtocol

/// What every store must do for FCM's enrolment and for the keys of enrolment.
extension RegisterStoreContract {
    private func world() async throws -> (app: AppID, device: DeviceID) {
        let device = try #require(DeviceID(5))
        let app = try await store.addApp(topic: topic, team: team, policy: MailboxPolicy(), at: now).id
        #expect(try await store.addDevice(device, secretHash: [1], at: now))
        return (app, device)
    }

    package func `a browser's registration is kept until the registration ends`() async throws {
        let (app, device) = try await world()
        func keep(_ registration: WebRegistration?) async throws {
            _ = try await store.register(device: device, app: app, environment: .sandbox, at: now)
            try await store.keepWebRegistration(
                registration, device: device, app: app, environment: .sandbox, at: now)
        }
        var web = WebRegistration(category: "org.chromium.linux", subtype: "wp:a#1", sender: "s")
        try await keep(web)
        let kept = StoredWebRegistration(
            device: device, app: app, environment: .sandbox, registration: web, registeredAt: now)
        #expect(try await store.webRegistrations(of: device) == [kept])
        #expect(try await store.devicesWithWebRegistrations() == [device])
        #expect(try await store.webRegistrations(of: try #require(DeviceID(6))).isEmpty)
        web.key = RecipientPrivateKey().publicKey
        web.installation = "fid"
        try await keep(web)
        #expect(try await store.webRegistrations(of: device).map(\.registration) == [web])
        #expect(try await store.webRegistrations(ofInstallation: "fid", team: team).map(\.registration) == [web])
        #expect(try await store.webRegistrations(ofInstallation: "other", team: team).isEmpty)
        #expect(
            try await store.webRegistrations(ofInstallation: "fid", team: TeamID(rawValue: "OTHER12345")).isEmpty)
        try await keep(nil)
        #expect(try await store.webRegistrations(of: device).isEmpty)
        try await keep(web)
        _ = try await store.endRegistration(device: device, app: app, environment: .sandbox, at: now)
        #expect(try await store.webRegistrations(of: device).isEmpty)
        try await keep(web)
        _ = try await store.removeApp(topic: topic, at: now)
        #expect(try await store.webRegistrations(of: device).isEmpty)
        try await keep(web)
        _ = try await store.revokeDevice(device, at: now)
        #expect(try await store.devicesWithWebRegistrations().isEmpty)
    }

    package func `a browser's registration is changed where it is still the one that was read`() async throws {
        let (app, device) = try await world()
        _ = try await store.register(device: device, app: app, environment: .sandbox, at: now)
        let bare = WebRegistration(category: "org.chromium.linux", subtype: "wp:a#1", sender: "s")
        try await store.keepWebRegistration(bare, device: device, app: app, environment: .sandbox, at: now)
        let read = try #require(try await store.webRegistrations(of: device).first)
        var (first, second) = (bare, bare)
        (first.key, first.installation) = (RecipientPrivateKey().publicKey, "first")
        (second.key, second.installation) = (RecipientPrivateKey().publicKey, "second")
        let later = now.adding(milliseconds: 5)
        #expect(try await store.changeWebRegistration(read, to: first, at: later))
        #expect(try await !store.changeWebRegistration(read, to: second, at: later))
        let claimed = try #require(try await store.webRegistrations(of: device).first)
        #expect(claimed.registration == first && claimed.registeredAt == later)
        #expect(try await store.changeWebRegistration(claimed, to: second, at: now))
        #expect(try await store.webRegistrations(of: device).map(\.registration) == [second])
        _ = try await store.endRegistration(device: device, app: app, environment: .sandbox, at: now)
        let ended = StoredWebRegistration(
            device: device, app: app, environment: .sandbox, registration: second, registeredAt: now)
        #expect(try await !store.changeWebRegistration(ended, to: first, at: now))
        #expect(try await store.webRegistrations(of: device).isEmpty)
    }

    package func `an installation is its team's until it is deleted`() async throws {
        let installation = Installation(id: "fid", team: team, appID: "1:2:web:3", refreshHash: [1, 2], createdAt: now)
        #expect(try await store.installation("fid", team: team) == nil)
        #expect(try await store.keepInstallation(installation, byKey: nil))
        #expect(try await store.installation("fid", team: team) == installation)
        #expect(try await store.installation("fid", team: TeamID(rawValue: "OTHER12345")) == nil)
        #expect(try await !store.removeInstallation("fid", team: TeamID(rawValue: "OTHER12345")))
        #expect(try await store.removeInstallation("fid", team: team))
        #expect(try await !store.removeInstallation("fid", team: team))
        #expect(try await store.installation("fid", team: team) == nil)
    }

    package func `an enrolment key makes so many installations at a time`() async throws {
        try await store.addEnrolmentKey(EnrolmentKey(id: "lab", secretHash: [1], quota: 1, createdAt: now))
        try await store.addEnrolmentKey(EnrolmentKey(id: "open", secretHash: [2], createdAt: now))
        func keep(_ id: String, by hash: [UInt8]?) async throws -> Bool {
            try await store.keepInstallation(
                Installation(id: id, team: team, appID: "1:2:web:3", refreshHash: [1], createdAt: now), byKey: hash)
        }
        func counted() async throws -> [Int] { try await store.enrolmentKeys().map(\.installations) }
        let limit = EnrolmentKey.installationsPerDevice
        for number in 1...limit { #expect(try await keep("fid \(number)", by: [1])) }
        #expect(try await !keep("one more", by: [1]))
        #expect(try await store.installation("one more", team: team) == nil)
        #expect(try await keep("by another", by: [2]))
        #expect(try await keep("by none", by: nil))
        #expect(try await counted() == [limit, 1])
        #expect(try await keep("fid 1", by: [2]), "it takes the place of another key's")
        #expect(try await counted() == [limit - 1, 2])
        #expect(try await store.removeInstallation("fid 2", team: team))
        #expect(try await store.removeInstallation("by none", team: team))
        #expect(try await counted() == [limit - 2, 2])
        for number in 1...2 { #expect(try await keep("again \(number)", by: [1])) }
        #expect(try await !keep("one more", by: [1]))
    }

    package func `an enrolment key counts until its quota, its time or its revocation`() async throws {
        let end = now.adding(milliseconds: 1000)
        let key = EnrolmentKey(id: "lab", secretHash: [1], quota: 2, expiresAt: end, createdAt: now)
        try await store.addEnrolmentKey(key)
        await #expect(throws: RegisterError.enrolmentKeyTaken("lab")) {
            try await store.addEnrolmentKey(EnrolmentKey(id: "lab", secretHash: [2], createdAt: now))
        }
        func use(_ hash: [UInt8], isCounted: Bool = true, at instant: Timestamp) async throws -> EnrolmentKeyVerdict {
            try await store.useEnrolmentKey(secretHash: hash, isCounted: isCounted, at: instant)
        }
        #expect(try await use([9], at: now) == .unknown)
        #expect(try await use([1], at: end) == .expired)
        #expect(try await use([1], isCounted: false, at: now) == .valid)
        #expect(try await use([1], at: now) == .valid)
        #expect(try await use([1], at: now) == .valid)
        #expect(try await use([1], at: now) == .usedUp)
        #expect(try await store.enrolmentKeys().map(\.used) == [2])
        try await store.addEnrolmentKey(EnrolmentKey(id: "open", secretHash: [3], createdAt: end))
        #expect(try await use([3], at: end) == .valid)
        #expect(try await store.revokeEnrolmentKey("open", at: end))
        #expect(try await !store.revokeEnrolmentKey("open", at: end))
        #expect(try await !store.revokeEnrolmentKey("none", at: end))
        #expect(try await use([3], at: end) == .revoked)
        #expect(try await store.enrolmentKeys().map(\.id) == ["lab", "open"])
        #expect(try await store.enrolmentKeys().last?.revokedAt == end)
    }

    package func `a blocked device has no secret and keeps its registrations`() async throws {
        let (app, device) = try await world()
        _ = try await store.register(device: device, app: app, environment: .sandbox, at: now)
        let version = store.registerVersion
        let later = now.adding(milliseconds: 5)
        #expect(try await store.setBlocked(device, true, at: later))
        #expect(try await !store.setBlocked(device, true, at: later))
        #expect(store.registerVersion != version)
        #expect(try await store.secretHash(of: device) == nil)
        #expect(try await store.isBlocked(device))
        #expect(try await store.devicesRevoked(since: later) == [device])
        #expect(try await store.registration(device: device, app: app, environment: .sandbox)?.endedAt == nil)
        let shown = try #require(try await store.devices(after: nil, limit: 10).first)
        #expect(shown.blockedAt == later)
        #expect(shown.registrations == 1)
        #expect(try await store.setBlocked(device, false, at: later))
        #expect(try await !store.setBlocked(device, false, at: later))
        #expect(try await store.secretHash(of: device) == [1])
        #expect(try await store.devicesRevoked(since: later).isEmpty)
        #expect(try await !store.isBlocked(device))
        #expect(try await !store.setBlocked(try #require(DeviceID(6)), true, at: later))
        _ = try await store.revokeDevice(device, at: later)
        #expect(try await !store.setBlocked(device, true, at: later))
    }

    package func `devices are listed page by page`() async throws {
        let ids = try (1...5).map { try #require(DeviceID($0)) }
        for id in ids.reversed() { #expect(try await store.addDevice(id, secretHash: [1], at: now)) }
        let first = try await store.devices(after: nil, limit: 3)
        #expect(first.map(\.device) == Array(ids[..<3]))
        #expect(try await store.devices(after: first.last?.device, limit: 3).map(\.device) == Array(ids[3...]))
        #expect(try await store.devices(after: ids.last, limit: 3).isEmpty)
    }

    package func `a browser's subscription is kept until its app's registration ends`() async throws {
        let (app, device) = try await world()
        let generation = try await store.register(
            device: device, app: app, environment: .sandbox, at: now
        ).generation
        let ids = try (1...3).map { try #require(PushChannelID(bytes: [UInt8](repeating: UInt8($0), count: 16))) }
        func channel(_ id: PushChannelID, sender: String = "") -> WebChannel {
            WebChannel(
                device: device, id: id, app: app, environment: .sandbox, generation: generation, sender: sender,
                registeredAt: now)
        }
        #expect(try await store.storeWebChannel(channel(ids[0]), limit: 2))
        #expect(try await store.storeWebChannel(channel(ids[1], sender: "key"), limit: 2))
        #expect(try await !store.storeWebChannel(channel(ids[2]), limit: 2))
        #expect(try await store.storeWebChannel(channel(ids[0], sender: "other"), limit: 2), "it replaces the first")
        #expect(try await store.webChannel(ids[0], of: device) == channel(ids[0], sender: "other"))
        #expect(try await store.webChannel(ids[2], of: device) == nil)
        #expect(try await store.webChannel(ids[0], of: try #require(DeviceID(6))) == nil)
        #expect(try await store.webChannels(of: device).map(\.id) == Array(ids[..<2]))
        #expect(try await store.removeWebChannel(ids[1], of: device))
        #expect(try await !store.removeWebChannel(ids[1], of: device))
        #expect(try await store.webChannels(of: device).map(\.id) == [ids[0]])
        _ = try await store.endRegistration(device: device, app: app, environment: .sandbox, at: now)
        #expect(try await store.webChannels(of: device).isEmpty)
        _ = try await store.register(device: device, app: app, environment: .sandbox, at: now)
        #expect(try await store.storeWebChannel(channel(ids[0]), limit: 2))
        _ = try await store.revokeDevice(device, at: now)
        #expect(try await store.webChannel(ids[0], of: device) == nil)
    }

    package func `channels of an app are kept by environment, as many as the limit allows`() async throws {
        let (app, _) = try await world()
        let place = AppPlace(app: app, environment: .sandbox)
        let ids = try (1...3).map { try #require(ChannelID(bytes: [UInt8](repeating: UInt8($0), count: 16))) }
        func channel(_ id: ChannelID, _ environment: PushEnvironment = .sandbox) -> BroadcastChannel {
            BroadcastChannel(
                id: id, app: app, environment: environment, policy: .mostRecentMessageStored, createdAt: now)
        }
        #expect(try await store.addChannel(channel(ids[1]), limit: 2))
        #expect(try await store.addChannel(channel(ids[0]), limit: 2))
        #expect(try await !store.addChannel(channel(ids[2]), limit: 2))
        #expect(try await store.addChannel(channel(ids[2], .production), limit: 2))
        #expect(try await store.channels(of: place) == [channel(ids[0]), channel(ids[1])])
        #expect(try await store.channel(ids[1], of: place) == channel(ids[1]))
        #expect(try await store.channel(ids[2], of: place) == nil)
        #expect(try await store.removeChannel(ids[0], of: place))
        #expect(try await !store.removeChannel(ids[0], of: place))
        #expect(try await store.channels(of: place) == [channel(ids[1])])
    }
}
