import APNsProtocol
import AldabaTestSupport
import Logging
import NIOPosix
import PushCore
import Testing

@testable import PushServer

/// What a device on demand got, by its token.
private typealias Arrivals = AsyncStream<(token: String, payload: String)>

@Suite(.timeLimit(.minutes(5))) struct OnDemandRegisterTests {
    private func withRegister(
        _ body: (OnDemandRegister, TopicWorld, Arrivals) async throws -> Void
    ) async throws {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let world = try await TopicWorld(group.next())
        let (arrivals, continuation) = Arrivals.makeStream()
        let register = OnDemandRegister(
            [.apps, .tokens], store: world.store, apps: world.apps, tokens: world.tokens,
            enrolment: Enrolment(
                store: world.store, apps: world.apps, tokens: world.tokens, mailboxes: world.service, cell: 0,
                clock: world.clock.function), mailboxes: world.service, environment: .sandbox
        ) { notification, token in
            continuation.yield((token, String(decoding: notification.payload, as: UTF8.self)))
        }
        try await body(register, world, arrivals)
        await world.service.stop()
        try await group.shutdownGracefully()
    }

    private let token = DeviceToken(bytes: [UInt8](repeating: 7, count: 32))

    @Test func `an app is added once, and stays that of its team`() async throws {
        try await withRegister { register, world, _ in
            let (topic, other) = (Topic(rawValue: "com.example.new"), TeamID(rawValue: "OTHER12345"))
            async let first = register.app(topic, of: world.team)
            async let second = register.app(topic, of: world.team)
            let (app, same) = try await (first, second)
            #expect(app == same && app.team == world.team)
            #expect(try await register.app(topic, of: other) == app)
            #expect(try await register.app(world.app.topic, of: other) == world.app)
        }
    }

    @Test func `a token is one device, which gets and acknowledges what is sent to it`() async throws {
        try await withRegister { register, world, arrivals in
            let token = try #require(token)
            async let first = register.subject(of: token, text: "mine", app: world.app)
            async let second = register.subject(of: token, text: "mine", app: world.app)
            let (subject, same) = try await (first, second)
            #expect(subject == same && subject.app == world.app.id)
            let other = try await register.subject(
                of: try #require(OnDemandRegister.token(of: "another:one")), text: "another:one", app: world.app)
            #expect(other.device != subject.device)
            let own = try world.tokens.sealer.seal(subject).description
            #expect(
                try await world.subscriptions.subscribe([own], to: world.topic, team: world.team) == [.done])
            for expiry in [Expiry.policyDefault, .once] {
                let id = try await world.send("hello", expiry: expiry)
                var iterator = arrivals.makeAsyncIterator()
                let arrived = try #require(await iterator.next())
                #expect(arrived == ("mine", "hello as \(id)"))
                guard expiry == .policyDefault else { continue }
                try await world.service.flushNotes()
                #expect(try await world.timeline(id)?.broadcast?.states["acked"] == 1)
            }
        }
    }

    @Test(arguments: RefusingToken.allCases)
    func `a token that stands for an answer is refused with it, where tokens are added`(token: RefusingToken)
        async throws
    {
        try await withRegister { register, world, _ in
            let digits = String(repeating: "0", count: 60) + token.rawValue
            let refusal = register.refusal(of: try #require(DeviceToken(text: digits)))
            #expect(refusal?.reason == token.reason)
            #expect(refusal?.timestamp == (token == .gone ? world.clock.now.rawValue : nil))
            #expect(register.refusal(of: try #require(self.token)) == nil)
            #expect(RefusingToken(try #require(DeviceToken(text: "1" + digits.dropFirst()))) == nil)
        }
    }

    @Test func `tokens of other forms stand for themselves`() throws {
        let digits = String(repeating: "0a", count: 32)
        #expect(OnDemandRegister.token(of: digits) == DeviceToken(text: digits))
        #expect(OnDemandRegister.token(of: "a:b") != OnDemandRegister.token(of: "a:c"))
    }

    @Test(arguments: [
        ("firebase-adminsdk-x@my-app-12345.iam.gserviceaccount.com", "my-app-12345"),
        ("a@aldabademo.iam.internal", "aldabademo"),
        ("nobody", "nobody"), ("@", "project"),
    ])
    func `the project of a service account is in its address`(address: String, project: String) {
        #expect(ServiceAccountDirectory.project(ofAddress: address) == project)
        #expect(TeamID.hasShape(ServiceAccountDirectory.team(ofProject: project).rawValue))
    }

    @Test func `a project with a team's name is that team's`() {
        #expect(ServiceAccountDirectory.team(ofProject: "aldabademo") == TeamID(rawValue: "ALDABADEMO"))
    }
}
