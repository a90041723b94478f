import APNsProtocol
import AldabaTestSupport
import PushCore
import PushServer
import Testing

@testable import APNsFrontend

/// The gateway and the feedback service over TLS on loopback.
@Suite(.timeLimit(.minutes(5))) struct LegacyEndpointTests {
    private func payload(_ number: Int) -> String { #"{"aps":{"alert":"\#(number)"}}"# }

    @Test(arguments: LegacyCommand.allCases)
    func `a push of each command waits for its device`(command: LegacyCommand) async throws {
        try await LegacyWorld.run { world in
            let client = try await world.connect(to: world.endpoint.port)
            try await client.write(try world.push(1, payload: payload(1)).frame(command))
            // The broken frame makes the server answer, once what came before it is durable.
            try await client.write([9])
            #expect(try await client.answer() == [8, 128, 0, 0, 0, 0])
            #expect(try await world.waiting() == [payload(1)])
        }
    }

    @Test func `what came before an error is taken and nothing after it`() async throws {
        try await LegacyWorld.run { world in
            let client = try await world.connect(to: world.endpoint.port)
            var bytes: [UInt8] = []
            for number in 1...1000 {
                bytes += try world.push(UInt32(number), payload: payload(number)).frame(.enhanced)
            }
            bytes += try world.push(1001, token: [UInt8](repeating: 9, count: 32)).frame(.enhanced)
            for number in 1002...2000 { bytes += try world.push(UInt32(number)).frame(.enhanced) }
            try? await client.write(bytes)
            #expect(try await client.answer() == [8, 8, 0, 0, 3, 0xE9])
            #expect(try await world.waiting() == (1...1000).map(payload))
        }
    }

    /// One push that is refused once its bytes were read.
    struct Refused: Sendable, CustomTestStringConvertible {
        var testDescription: String
        var status: LegacyStatus
        var push: @Sendable (LegacyWorld) throws -> LegacyPush

        static let all = [
            Refused(testDescription: "a token of the other environment", status: .invalidToken) {
                try $0.push(5, token: try $0.token(.production))
            },
            Refused(testDescription: "a token that never was", status: .invalidToken) {
                try $0.push(5, token: try $0.token(generation: 3))
            },
            Refused(testDescription: "a payload that is no JSON", status: .unknown) { try $0.push(5, payload: "{") },
            Refused(testDescription: "a payload with a number that no device reads", status: .unknown) {
                try $0.push(5, payload: #"{"aps":{"alert":"x"},"g":1e400}"#)
            },
        ]
    }

    @Test(arguments: Refused.all)
    func `a refused push has its status, its identifier and its timeline`(refused: Refused) async throws {
        try await LegacyWorld.run { world in
            let client = try await world.connect(to: world.endpoint.port)
            try await client.write(try refused.push(world).frame(.items))
            #expect(try await client.answer() == [8, refused.status.rawValue, 0, 0, 0, 5])
        }
    }

    @Test func `a dead token is no error`() async throws {
        try await LegacyWorld.run { world in
            _ = try await world.store.base.endRegistration(
                device: world.device, app: world.app.id, environment: .sandbox, at: LegacyWorld.now)
            let client = try await world.connect(to: world.endpoint.port)
            try await client.write(try world.push(1).frame(.enhanced) + world.push(2).frame(.enhanced) + [9])
            #expect(try await client.answer() == [8, 128, 0, 0, 0, 0])
            #expect(try await world.waiting().isEmpty)
        }
    }

    @Test func `a certificate that is not in the register is hung up on, and one that leaves it counts no more`()
        async throws
    {
        try await LegacyWorld.run { world in
            let stranger = try await world.connect(to: world.endpoint.port, as: try TestIdentity())
            try? await stranger.write(try world.push(1).frame(.enhanced))
            #expect(try await stranger.answer().isEmpty)
            #expect(try await world.waiting().isEmpty)
            let client = try await world.connect(to: world.endpoint.port)
            try await client.write(try world.push(1, payload: payload(1)).frame(.enhanced))
            await world.certificates.asked(times: 3)
            world.certificates.owners.withLock { $0 = [:] }
            try await client.write(try world.push(2).frame(.enhanced))
            #expect(try await client.answer() == [8, 255, 0, 0, 0, 2])
            #expect(try await world.waiting() == [payload(1)])
        }
    }

    @Test func `a store that cannot commit is a processing error, and nothing was taken`() async throws {
        try await LegacyWorld.run { world in
            world.store.isFailing.store(true)
            let client = try await world.connect(to: world.endpoint.port)
            try await client.write(try world.push(1).frame(.enhanced) + world.push(2).frame(.enhanced))
            #expect(try await client.answer() == [8, 1, 0, 0, 0, 1])
            world.store.isFailing.store(false)
            #expect(try await world.waiting().isEmpty)
        }
    }

    @Test func `a server that stops says which was the last it took`() async throws {
        try await LegacyWorld.run { world in
            let commit = world.store.holdNextCommit()
            let client = try await world.connect(to: world.endpoint.port)
            try await client.write(try world.push(7, payload: payload(7)).frame(.enhanced))
            await commit.reached.wait()
            async let stopped: Void = world.endpoint.shutDown()
            commit.release()
            #expect(try await client.answer() == [8, 10, 0, 0, 0, 7])
            await stopped
            #expect(try await world.waiting() == [payload(7)])
        }
    }

    @Test func `a provider that writes and hangs up has everything taken`() async throws {
        try await LegacyWorld.run { world in
            let commit = world.store.holdNextCommit()
            let client = try await world.connect(to: world.endpoint.port)
            var bytes: [UInt8] = []
            for number in 1...600 { bytes += try world.push(UInt32(number), payload: payload(number)).frame(.enhanced) }
            try await client.write(bytes)
            await commit.reached.wait()
            await client.close()
            commit.release()
            // Once the last burst is begun, stopping waits for it.
            await world.certificates.asked(times: 601)
            await world.endpoint.shutDown()
            #expect(try await world.waiting() == (1...600).map(payload))
        }
    }

    @Test func `feedback is told once`() async throws {
        try await LegacyWorld.run { world in
            // The app leaves the device and comes back, again and again.
            for _ in 1...1200 {
                _ = try await world.store.base.endRegistration(
                    device: world.device, app: world.app.id, environment: .sandbox, at: LegacyWorld.now)
                _ = try await world.store.base.register(
                    device: world.device, app: world.app.id, environment: .sandbox, at: LegacyWorld.now)
            }
            let told = try await world.connect(to: world.endpoint.feedbackPort).answer()
            #expect(told.count == 1200 * 38)
            let first = LegacyFeedback(seconds: 1_780_272_000, token: try world.token(generation: 0))
            #expect(Array(told.prefix(38)) == first.bytes)
            #expect(try await world.connect(to: world.endpoint.feedbackPort).answer().isEmpty)
        }
    }
}
