import PushCore
import Testing
import WebPushProtocol

@testable import AgentEngine

struct UnifiedPushEngineTests {
    private static let service = "com.example.App"
    private static let channels = (0..<3).map { number in PushChannelID.random { UInt64(number) } }

    private static func registration(
        _ token: String, channel: Int = 0, vapid: String? = nil, endpoint: String? = nil, of service: String = service
    ) -> UnifiedPushRegistration {
        UnifiedPushRegistration(
            token: token, service: service, description: "", vapid: vapid, version: .two, channel: channels[channel],
            endpoint: endpoint)
    }

    private static func asked(_ token: String, by service: String = service) throws -> UnifiedPushRegister {
        try UnifiedPushRegister(service: service, token: token, description: nil, vapid: nil, version: .two)
    }

    private static func call(_ number: UInt64) -> UnifiedPushCall { UnifiedPushCall(number: number, version: .two) }

    @Test func `an app is answered once the server has given its endpoint, and that is stored`() throws {
        var engine = UnifiedPushEngine()
        let new = Self.registration("t")
        let asked = try Self.asked("t")
        #expect(
            engine.handle(.register(asked, Self.call(1), channel: Self.channels[0]))
                == [.change(.registered(new, ending: nil))])
        #expect(
            engine.handle(.committed(.registered(new)))
                == [.watch(service: Self.service), .askForChannels, .read(service: Self.service)])
        #expect(
            engine.handle(.endpoint("https://a", token: "t", channel: Self.channels[0]))
                == [.change(.endpoint("https://a", token: "t", channel: Self.channels[0]))])
        let known = Self.registration("t", endpoint: "https://a")
        #expect(
            engine.handle(.committed(.endpoint("https://a", token: "t")))
                == [.answer(Self.call(1), nil), .sendEndpoint(known)])
        // The second time it is there already.
        #expect(
            engine.handle(.register(asked, Self.call(2), channel: Self.channels[1]))
                == [.change(.registered(known, ending: nil))])
        #expect(
            engine.handle(.committed(.registered(known)))
                == [
                    .watch(service: Self.service), .answer(Self.call(2), nil), .sendEndpoint(known),
                    .read(service: Self.service),
                ])
    }

    @Test func `an app hears that the server refuses it`() throws {
        var engine = UnifiedPushEngine()
        _ = engine.handle(.register(try Self.asked("t"), Self.call(1), channel: Self.channels[0]))
        _ = engine.handle(.committed(.registered(Self.registration("t"))))
        #expect(engine.handle(.refused(token: "t", channel: Self.channels[1])) == [], "of an earlier channel")
        #expect(
            engine.handle(.refused(token: "t", channel: Self.channels[0])) == [
                .answer(Self.call(1), .actionRequired),
                .change(.unregistered(token: "t", note: "the server has refused the registration")),
            ])
    }

    @Test func `apps are answered at once while the server cannot be reached, and get their endpoints later`() throws {
        var engine = UnifiedPushEngine()
        _ = engine.handle(.register(try Self.asked("t"), Self.call(1), channel: Self.channels[0]))
        _ = engine.handle(.committed(.registered(Self.registration("t"))))
        #expect(engine.handle(.serverUnreachable) == [.answer(Self.call(1), .network)])
        _ = engine.handle(.register(try Self.asked("u"), Self.call(2), channel: Self.channels[1]))
        let answers = engine.handle(.committed(.registered(Self.registration("u", channel: 1))))
        #expect(answers.contains(.answer(Self.call(2), .network)) && answers.contains(.askForChannels))
        _ = engine.handle(.endpoint("https://a", token: "t", channel: Self.channels[0]))
        let known = Self.registration("t", endpoint: "https://a")
        #expect(engine.handle(.committed(.endpoint("https://a", token: "t"))) == [.sendEndpoint(known)])
    }

    @Test func `the token of another app is refused`() throws {
        var engine = UnifiedPushEngine()
        _ = engine.handle(.started([Self.registration("t", endpoint: "https://a")]))
        let asked = try Self.asked("t", by: "com.example.Other")
        #expect(
            engine.handle(.register(asked, Self.call(1), channel: Self.channels[1]))
                == [.answer(Self.call(1), .unauthorized)])
    }

    @Test func `another key ends the channel of the earlier one`() throws {
        var engine = UnifiedPushEngine()
        _ = engine.handle(.started([Self.registration("t", vapid: "key", endpoint: "https://a")]))
        #expect(
            engine.handle(.register(try Self.asked("t"), Self.call(1), channel: Self.channels[1]))
                == [.change(.registered(Self.registration("t", channel: 1), ending: Self.channels[0]))])
    }

    @Test func `an endpoint of an earlier channel is not taken`() {
        var engine = UnifiedPushEngine()
        _ = engine.handle(.started([Self.registration("t", channel: 1)]))
        #expect(engine.handle(.endpoint("https://a", token: "t", channel: Self.channels[0])) == [])
    }

    @Test func `an endpoint that differs from the known one makes the others invalid`() {
        var engine = UnifiedPushEngine()
        let others = [Self.registration("u", channel: 1, endpoint: "https://a/1")]
        _ = engine.handle(.started([Self.registration("t", endpoint: "https://a/0")] + others))
        #expect(engine.handle(.endpoint("https://a/0", token: "t", channel: Self.channels[0])) == [], "it is as before")
        let change = UnifiedPushChange.endpoint("https://b/0", token: "t", channel: Self.channels[0])
        #expect(
            engine.handle(.endpoint("https://b/0", token: "t", channel: Self.channels[0]))
                == [.change(change), .change(.addressChanged(except: "t")), .askForChannels])
        #expect(engine.registrations["u"]?.endpoint == nil)
        let renewed = Self.registration("t", endpoint: "https://b/0")
        #expect(engine.handle(.committed(.endpoint("https://b/0", token: "t"))) == [.sendEndpoint(renewed)])
        // The others are asked for like new ones.
        #expect(
            engine.handle(.endpoint("https://b/1", token: "u", channel: Self.channels[1]))
                == [.change(.endpoint("https://b/1", token: "u", channel: Self.channels[1]))])
    }

    @Test func `the number of registrations is bounded`() throws {
        var engine = UnifiedPushEngine()
        let full = (0..<UnifiedPushEngine.mostRegistrations).map { Self.registration("\($0)") }
        _ = engine.handle(.started(full))
        #expect(
            engine.handle(.register(try Self.asked("t"), Self.call(1), channel: Self.channels[1]))
                == [.answer(Self.call(1), .actionRequired)])
    }

    @Test func `the number of calls that wait is bounded`() throws {
        var engine = UnifiedPushEngine()
        for number in 0..<UInt64(UnifiedPushEngine.mostCalls) {
            _ = engine.handle(.register(try Self.asked("t"), Self.call(number), channel: Self.channels[0]))
        }
        #expect(
            engine.handle(.register(try Self.asked("t"), Self.call(999), channel: Self.channels[0]))
                == [.answer(Self.call(999), .internalError)])
    }

    @Test func `an app is told that its registration has ended, and whether it has ended it itself`() {
        for isConfirmation in [true, false] {
            let known = Self.registration("t", endpoint: "https://a")
            var engine = UnifiedPushEngine()
            _ = engine.handle(.started([known]))
            if isConfirmation {
                let change = UnifiedPushChange.unregistered(token: "t", note: "its app has ended the registration")
                #expect(engine.handle(.unregister(token: "t")) == [.change(change)])
                #expect(engine.handle(.unregister(token: "t")) == [], "a repetition")
            }
            #expect(
                engine.handle(.committed(.unregistered(token: "t")))
                    == [
                        .sendUnregistered(known, isConfirmation: isConfirmation), .askForChannels,
                        .unwatch(service: Self.service),
                    ])
            #expect(engine.handle(.appeared(service: Self.service)) == [])
            #expect(engine.handle(.unregister(token: "t")) == [])
        }
    }

    @Test func `a new identity needs new endpoints, which the apps get`() {
        var engine = UnifiedPushEngine()
        _ = engine.handle(.started([Self.registration("t", endpoint: "https://a")]))
        #expect(engine.handle(.identityChanged) == [.askForChannels])
        let other = Self.registration("t", endpoint: "https://b")
        #expect(engine.handle(.committed(.endpoint("https://b", token: "t"))) == [.sendEndpoint(other)])
    }

    @Test(
        arguments: [
            (nil, "t", nil, "service"), ("noDots", "t", nil, "service"), ("com.example.A", nil, nil, "token"),
            ("com.example.A", "", nil, "token"), ("com.example.A", String(repeating: "x", count: 101), nil, "token"),
            ("com.example.A", "t", "key", "vapid"),
        ] as [(String?, String?, String?, String)])
    func `a wrong argument is named`(service: String?, token: String?, vapid: String?, name: String) {
        let fault = #expect(throws: UnifiedPushRegister.Fault.self) {
            try UnifiedPushRegister(service: service, token: token, description: nil, vapid: vapid, version: .two)
        }
        #expect(fault?.text.hasPrefix("\(name) must be") == true)
    }

    @Test func `a long description is cut`() throws {
        let text = String(repeating: "é", count: 80)
        let asked = try UnifiedPushRegister(
            service: Self.service, token: "t", description: text, vapid: "", version: .one)
        #expect(asked.description == String(repeating: "é", count: 50))
        #expect(asked.vapid == nil)
    }
}
