import FCMProtocol
import Foundation
import PushCore
import PushServer
import Synchronization
import Testing

@testable import FCMFrontend

@Suite struct FCMEndpointTests {
    @Test func `a message is accepted in FCM's lane, and named by its id`() async throws {
        let world = try await FCMWorld()
        let (token, device) = try await world.register(world.app)
        let answer = try await world.send(
            #"{"token":"\#(token)","data":{"k":"v"},"android":{"ttl":"60s","collapse_key":"c","priority":"high"}}"#)
        #expect(answer.status == 200)
        #expect(answer.json["name"]?.text == "projects/team123456/messages/101")
        let accepted = world.acceptor.state.withLock { $0.accepted }
        let one = try #require(accepted.first)
        #expect(accepted.count == 1 && one.lane == .fcm && one.subject.device == device)
        #expect(one.notification.expiry == .until(world.acceptor.now + .seconds(60)))
        #expect(one.notification.collapseID == "c" && one.notification.priority == .immediate)
        let content = try JSONValue(object: one.notification.content.bytes)
        #expect(content["k"] == .string("v") && content["aps"] == nil)
    }

    @Test(arguments: [("org.chromium.linux", true), ("com.example.todo", false), (nil, false)] as [(String?, Bool)])
    func `what is for browsers goes to a browser's registration alone`(category: String?, isBrowser: Bool) async throws
    {
        let world = try await FCMWorld()
        let (token, device) = try await world.register(world.app)
        if let category {
            try await world.store.keepWebRegistration(
                WebRegistration(category: category, subtype: "wp:com.example.todo#1", sender: "1"), device: device,
                app: world.app.id, environment: .production, at: world.acceptor.now)
        }
        let webpush = #"{"headers":{"TTL":"7","Topic":"w"},"data":{"w":"x"}}"#
        let answer = try await world.send(#"{"token":"\#(token)","data":{"k":"v"},"webpush":\#(webpush)}"#)
        #expect(answer.status == 200)
        let notification = try #require(world.acceptor.state.withLock { $0.accepted.first?.notification })
        #expect((notification.expiry == .until(world.acceptor.now + .seconds(7))) == isBrowser)
        #expect(notification.collapseID == (isBrowser ? "w" : nil))
        let content = try JSONValue(object: notification.content.bytes)
        #expect((content["gcm.webpush"] != nil) == isBrowser)
    }

    @Test func `what is for a Live Activity goes to no agent, and its name says so`() async throws {
        let world = try await FCMWorld()
        let (token, device) = try await world.register(world.app)
        let message = #"{"token":"\#(token)","notification":{"title":"x"},"apns":{"live_activity_token":"a"}}"#
        #expect(
            try await world.send(message, rest: #","validate_only":true"#).json["name"]?.text
                == "projects/team123456/messages/fake_message_id")
        #expect(world.acceptor.state.withLock { $0.refused.isEmpty })
        let answer = try await world.send(message)
        #expect(answer.status == 200 && answer.json["name"]?.text == "projects/team123456/messages/7")
        let state = world.acceptor.state.withLock { $0 }
        let noted = try #require(state.refused.first)
        #expect(state.accepted.isEmpty && state.refused.count == 1)
        #expect(noted.code == "noReceiver" && noted.topic == "com.example.todo")
        // Android's libraries and browsers do not read what is for Apple's platforms.
        try await world.store.keepWebRegistration(
            WebRegistration(category: "com.example.todo", subtype: "", sender: "1"), device: device,
            app: world.app.id, environment: .production, at: world.acceptor.now)
        #expect(try await world.send(message).json["name"]?.text == "projects/team123456/messages/101")
        #expect(world.acceptor.state.withLock { $0.accepted.count } == 1)
    }

    @Test(arguments: [#""topic":"t""#, #""condition":"'t' in topics""#])
    func `what is for a Live Activity is for one device`(target: String) async throws {
        let world = try await FCMWorld(audiences: Topics())
        let answer = try await world.send(#"{\#(target),"apns":{"live_activity_token":"a"}}"#)
        #expect(answer.status == 400 && answer.code == "INVALID_ARGUMENT")
    }

    @Test func `a message that is only checked is not accepted`() async throws {
        let world = try await FCMWorld()
        let (token, _) = try await world.register(world.app)
        let answer = try await world.send(#"{"token":"\#(token)"}"#, rest: #","validateOnly":true"#)
        #expect(answer.json["name"]?.text == "projects/team123456/messages/fake_message_id")
        #expect(world.acceptor.state.withLock { $0.accepted.isEmpty })
    }

    @Test(arguments: [RecordingAcceptor.Mode.isFull, .fails])
    func `what cannot be stored now may be sent again, and is no refusal`(mode: RecordingAcceptor.Mode) async throws {
        let world = try await FCMWorld()
        let (token, _) = try await world.register(world.app)
        world.acceptor.state.withLock { $0.mode = mode }
        let answer = try await world.send(#"{"token":"\#(token)"}"#)
        #expect(answer.status == 503 && answer.code == "UNAVAILABLE")
        #expect(answer.headers[.retryAfter] == "5")
        #expect(world.acceptor.state.withLock { $0.refused.isEmpty })
    }

    @Test func `tokens are judged, and what is refused is noted for the team`() async throws {
        let world = try await FCMWorld()
        let (ended, device) = try await world.register(world.app)
        try await world.end(device)
        let (foreign, _) = try await world.register(world.foreign)
        let rows = [
            ("nonsense", 400, "INVALID_ARGUMENT"), (String(repeating: "ab", count: 32), 404, "UNREGISTERED"),
            (ended, 404, "UNREGISTERED"), (foreign, 403, "SENDER_ID_MISMATCH"),
            ("group-nobody", 404, "UNREGISTERED"),
        ]
        for (token, status, code) in rows {
            let answer = try await world.send(#"{"token":"\#(token)"}"#)
            #expect(answer.status == status && answer.code == code, "\(token)")
            let noted = try #require(world.acceptor.state.withLock { $0.refused.last })
            #expect(noted.code == code && noted.team == FCMWorld.team)
        }
        #expect(world.acceptor.state.withLock { $0.accepted.isEmpty })
    }

    @Test func `an app without the capability is told apart`() async throws {
        let world = try await FCMWorld()
        let (token, _) = try await world.register(world.app)
        _ = try await world.store.updateApp(topic: world.app.topic, name: nil, isPushEnabled: false)
        let answer = try await world.send(#"{"token":"\#(token)"}"#)
        #expect(answer.status == 401 && answer.code == "THIRD_PARTY_AUTH_ERROR")
        #expect(world.acceptor.state.withLock { $0.refused.last?.topic } == "com.example.todo")
    }

    @Test func `a message for another package is refused`() async throws {
        let world = try await FCMWorld()
        let (token, _) = try await world.register(world.app)
        func send(_ package: String) async throws -> Int {
            try await world.send(#"{"token":"\#(token)","android":{"restricted_package_name":"\#(package)"}}"#).status
        }
        #expect(try await send("com.example.todo") == 200)
        #expect(try await send("com.example.mine") == 400)
    }

    @Test(arguments: [nil, "Bearer nonsense", "Basic x", "bearer"])
    func `without an access token nothing is sent or noted`(authorization: String?) async throws {
        let world = try await FCMWorld()
        let answer = try await world.send("{}", authorization: authorization ?? "")
        #expect(answer.status == 401 && answer.json["error"]?["status"]?.text == "UNAUTHENTICATED")
        #expect(answer.headers[.wwwAuthenticate] == "Bearer")
        #expect(world.acceptor.state.withLock { $0.refused.isEmpty })
    }

    @Test func `a token that has ended, or whose account was revoked, is refused at the next request`() async throws {
        let world = try await FCMWorld()
        let old = world.services.sealer.seal(AccessGrant(keyID: "key", expiresAt: world.acceptor.now))
        let ended = try await world.send("{}", authorization: "Bearer \(old)")
        #expect(ended.status == 401 && ended.reason == "ACCESS_TOKEN_EXPIRED")
        #expect(try await world.send("{}").status == 400)
        _ = try await world.store.revokeServiceAccount("key", at: world.acceptor.now)
        #expect(try await world.send("{}").reason == "ACCOUNT_STATE_INVALID")
    }

    @Test func `an account sends for its own project alone`() async throws {
        let world = try await FCMWorld()
        let (token, _) = try await world.register(world.app)
        for (project, status) in [("TEAM123456", 200), ("other12345", 403), ("", 403)] {
            #expect(try await world.send(#"{"token":"\#(token)"}"#, project: project).status == status)
        }
    }

    /// Sends to every topic but one.
    private struct Topics: AudienceSender {
        func send(
            _ message: FCMMessage, of app: AppID?, team: TeamID, isDryRun: Bool
        ) async throws -> NotificationID? {
            guard message.target != .topic("full") else { throw FCMRejection(.quotaExceeded, "full", retryAfter: 9) }
            return NotificationID(rawValue: 55)
        }
    }

    @Test func `whoever sends to topics is asked, and its refusals are answers`() async throws {
        let alone = try await FCMWorld()
        #expect(try await alone.send(#"{"topic":"news"}"#).code == "INVALID_ARGUMENT")
        let world = try await FCMWorld(audiences: Topics())
        #expect(try await world.send(#"{"topic":"news"}"#).json["name"]?.text == "projects/team123456/messages/55")
        let full = try await world.send(#"{"topic":"full"}"#)
        #expect(full.status == 429 && full.headers[.retryAfter] == "9")
        #expect(world.acceptor.state.withLock { $0.refused.map(\.code) } == ["QUOTA_EXCEEDED"])
    }

    /// Notes for which app each message is.
    private final class NotedApps: AudienceSender {
        let apps = Mutex<[AppID?]>([])

        func send(
            _ message: FCMMessage, of app: AppID?, team: TeamID, isDryRun: Bool
        ) async throws -> NotificationID? {
            apps.withLock { $0.append(app) }
            return NotificationID(rawValue: 55)
        }
    }

    @Test(arguments: [#""topic":"news""#, #""condition":"'news' in topics""#])
    func `a message for many goes to the package that it names alone`(target: String) async throws {
        let audiences = NotedApps()
        let world = try await FCMWorld(audiences: audiences)
        func send(_ package: String) async throws -> FCMWorld.Answer {
            try await world.send(#"{\#(target),"android":{"restricted_package_name":"\#(package)"}}"#)
        }
        #expect(try await send(world.app.topic.rawValue).status == 200)
        #expect(try await send("").status == 200)
        for package in ["com.example.nobody", world.foreign.topic.rawValue] {
            let refused = try await send(package)
            #expect(refused.status == 400 && refused.code == "INVALID_ARGUMENT", "\(package)")
        }
        #expect(audiences.apps.withLock { $0 } == [world.app.id, nil])
    }

    @Test func `a server without installations says so of each, with topics or without`() async throws {
        for world in [try await FCMWorld(), try await FCMWorld(audiences: Topics())] {
            var alone = world
            alone.register = nil
            let refused = try await alone.send(#"{"fid":"f"}"#)
            #expect(refused.status == 400 && refused.code == "INVALID_ARGUMENT")
            #expect(refused.json["error"]?["message"]?.text?.contains("knows no Firebase installations") == true)
        }
    }

    @Test func `a message names itself`() async throws {
        let world = try await FCMWorld()
        let (token, _) = try await world.register(world.app)
        #expect(try await world.send(#"{"token":"\#(token)"}"#).status == 200)
        #expect(world.acceptor.state.withLock { $0.accepted }.map(\.namesItself) == [true])
    }

    /// Knows one provider's token.
    private struct OneProvider: ProviderAuthentication {
        func team(authorization: String) async throws -> ProviderVerdict {
            authorization == "bearer known" ? .team(TeamID(rawValue: "TEAM654321")) : .expired
        }
    }

    @Test func `a door for both takes access tokens and providers' own`() async throws {
        let world = try await FCMWorld()
        let both = AccountAuthentication(accounts: world.services.access, providers: OneProvider())
        #expect(try await both.team(authorization: "Bearer \(world.accessToken)") == .team(FCMWorld.team))
        #expect(try await both.team(authorization: "bearer known") == .team(TeamID(rawValue: "TEAM654321")))
        #expect(try await both.team(authorization: "bearer other") == .expired)
    }

    @Test func `a quota is a minute's share that fills steadily`() {
        let start = Timestamp(seconds: 1_780_272_000)
        var quota = SendQuota(perMinute: 60, now: start)
        for _ in 0..<60 { #expect(quota.take(at: start) == nil) }
        #expect(quota.take(at: start) == 1)
        #expect(quota.take(at: start - .seconds(100)) == 1, "a clock that was set back fills nothing")
        var slow = SendQuota(perMinute: 2, now: start)
        #expect(slow.take(at: start) == nil && slow.take(at: start) == nil)
        #expect(slow.take(at: start) == 30)
        #expect(slow.take(at: start + .seconds(15)) == 15)
        #expect(slow.take(at: start + .seconds(31)) == nil)
    }
}

@Suite struct DeviceGroupTests {
    @Test func `a group is made, found, changed and sent to as one`() async throws {
        let world = try await FCMWorld()
        let first = try await world.register(world.app, device: 5)
        let second = try await world.register(world.app, device: 6)
        let made = try await world.changeGroup(
            #"{"operation":"create","notification_key_name":"home","registration_ids":["\#(first.token)"]}"#)
        let key = try #require(made.json["notification_key"]?.text)
        #expect(made.status == 200 && key.count > 40)
        #expect(try await world.findGroup("home").json["notification_key"]?.text == key)
        #expect(try await world.findGroup("away").status == 400)
        let again = try await world.changeGroup(
            #"{"operation":"create","notification_key_name":"home","registration_ids":["\#(first.token)"]}"#)
        #expect(again.json["error"]?.text == "notification_key already exists")

        func change(_ operation: String, _ token: String) async throws -> Int {
            try await world.changeGroup(
                #"{"operation":"\#(operation)","notification_key":"\#(key)","notification_key_name":"home","registration_ids":["\#(token)"]}"#
            ).status
        }
        #expect(try await change("add", second.token) == 200)
        #expect(try await world.send(#"{"token":"\#(key)","data":{"k":"v"}}"#).status == 200)
        let accepted = world.acceptor.state.withLock { $0.accepted }
        #expect(Set(accepted.map(\.subject.device)) == [first.device, second.device])
        #expect(accepted.allSatisfy { $0.note == "to the device group home" })

        try await world.end(first.device)
        #expect(try await world.send(#"{"token":"\#(key)"}"#).status == 200, "one member is left")
        #expect(world.acceptor.state.withLock { $0.refused.map(\.code) } == ["UNREGISTERED"])
        #expect(try await change("remove", second.token) == 200)
        #expect(try await world.send(#"{"token":"\#(key)"}"#).code == "UNREGISTERED")
        #expect(try await change("remove", first.token) == 200)
        #expect(try await world.findGroup("home").status == 400, "a group without members is gone")
    }

    /// A group of three devices of the app; its key.
    private func group(_ world: FCMWorld) async throws -> String {
        var tokens: [String] = []
        for device in 5...7 as ClosedRange<UInt64> {
            tokens.append(try await world.register(world.app, device: device).token)
        }
        let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
        let made = try await world.changeGroup(
            #"{"operation":"create","notification_key_name":"home","registration_ids":[\#(list)]}"#)
        return try #require(made.json["notification_key"]?.text)
    }

    @Test func `members for whom there is no room at once wait for it, and each has the message once`() async throws {
        let world = try await FCMWorld()
        let key = try await group(world)
        world.acceptor.state.withLock { $0.mode = .takesOnly(1) }
        #expect(try await world.send(#"{"token":"\#(key)"}"#).status == 200)
        let accepted = world.acceptor.state.withLock { $0.accepted }
        #expect(accepted.map(\.subject.device.rawValue).sorted() == [5, 6, 7])
        #expect(world.acceptor.state.withLock { $0.refused.isEmpty })
    }

    @Test func `what cannot be stored for some members is noted, and not sent to the others again`() async throws {
        let world = try await FCMWorld()
        let key = try await group(world)
        world.acceptor.state.withLock { $0.mode = .storesOnly(1) }
        let part = try await world.send(#"{"token":"\#(key)"}"#)
        #expect(part.status == 200 && part.json["name"]?.text == "projects/team123456/messages/101")
        let noted = world.acceptor.state.withLock { $0.refused }
        #expect(noted.map(\.code) == ["UNAVAILABLE", "UNAVAILABLE"])
        #expect(noted.allSatisfy { $0.topic == "com.example.todo" })
    }

    @Test(arguments: [RecordingAcceptor.Mode.isFull, .fails])
    func `what can be stored for no member may be sent again`(mode: RecordingAcceptor.Mode) async throws {
        let world = try await FCMWorld()
        let key = try await group(world)
        world.acceptor.state.withLock { $0.mode = mode }
        #expect(try await world.send(#"{"token":"\#(key)"}"#).status == 503)
        #expect(world.acceptor.state.withLock { $0.refused.isEmpty && $0.accepted.isEmpty })
    }

    @Test(arguments: [5, 6, 7] as [UInt64])
    func `a member that has to wait costs the others nothing`(waiting: UInt64) async throws {
        var world = try await FCMWorld()
        world.throttles = DeviceThrottles(perMinute: 1)
        let key = try await group(world)
        let full = try await world.register(world.app, device: waiting).token
        #expect(try await world.send(#"{"token":"\#(full)"}"#).status == 200)
        #expect(try await world.send(#"{"token":"\#(key)"}"#).status == 429)
        for device in [5, 6, 7] as [UInt64] where device != waiting {
            let token = try await world.register(world.app, device: device).token
            #expect(try await world.send(#"{"token":"\#(token)"}"#).status == 200, "device \(device)")
        }
    }

    @Test func `what cannot be a member, and more than twenty, are refused`() async throws {
        let world = try await FCMWorld()
        let foreign = try await world.register(world.foreign)
        func create(_ tokens: [String]) async throws -> Int {
            let list = tokens.map { "\"\($0)\"" }.joined(separator: ",")
            return try await world.changeGroup(
                #"{"operation":"create","notification_key_name":"home","registration_ids":[\#(list)]}"#
            ).status
        }
        #expect(try await create([foreign.token]) == 400)
        #expect(try await create(["nonsense"]) == 400)
        #expect(try await create([]) == 400)
        var tokens: [String] = []
        for device in 1...21 { tokens.append(try await world.register(world.app, device: UInt64(device)).token) }
        #expect(try await create(tokens) == 400)
        #expect(try await create(Array(tokens.prefix(20))) == 200)
        let key = try #require(try await world.findGroup("home").json["notification_key"]?.text)
        let more = try await world.changeGroup(
            #"{"operation":"add","notification_key":"\#(key)","registration_ids":["\#(tokens[20])"]}"#)
        #expect(more.status == 400 && more.json["error"]?.text?.contains("at most 20") == true)
    }
}
