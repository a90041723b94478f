import Crypto
import DeviceChannel
import PushCore
import Testing
import WebPushProtocol

@testable import PushServer

/// Who is served, under which id, and when a session is opened at the gateway.
@Suite(.timeLimit(.minutes(2))) struct AutopushOpeningTests {
    private let first = channelID(1)
    private let second = channelID(2)

    private func address(_ world: BrowserWorld, _ id: PushClientID, _ channel: PushChannelID) throws -> String {
        let component = try world.sealer.seal(.init(device: id.device, channel: channel))
        return "http://push.example:8443/wpush/v2/\(component)"
    }

    @Test func `a new browser has no session and is not stored before its first subscription`() async throws {
        try await withBrowsers { world in
            let browser = try await world.connect()
            #expect(browser.state.value.logins == 0)
            let id = try await browser.hello()
            #expect(browser.state.value.logins == 1, "it does not count as waiting for its login any more")
            try await browser.unregister(first)
            #expect(await browser.texts(2).last == AutopushReply.unregistered(channel: "\(first)", status: 200).text)
            #expect(world.gateway.script.value.logins.isEmpty)
            #expect(try await world.register.base.secretHash(of: id.device) == nil)

            try await browser.register(first)
            let answer = AutopushReply.registered(channel: first, address: try address(world, id, first)).text
            #expect(await browser.texts(3).last == answer)
            let logins = world.gateway.script.value.logins
            #expect(logins.map(\.device) == [id.device] && logins.map(\.secret) == [id.secret])
            let credentials = DeviceCredentials(device: id.device, secret: id.secret)
            #expect(try await world.register.base.secretHash(of: id.device) == credentials.secretHash)
            #expect(world.sessions.state.value.opened.map(\.device) == [id.device])
        }
    }

    @Test func `a new browser is logged in once, however many subscriptions it makes at once`() async throws {
        try await withBrowsers { world in
            let browser = try await world.connect()
            let id = try await browser.hello()
            let hold = world.register.hold(.addDevice)
            try await browser.register(first)
            try await browser.register(second)
            await hold.waiting.wait { $0 == 1 }
            hold.released.open()
            let answers = try [first, second].map {
                AutopushReply.registered(channel: $0, address: try address(world, id, $0)).text
            }
            #expect(Array(await browser.texts(3).suffix(2)) == answers)
            #expect(world.gateway.script.value.logins.count == 1 && hold.waiting.value == 1)
        }
    }

    @Test func `a known browser has its session at hello, and gets what waits for its subscriptions`() async throws {
        try await withBrowsers { world in
            let id = try await world.enrolled(4242, first)
            world.gateway.base.accept([pushed(1, to: first), pushed(2, to: first)], for: id.device)
            let browser = try await world.connect()
            #expect(try await browser.hello(id) == id)
            await browser.texts(3)
            #expect(browser.versions == [1, 2] && world.withdrawals.entries.value.isEmpty)
            #expect(world.gateway.told.sent.map(\.rawValue) == [1, 2])
            #expect(world.gateway.script.value.logins.count == 1)
        }
    }

    @Test func `a browser whose id is unknown or revoked gets another, and no session`() async throws {
        try await withBrowsers { world in
            world.gateway.script.change { $0.verdict = .refused }
            let (shown, browser) = (try await world.enrolled(), try await world.connect())
            let drawn = try await browser.hello(shown)
            #expect(drawn.device != shown.device && drawn.secret != shown.secret)
            #expect(world.sessions.state.value.opened.isEmpty)
            world.gateway.script.change { $0.verdict = nil }
            try await browser.register(first)
            await browser.texts(2)
            #expect(world.sessions.state.value.opened.map(\.device) == [drawn.device])
            try await browser.disconnect()
            #expect(world.closed.count == 1)
        }
    }

    @Test func `a blocked browser is told so, keeps its id and is closed`() async throws {
        try await withBrowsers { world in
            world.gateway.script.change { $0.verdict = .blocked }
            let (id, browser) = (try await world.enrolled(), try await world.connect())
            try await browser.write(#"{"messageType":"hello","uaid":"\#(id.text)"}"#)
            #expect(await browser.closing(1008) == "the client is not served any more")
            #expect(
                browser.sent.first
                    == .text(AutopushReply.helloRefused(status: 401, reason: "the device is blocked").text))
            #expect(world.closed.isEmpty)
            #expect(await world.isEmpty(without: browser))
        }
    }

    @Test func `a browser that the server cannot decide about hears no answer, but when to come again`() async throws {
        try await withBrowsers { world in
            world.gateway.script.change { $0.verdict = .unavailable }
            let (id, browser) = (try await world.enrolled(), try await world.connect())
            try await browser.write(#"{"messageType":"hello","uaid":"\#(id.text)"}"#)
            #expect(await browser.closing(1013) == "try again later")
            #expect(browser.sent.count == 1 && world.closed.isEmpty)
        }
    }

    @Test(arguments: [true, false])
    func `a login beyond the rate asks neither the gateway nor the register`(isKnown: Bool) async throws {
        try await withBrowsers(access: .closed) { world in
            // Logins an hour ahead take the present of the rate away.
            let ahead = SessionTime.now().uptime + 3_600_000
            while world.context.logins.admit(at: ahead) == nil {}
            let (id, browser) = (try await world.enrolled(), try await world.connect())
            try await browser.write(
                #"{"messageType":"hello"\#(isKnown ? #","uaid":"\#(id.text)""# : "")}"#)
            #expect(await browser.closing(1013) != nil)
            #expect(browser.sent.count == 1 && world.gateway.script.value.logins.isEmpty)
            #expect(browser.state.value.logins == 1)
        }
    }

    @Test func `a verdict that comes after the end closes its session once, and gives back what comes for it`()
        async throws
    {
        try await withBrowsers { world in
            world.gateway.script.change { $0.heldVerdicts = [] }
            let (id, browser) = (try await world.enrolled(4242, first), try await world.connect())
            try await browser.write(#"{"messageType":"hello","uaid":"\#(id.text)"}"#)
            try await browser.disconnect()
            #expect(world.closed.isEmpty)
            world.gateway.releaseVerdicts()
            await browser.run()
            #expect(world.closed == [1])
            // What the gateway delivers before it knows is given back, unless it waits in the mailbox.
            browser.port.deliver([pushed(1, to: first, stored: false), pushed(2, to: first)])
            browser.port.superseded()
            await browser.run()
            #expect(world.gateway.told.notSent.map(\.rawValue) == [1] && world.closed == [1])
            #expect(world.sessions.state.value.opened.isEmpty && browser.sent.isEmpty)
        }
    }

    @Test(arguments: [DeviceLoginVerdict.refused, .blocked, .unavailable])
    func `another verdict that comes after the end closes nothing`(verdict: DeviceLoginVerdict) async throws {
        try await withBrowsers { world in
            world.gateway.script.change {
                $0.heldVerdicts = []
                $0.verdict = verdict
            }
            let (id, browser) = (try await world.enrolled(), try await world.connect())
            try await browser.write(#"{"messageType":"hello","uaid":"\#(id.text)"}"#)
            try await browser.disconnect()
            world.gateway.releaseVerdicts()
            browser.port.deliver([pushed(1, to: first, stored: false)])
            await browser.run()
            #expect(world.closed.isEmpty && browser.sent.isEmpty && world.gateway.told.notSent.isEmpty)
        }
    }

    @Test func `a new browser that ends while its first subscription logs it in leaves no session`() async throws {
        try await withBrowsers { world in
            let browser = try await world.connect()
            _ = try await browser.hello()
            world.gateway.script.change { $0.heldVerdicts = [] }
            try await browser.register(first)
            await world.gateway.script.wait { $0.logins.count == 1 }
            try await browser.disconnect()
            world.gateway.releaseVerdicts()
            await browser.run()
            #expect(world.closed.count == 1 && world.sessions.state.value.opened.isEmpty)
            #expect(await world.isEmpty(without: browser))
        }
    }

    @Test(arguments: [DeviceLoginVerdict.refused, .blocked, .unavailable])
    func `a first subscription whose login is not accepted ends the connection, and is not made`(
        verdict: DeviceLoginVerdict
    ) async throws {
        try await withBrowsers { world in
            let browser = try await world.connect()
            let id = try await browser.hello()
            world.gateway.script.change { $0.verdict = verdict }
            try await browser.register(first)
            #expect(await browser.closing(1013) == "try again later")
            #expect(try await world.register.base.webChannels(of: id.device).isEmpty && world.closed.isEmpty)
            world.gateway.script.change { $0.verdict = nil }
            let again = try await world.connect()
            #expect(try await again.hello(id) == id, "it is enrolled, and keeps its id")
        }
    }

    @Test func `subscriptions that cannot be read end the connection, and its session once`() async throws {
        try await withBrowsers { world in
            let (id, browser) = (try await world.enrolled(4242, first), try await world.connect())
            world.register.fail(.webChannels)
            try await browser.write(#"{"messageType":"hello","uaid":"\#(id.text)"}"#)
            #expect(await browser.closing(1013) != nil)
            #expect(browser.sent.count == 1 && world.closed == [1])
            let sessions = world.sessions.state.value
            #expect(sessions.opened == sessions.closed && sessions.closed.count == 1)
        }
    }
}
