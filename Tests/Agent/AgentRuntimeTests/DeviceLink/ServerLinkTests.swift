import AgentEngine
import AgentProtocol
import AgentRuntime
import AldabaTestSupport
import DeviceTestSupport
import Platform
import PushCore
import Testing

@testable import AgentRuntime

/// The link alone, between a server and a delegate of the test's.
@Suite(.timeLimit(.minutes(5)))
struct ServerLinkTests {
    private let app: BundleID = "com.example.todo"
    private let team = TeamID(rawValue: "TEAM000001")

    private func id(_ raw: Int64) -> NotificationID { NotificationID(rawValue: raw) }

    private func identity(_ device: UInt64) throws -> DeviceIdentity {
        DeviceIdentity(device: try #require(DeviceID(device)), secret: device * 2)
    }

    private func token(of device: UInt64, _ harness: LinkHarness) -> String {
        "token \(harness.server.token(of: device)) of \(app)"
    }

    @Test func `a device without an id enrols, opens a session and registers its apps`() async throws {
        let harness = LinkHarness()
        await harness.link.appInstalled(app, team: team)
        await harness.start()
        let session = try #require(await harness.loggedIn())
        #expect(session.identity == (try identity(101)))
        #expect(harness.store.state.withLock { $0.identity } == session.identity)
        var told: Set<String> = []
        while told.count < 4, let words = await harness.delegate.told.next() { told.insert(words) }
        #expect(told == ["enrolled 101", "commit", "opened", token(of: 101, harness)])
        #expect(await harness.link.isOpen)
        await harness.stop()
        #expect(harness.delegate.strays.withLock { $0 } == 0)
    }

    @Test func `what came is acknowledged over the session that brought it, and over no other`() async throws {
        let harness = LinkHarness(identity: try identity(7))
        await harness.start()
        let first = try #require(await harness.loggedIn())
        first.events(.arrived([outgoing(1)]))
        #expect(await harness.delegate.told.next { $0.hasPrefix("arrived") } == "arrived [1] in 1")
        first.end(.lost("cut"))
        let second = try #require(await harness.loggedIn())
        second.events(.arrived([outgoing(2)]))
        #expect(await harness.delegate.told.next { $0.hasPrefix("arrived") } == "arrived [2] in 2")
        await harness.link.acknowledge([id(1)], in: 1)
        await harness.link.acknowledge([id(2)], in: 2)
        #expect(await second.acknowledged.next() == [id(2)])
        await harness.stop()
    }

    @Test func `receipts that are committed go upstream, and their confirmation names their places`() async throws {
        let harness = LinkHarness(identity: try identity(7))
        await harness.start()
        let session = try #require(await harness.loggedIn())
        let entry = TimelineEntry(at: noon, state: .handed, source: .app)
        harness.store.state.withLock {
            $0.receipts = [(4, Receipt(id: id(1), entry: entry)), (6, Receipt(id: id(2), entry: entry))]
        }
        await harness.link.receiptsCommitted()
        #expect(await session.receipts(2) == ["1 handed", "2 handed"])
        #expect(await harness.delegate.told.next { $0.hasPrefix("receipts") } == "receipts 4...6")
        await harness.stop()
    }

    @Test func `a session is not opened while the store cannot say what it holds`() async throws {
        let harness = LinkHarness(identity: try identity(7))
        harness.store.state.withLock {
            $0.unconfirmed = [id(3)]
            $0.fails = true
        }
        await harness.start()
        let words = try #require(await harness.delegate.told.next { $0.hasPrefix("closed") })
        #expect(words.contains("the agent's store"))
        harness.store.state.withLock { $0.fails = false }
        #expect(try #require(await harness.server.sessions.next()).received == [id(3)])
        await harness.stop()
    }

    @Test func `a device that the server forgot commits what it has before it forgets its id`() async throws {
        let harness = LinkHarness(identity: try identity(7))
        await harness.link.appInstalled(app, team: team)
        await harness.start()
        let session = try #require(await harness.loggedIn())
        await harness.link.requestToken(app)
        #expect(await harness.delegate.told.next { $0.hasPrefix("token") } == token(of: 7, harness))
        harness.server.known.withLock { $0 = [] }
        session.end(.loginRefused)
        #expect(await harness.delegate.told.next() == "commit")
        #expect(await harness.delegate.told.next() == "enrolled 101")
        #expect(await harness.delegate.told.next { $0.hasPrefix("token") } == token(of: 101, harness))
        await harness.stop()
    }

    @Test func `the reason why no session is open is that of the log, until one is`() async throws {
        let harness = LinkHarness()
        harness.server.refusalOfCheckIn.withLock { $0 = .notAuthenticated }
        #expect(await harness.link.fault == nil)
        await harness.start()
        _ = await harness.pauses.next()
        #expect(await harness.link.fault?.contains("wants a valid enrolment key") == true)
        harness.server.refusalOfCheckIn.withLock { $0 = nil }
        let session = try #require(await harness.loggedIn())
        #expect(await harness.delegate.told.next { $0 == "opened" } != nil)
        #expect(await harness.link.fault == nil)
        session.end(.lost("cut"))
        #expect(await harness.delegate.told.next { $0.hasPrefix("closed") } != nil)
        #expect(await harness.link.fault == "cut")
        await harness.stop()
    }

    @Test func `a device that a restored server knows again registers its apps again`() async throws {
        let harness = LinkHarness(identity: try identity(7))
        await harness.link.appInstalled(app, team: team)
        await harness.start()
        let session = try #require(await harness.loggedIn())
        session.end(.loginRefused)
        #expect(await harness.delegate.told.next { $0.hasPrefix("token") } == token(of: 7, harness))
        #expect(try #require(await harness.server.sessions.next()).identity.device.rawValue == 7)
        await harness.stop()
    }

    @Test(arguments: [(45_000, 45_000), (1, 1), (.max, 600_000)] as [(Int64, Int64)])
    func `a device that is sent away comes again when the server said, within bounds`(
        asked: Int64, milliseconds: Int64
    ) async throws {
        let harness = LinkHarness(identity: try identity(7))
        await harness.start()
        let session = try #require(await harness.server.sessions.next())
        session.end(.busy(asked))
        // The harness's own back-off is 2 ms at most.
        let pause = try #require(await harness.pauses.next())
        #expect(pause >= .milliseconds(milliseconds) && pause <= .milliseconds(milliseconds + 2))
        #expect(await harness.server.sessions.next() != nil)
        await harness.stop()
    }

    @Test func `pauses grow with each failure, and begin anew after a session that has lasted`() async throws {
        let harness = LinkHarness(
            identity: try identity(7), backOff: BackOff(base: 1000, cap: 8000), random: .max)
        await harness.start()
        for milliseconds in [1000, 2000, 4000, 8000, 8000] {
            try #require(await harness.server.sessions.next()).end(.lost("cut"))
            #expect(await harness.pauses.next() == .milliseconds(milliseconds))
        }
        // Until its tenth second a session that logged in counts as another failure.
        for (lasted, milliseconds) in [(0, 8000), (9_999, 8000), (10_000, 1000), (9_999, 2000)] as [(Int64, Int64)] {
            let session = try #require(await harness.loggedIn())
            #expect(await harness.delegate.told.next { $0 == "opened" } != nil)
            harness.uptime.advance(milliseconds: lasted)
            session.end(.lost("cut"))
            #expect(await harness.pauses.next() == .milliseconds(milliseconds), "after \(lasted) ms")
        }
        // One that brings something is none, however short.
        let useful = try #require(await harness.loggedIn())
        useful.events(.arrived([outgoing(1)]))
        useful.end(.lost("cut"))
        #expect(await harness.pauses.next() == .milliseconds(1000))
        // A refused login is one, too, also where the server knows the device.
        try #require(await harness.server.sessions.next()).end(.loginRefused)
        #expect(await harness.pauses.next() == .milliseconds(2000))
        await harness.stop()
    }

    @Test func `an app that ends its registration before the device has an id is not registered`() async throws {
        let harness = LinkHarness()
        await harness.link.appInstalled(app, team: team)
        await harness.link.requestToken(app)
        await harness.link.requestTokenEnd(app)
        await harness.start()
        let words = await harness.delegate.told.next { $0.hasPrefix("token") || $0.hasPrefix("no token") }
        #expect(words == "no token of \(app)")
        #expect(try harness.store.hasEndedRegistration(app: app, environment: .sandbox))
        await harness.stop()
    }

    @Test func `an end that the server cannot be asked for is told, and asked for until the server has done it`()
        async throws
    {
        let harness = LinkHarness(identity: try identity(7))
        await harness.link.appInstalled(app, team: team)
        harness.server.refusalOfEnd.withLock { $0 = .unavailable("away") }
        let isEnding = harness.server.holdUnregistration()
        await harness.start()
        await harness.link.requestTokenEnd(app)
        isEnding.open()
        #expect(await harness.delegate.told.next { $0.contains("ended") } == "not ended \(app): later")
        harness.server.refusalOfEnd.withLock { $0 = nil }
        #expect(await harness.delegate.told.next { $0.hasPrefix("no token") } == "no token of \(app)")
        harness.server.refusalOfEnd.withLock { $0 = .refused("INVALID_SENDER") }
        await harness.link.requestTokenEnd(app)
        #expect(
            await harness.delegate.told.next { $0.contains("ended") && !$0.hasSuffix("later") }
                == "not ended \(app): INVALID_SENDER")
        await harness.stop()
    }

    @Test func `an end is told to wait while the device cannot enrol`() async throws {
        let harness = LinkHarness()
        harness.server.refusalOfCheckIn.withLock { $0 = .unavailable("away") }
        await harness.link.appInstalled(app, team: team)
        await harness.link.requestTokenEnd(app)
        await harness.start()
        #expect(await harness.delegate.told.next { $0.contains("ended") } == "not ended \(app): later")
        harness.server.refusalOfCheckIn.withLock { $0 = nil }
        #expect(await harness.delegate.told.next { $0.hasPrefix("no token") } == "no token of \(app)")
        await harness.stop()
    }

    @Test func `a refusal of what an app wanted before leaves what it wants now`() async throws {
        let harness = LinkHarness(identity: try identity(7))
        await harness.link.appInstalled(app, team: team)
        await harness.start()
        let isEnding = harness.server.holdUnregistration()
        await harness.link.requestTokenEnd(app)
        _ = await harness.server.unregistered.next()
        harness.server.refusalOfEnd.withLock { $0 = .refused("INVALID_SENDER") }
        await harness.link.requestToken(app)
        isEnding.open()
        #expect(await harness.delegate.told.next { $0.hasPrefix("token") } == token(of: 7, harness))
        await harness.stop()
    }
}
