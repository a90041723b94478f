import Crypto
import PushCore
import Testing
import WebPushProtocol

@testable import PushServer

/// The requests of browsers that the register answers, and what becomes of them where it does not.
@Suite(.timeLimit(.minutes(2))) struct AutopushRegisterTests {
    private let first = channelID(1)
    private let key = Base64URL.encode(Array(P256.Signing.PrivateKey().publicKey.x963Representation))

    private func refusal(_ channel: PushChannelID, _ status: Int, _ reason: String) -> String {
        AutopushReply.registerRefused(channel: "\(channel)", status: status, reason: reason).text
    }

    @Test(arguments: [HeldRegister.Call.addDevice, .webChannel, .storeWebChannel, .register, .secretHash, .addApp])
    func `a register that does not answer ends the connection, and the session that it has`(
        call: HeldRegister.Call
    ) async throws {
        try await withBrowsers { world in
            let browser = try await world.connect()
            _ = try await browser.hello()
            world.register.fail(call)
            try await browser.register(first)
            #expect(await browser.closing(1013) == "try again later")
            #expect(browser.sent.count == 2, "the subscription is not answered")
            #expect(world.closed.count == (call == .addDevice ? 0 : 1))
            #expect(await world.isEmpty(without: browser))
        }
    }

    @Test func `an id that another device has taken meanwhile is not used`() async throws {
        try await withBrowsers { world in
            let browser = try await world.connect()
            let id = try await browser.hello()
            #expect(try await world.register.base.addDevice(id.device, secretHash: [1], at: world.server.clock.now))
            try await browser.register(first)
            let reason = "the id is another device's; connect again without it"
            #expect(await browser.texts(2).last == refusal(first, 401, reason))
            #expect(world.gateway.script.value.logins.isEmpty)
            try await browser.write("{}")
            #expect(await browser.texts(3).last == "{}", "the connection stays open")
        }
    }

    @Test func `a new browser enrols with its key at its first subscription, not at hello`() async throws {
        try await withBrowsers(access: .closed) { world in
            let keys = world.server.store.base
            try await keys.addEnrolmentKey(
                EnrolmentKey(
                    id: "lab", secretHash: Array(SHA256.hash(data: Array("a b".utf8))), quota: 1,
                    createdAt: world.server.clock.now))
            func used() async throws -> [Int] { try await keys.enrolmentKeys().map(\.used) }
            let browser = try await world.connect(uri: "/?x=1&key=a%20b")
            let late = try await world.connect(uri: "/?key=a%20b")
            _ = try await browser.hello()
            #expect(try await used() == [0])
            try await browser.register(first)
            await browser.texts(2)
            #expect(try await used() == [1])
            _ = try await late.hello()
            try await late.register(first)
            let reason =
                "a new browser enrols with ?key=KEY in the address of the WebSocket, "
                + "KEY being a valid enrolment key"
            #expect(await late.texts(2).last == refusal(first, 401, reason))
            #expect(world.gateway.script.value.logins.count == 1)
        }
    }

    @Test(arguments: ["/", "/?key=wrong", "/?key=", "/?key=%zz"])
    func `a new browser without a valid key is told so and closed, and a known one needs none`(
        uri: String
    ) async throws {
        try await withBrowsers(access: .key(Secret("right"))) { world in
            let browser = try await world.connect(uri: uri)
            try await browser.write(#"{"messageType":"hello"}"#)
            #expect(await browser.closing(1008) == "the client is not served any more")
            let texts = await browser.texts(1)
            #expect(texts.count == 1 && texts[0].contains("?key=KEY") && texts[0].contains(#""status":401"#))
            #expect(!texts[0].contains("wrong"))
            let (id, known) = (try await world.enrolled(), try await world.connect(uri: uri))
            #expect(try await known.hello(id) == id)
            #expect(try await world.connect(uri: "/?key=right").hello() != id)
        }
    }

    @Test func `the end of a subscription that the register does not take ends the connection`() async throws {
        try await withBrowsers { world in
            let (id, browser) = (try await world.enrolled(), try await world.connect())
            try await browser.write(#"{"messageType":"hello","uaid":"\#(id.text)"}"#)
            await browser.texts(1)
            world.register.fail(.removeWebChannel)
            try await browser.unregister(first)
            #expect(await browser.closing(1013) != nil)
            #expect(world.closed == [1])
        }
    }

    @Test(arguments: ["", "AAAA", "not base64url!", "BAAA" + String(repeating: "A", count: 83)])
    func `a key that is no point is refused before anything is stored`(key: String) async throws {
        try await withBrowsers { world in
            let browser = try await world.connect()
            let id = try await browser.hello()
            try await browser.register(first, key: key)
            let reason = "key must be an uncompressed point of P-256 in base64url"
            #expect(await browser.texts(2).last == refusal(first, 400, reason))
            #expect(try await world.register.base.secretHash(of: id.device) == nil)
            #expect(world.gateway.script.value.logins.isEmpty)
        }
    }

    @Test func `a server that has no address for subscriptions enrols nobody`() async throws {
        try await withBrowsers { world in
            world.services.origin = { _, _ in nil }
            let browser = try await world.connect()
            let id = try await browser.hello()
            try await browser.register(first)
            #expect(await browser.closing(1013) != nil)
            #expect(try await world.register.base.secretHash(of: id.device) == nil)
        }
    }

    @Test func `a subscription that is registered with another key stays as it was`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            try await browser.register(first, key: key)
            let reason = "the subscription names another key; make one with another channelID"
            #expect(await browser.texts(2).last == refusal(first, 409, reason))
            world.gateway.base.accept([pushed(1, to: first, stored: false)], for: id.device)
            await browser.run()
            #expect(browser.versions == [1])
        }
    }

    @Test func `a browser that the register does not know any more makes no subscription, and gets no message for it`()
        async throws
    {
        try await withBrowsers { world in
            let (browser, id) = try await world.live()
            #expect(try await world.register.base.revokeDevice(id.device, at: world.server.clock.now))
            try await browser.register(first)
            #expect(await browser.texts(2).last == refusal(first, 401, "the device is not enrolled"))
            world.gateway.base.accept([pushed(1, to: first, stored: false)], for: id.device)
            await browser.run()
            #expect(browser.versions.isEmpty && world.gateway.told.notSent.map(\.rawValue) == [1])
        }
    }

    @Test func `a first subscription that is refused leaves the session to the next one`() async throws {
        try await withBrowsers { world in
            let (store, now) = (world.register.base, world.server.clock.now)
            let browser = try await world.connect()
            let id = try await browser.hello()
            let hold = world.register.hold(.webChannel)
            try await browser.register(first)
            await hold.waiting.wait { $0 == 1 }
            #expect(try await store.setBlocked(id.device, true, at: now))
            hold.released.open()
            #expect(await browser.texts(2).last == refusal(first, 401, "the device is not enrolled"))
            world.gateway.base.accept([pushed(1, to: first)], for: id.device)
            await browser.run()
            #expect(browser.versions.isEmpty && world.gateway.script.value.pages.isEmpty, "it is not served yet")
            #expect(try await store.setBlocked(id.device, false, at: now))
            try await browser.register(first)
            await browser.texts(4)
            #expect(browser.versions == [1] && world.gateway.script.value.logins.count == 1)
        }
    }

    @Test func `a subscription beyond the limit is refused, and gets no message`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            let made = try #require(try await world.register.base.webChannel(first, of: id.device))
            for number in 2...BrowserEnrolment.mostChannels {
                var other = made
                other.id = .random { UInt64(number) }
                #expect(try await world.register.base.storeWebChannel(other, limit: .max))
            }
            try await browser.register(channelID(9))
            let reason = "a browser has at most 1000 subscriptions"
            #expect(await browser.texts(2).last == refusal(channelID(9), 400, reason))
            world.gateway.base.accept([pushed(1, to: channelID(9), stored: false)], for: id.device)
            await browser.run()
            #expect(browser.versions.isEmpty && world.gateway.told.notSent.map(\.rawValue) == [1])
        }
    }

    @Test func `a message for a subscription that is just being made is sent before its answer`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live()
            let hold = world.register.hold(.storeWebChannel)
            try await browser.register(first)
            await hold.waiting.wait { $0 == 1 }
            world.gateway.base.accept([pushed(1, to: first, stored: false)], for: id.device)
            await browser.run()
            #expect(browser.versions == [1] && browser.sent.count == 2)
            hold.released.open()
            #expect(await browser.texts(3).last?.contains("pushEndpoint") == true)
        }
    }

    @Test func `a register under way when the connection ends is answered to nobody`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live()
            let hold = world.register.hold(.storeWebChannel)
            try await browser.register(first)
            await hold.waiting.wait { $0 == 1 }
            try await browser.disconnect()
            hold.released.open()
            // The next connection's request comes after it in the register.
            let next = try await world.connect()
            #expect(try await next.hello(id) == id)
            try await next.register(first)
            await next.texts(2)
            #expect(browser.sent.count == 1 && world.closed == [1])
        }
    }

    @Test func `a subscription that has ended is said to be so, whether it was there`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            for channel in [first, channelID(7)] { try await browser.unregister(channel) }
            let answers = [first, channelID(7)].map { AutopushReply.unregistered(channel: "\($0)", status: 200).text }
            #expect(Array(await browser.texts(3).suffix(2)) == answers)
            #expect(try await world.register.base.webChannels(of: id.device).isEmpty)
        }
    }
}
