import AldabaTestSupport
import Crypto
import PushCore
import Testing
import WebPushProtocol

@testable import PushServer

/// The subscriptions of browsers, over a store.
@Suite(.timeLimit(.minutes(2))) struct BrowserEnrolmentTests {
    private let first = channelID(1)
    private let second = channelID(2)
    private let credentials = DeviceCredentials(device: DeviceID(4242)!, secret: 9)  // 4242 is a device's number.
    private let point = Array(P256.Signing.PrivateKey().publicKey.x963Representation)
    private let other: String? = Base64URL.encode(Array(P256.Signing.PrivateKey().publicKey.x963Representation))

    private func register(
        _ id: PushChannelID, key: String? = nil, _ world: BrowserWorld, of other: DeviceCredentials? = nil
    ) async throws -> String {
        switch try await world.services.enrolment.register(id, key: key, of: other ?? credentials) {
        case .registered(let component): component
        case .full: "full"
        case .refused(let status, let reason): "\(status) \(reason)"
        }
    }

    /// Runs a test with an enrolled browser.
    private func withEnrolled(_ body: (BrowserWorld) async throws -> Void) async throws {
        try await withBrowsers { world in
            #expect(try await world.services.enrolment.enrol(credentials))
            try await body(world)
        }
    }

    @Test func `a subscription is stored with its app, and a repetition has the same address`() async throws {
        try await withEnrolled { world in
            let key = Base64URL.encode(point)
            let component = try await register(first, key: key, world)
            #expect(world.sealer.open(component) == .init(device: credentials.device, channel: first))
            let app = try #require(try await world.register.apps().first { $0.topic == BrowserEnrolment.topic })
            #expect(app.team == BrowserEnrolment.team)
            let begin = world.server.clock.now
            world.server.clock.advance(milliseconds: 1000)
            #expect(try await register(first, key: key, world) == component)
            // The same key in another form.
            #expect(try await register(first, key: key + "=", world) == component)
            let stored = WebChannel(
                device: credentials.device, id: first, app: app.id, environment: .sandbox, generation: 0, sender: key,
                registeredAt: begin.adding(milliseconds: 1000))
            #expect(try await world.register.webChannels(of: credentials.device) == [stored])
            #expect(try await register(second, key: key, world).prefix(8) != component.prefix(8))
        }
    }

    @Test func `a subscription after the registration's end belongs to the new one`() async throws {
        try await withEnrolled { world in
            let component = try await register(first, world)
            let channel = try #require(try await world.register.webChannel(first, of: credentials.device))
            _ = try await world.register.endRegistration(
                device: credentials.device, app: channel.app, environment: .sandbox, at: world.server.clock.now)
            #expect(try await register(first, world) == component)
            let renewed = try await world.register.webChannel(first, of: credentials.device)
            #expect(renewed?.generation == channel.generation + 1)
        }
    }

    @Test func `a subscription keeps its key, and one without a key has none`() async throws {
        try await withEnrolled { world in
            let keys = [Base64URL.encode(point), nil]
            let refusal = "409 the subscription names another key; make one with another channelID"
            for (id, key, others) in [(first, keys[0], [nil, other]), (second, nil, [keys[0], other])] {
                let component = try await register(id, key: key, world)
                for another in others { #expect(try await register(id, key: another, world) == refusal) }
                #expect(try await register(id, key: key, world) == component)
                #expect(try await world.register.webChannel(id, of: credentials.device)?.sender == key ?? "")
            }
        }
    }

    @Test func `a key that is no uncompressed point is refused, and nothing is stored`() async throws {
        try await withEnrolled { world in
            let compressed = Array(P256.Signing.PrivateKey().publicKey.compressedRepresentation)
            let offCurve = [4] + [UInt8](repeating: 1, count: 64)
            let keys = [[], [4], compressed, offCurve, point + [0], Array(point.dropLast())].map(Base64URL.encode)
            for key in keys + ["*", "a b", "\u{0}"] {
                let answer = try await register(first, key: key, world)
                #expect(answer == "400 key must be an uncompressed point of P-256 in base64url", "\(key)")
            }
            #expect(try await world.register.webChannels(of: credentials.device).isEmpty)
            #expect(try await !world.register.apps().contains { $0.topic == BrowserEnrolment.topic })
        }
    }

    @Test func `a browser has a limited number of subscriptions, which may be repeated`() async throws {
        try await withEnrolled { world in
            let component = try await register(first, world)
            let made = try #require(try await world.register.webChannel(first, of: credentials.device))
            for number in 2..<BrowserEnrolment.mostChannels {
                var channel = made
                channel.id = .random { UInt64(number) }
                #expect(try await world.register.base.storeWebChannel(channel, limit: .max))
            }
            #expect(try await register(second, world) != "full")
            #expect(try await register(channelID(3), world) == "full")
            #expect(try await register(first, world) == component)
            try await world.services.enrolment.unregister(second, of: credentials.device)
            #expect(try await register(channelID(3), world) != "full")
        }
    }

    @Test func `a browser that is not enrolled, blocked or shows another secret makes no subscription`() async throws {
        try await withEnrolled { world in
            let refusal = "401 the device is not enrolled"
            let others = [
                DeviceCredentials(device: credentials.device, secret: 10),
                DeviceCredentials(device: try #require(DeviceID(5)), secret: 9),
            ]
            for other in others { #expect(try await register(first, world, of: other) == refusal) }
            let now = world.server.clock.now
            #expect(try await world.register.base.setBlocked(credentials.device, true, at: now))
            #expect(try await register(first, world) == refusal)
            #expect(try await world.register.webChannels(of: credentials.device).isEmpty)
            #expect(try await world.register.base.setBlocked(credentials.device, false, at: now))
            #expect(try await world.services.enrolment.enrol(credentials) == false)
            #expect(try await register(first, world).count == 54)
        }
    }

    @Test func `subscriptions are listed, and ended without error where there are none`() async throws {
        try await withEnrolled { world in
            let (enrolment, device) = (world.services.enrolment, credentials.device)
            for id in [first, second] { _ = try await register(id, world) }
            #expect(try await enrolment.channels(of: device) == [first, second])
            for _ in 0..<2 { try await enrolment.unregister(first, of: device) }
            #expect(try await enrolment.channels(of: device) == [second])
            let has = try await [enrolment.hasChannel(first, of: device), enrolment.hasChannel(second, of: device)]
            #expect(has == [false, true])
            #expect(try await enrolment.channels(of: #require(DeviceID(5))).isEmpty)
        }
    }

    // MARK: Keys of enrolment

    private static let sentence =
        "a new browser enrols with ?key=KEY in the address of the WebSocket, KEY being a valid enrolment key"

    @Test func `where everyone may enrol no key is asked for, and elsewhere the sentence does not show it`()
        async throws
    {
        let shown: [String?] = [nil, "", "guess", "sesame", "Sesame ", "Sesame"]
        for (access, accepted) in [
            (.open, shown), (.key(Secret("Sesame")), ["Sesame"]), (.closed, []), (.key(Secret("")), []),
        ] as [(EnrolmentAccess, [String?])] {
            try await withBrowsers(access: access) { world in
                let enrolment = world.services.enrolment
                for key in shown {
                    for isCounted in [true, false] {
                        let refusal = try await enrolment.refusal(of: key, isCounted: isCounted)
                        #expect(refusal == (accepted.contains(key) ? nil : Self.sentence))
                    }
                }
            }
        }
    }
}
