import APNsProtocol
import AldabaTestSupport
import PushCore
import Testing
import WebPushProtocol

@testable import PushServer

/// The app of browsers' subscriptions, which the first of them adds.
@Suite(.timeLimit(.minutes(2))) struct BrowserAppTests {
    // Both are numbers of devices.
    private let credentials = [1, 2].map { DeviceCredentials(device: DeviceID($0)!, secret: 9) }
    private let team = TeamID(rawValue: "ABCDE12345")
    private let taken =
        "the app web-push belongs to the team ABCDE12345, also after its removal; browsers cannot subscribe on this database"

    private func add(_ world: BrowserWorld) async throws {
        _ = try await world.register.base.addApp(
            topic: BrowserEnrolment.topic, team: team, policy: MailboxPolicy(), at: world.server.clock.now)
    }

    private func withEnrolled(_ body: (BrowserWorld) async throws -> Void) async throws {
        try await withBrowsers { world in
            for one in credentials { #expect(try await world.services.enrolment.enrol(one)) }
            try await body(world)
        }
    }

    /// The text of the error of a first subscription.
    private func failure(_ world: BrowserWorld) async -> String {
        do {
            let outcome = try await world.services.enrolment.register(channelID(1), key: nil, of: credentials[0])
            return "no error, but \(outcome)"
        } catch { return "\(error)" }
    }

    @Test func `of two browsers that subscribe first at once both succeed, with one app`() async throws {
        try await withEnrolled { world in
            let hold = world.register.hold(.addApp)
            let enrolment = world.services.enrolment
            async let one = enrolment.register(channelID(1), key: nil, of: credentials[0])
            async let other = enrolment.register(channelID(1), key: nil, of: credentials[1])
            await hold.waiting.wait { $0 == 2 }
            hold.released.open()
            for outcome in try await [one, other] {
                guard case .registered = outcome else {
                    Issue.record("one of both is refused: \(outcome)")
                    continue
                }
            }
            #expect(try await world.register.apps().count { $0.topic == BrowserEnrolment.topic } == 1)
            var apps: Set<AppID> = []
            for one in credentials {
                apps.formUnion(try await world.register.webChannels(of: one.device).map(\.app))
            }
            #expect(apps.count == 1)
        }
    }

    @Test func `where a team has the app browsers cannot subscribe, and the error says why`() async throws {
        try await withEnrolled { world in
            try await add(world)
            #expect(await failure(world) == taken)
            #expect(try await world.register.webChannels(of: credentials[0].device).isEmpty)
        }
    }

    @Test func `an app that a team has removed stays that team's, and the error says so`() async throws {
        try await withEnrolled { world in
            try await add(world)
            _ = try await world.register.removeApp(topic: BrowserEnrolment.topic, at: world.server.clock.now)
            #expect(await failure(world) == "\(RegisterError.topicKept(BrowserEnrolment.topic, for: team))")
        }
    }

    @Test func `a team that adds the app at the moment of the first subscription keeps it`() async throws {
        try await withEnrolled { world in
            let hold = world.register.hold(.addApp)
            async let text = failure(world)
            await hold.waiting.wait { $0 == 1 }
            try await add(world)
            hold.released.open()
            #expect(await text == taken)
            #expect(try await world.register.webChannels(of: credentials[0].device).isEmpty)
        }
    }

    @Test func `a register that does not answer is an error, not a taken topic`() async throws {
        try await withEnrolled { world in
            world.register.fail(.addApp)
            await #expect(throws: HeldRegister.Failure.self) {
                try await world.services.enrolment.register(channelID(1), key: nil, of: credentials[0])
            }
        }
    }
}
