import APNsProtocol
import AldabaTestSupport
import PushCore
import Testing

@testable import PushServer

/// What is remembered of device tokens, and what a registration's change makes of it.
@Suite(.timeLimit(.minutes(5))) struct TokenDirectoryTests {
    private let register = CountingRegister()
    private let tokens: TokenDirectory
    private let end = Timestamp(seconds: 1_780_272_000)

    init() throws {
        let keys = [[UInt8](repeating: 1, count: 32), [UInt8](repeating: 2, count: 32)]
        tokens = TokenDirectory(store: register, sealer: try #require(DeviceTokenSealer(keys: keys)))
    }

    private func subject(
        _ device: UInt64 = 7, generation: UInt16 = 0, _ environment: PushEnvironment = .sandbox
    ) throws -> TokenSubject {
        TokenSubject(
            cell: 0, device: try #require(DeviceID(device)), app: AppID(rawValue: 1), environment: environment,
            generation: generation)
    }

    private func active(_ generation: UInt16 = 0) -> Registration {
        Registration(generation: generation, endedAt: nil, previousEndedAt: generation == 0 ? nil : end)
    }

    private var ended: Registration { Registration(generation: 0, endedAt: end, previousEndedAt: nil) }

    /// What the store holds, told to the directory as the enrolment does.
    private func change(_ registration: Registration, of subject: TokenSubject) throws {
        register.changeRegistrations { $0.registration = registration }
        try tokens.registrationIs(registration, of: subject)
    }

    @Test func `the end of a registration is known at once, under earlier keys' tokens too`() async throws {
        let subject = try subject()
        register.changeRegistrations { $0.registration = active() }
        let every = try tokens.sealer.everyToken(of: subject)
        #expect(every.count == 2)
        for token in every { #expect(try await tokens.find(token) == .active(subject)) }
        try change(ended, of: subject)
        for token in every {
            #expect(tokens.known(token) == .needsLookUp)
            #expect(try await tokens.find(token) == .ended(end))
        }
    }

    @Test func `many tokens are read at once, each with its own answer, and remembered`() async throws {
        register.changeRegistrations { $0.registration = active(1) }
        let subjects = [try subject(7, generation: 1), try subject(8), try subject(7, generation: 1)]
        let stranger = try #require(DeviceToken(bytes: [UInt8](repeating: 3, count: 32)))
        let sealed = try subjects.map { try tokens.sealer.seal($0) }
        let found = try await tokens.find([sealed[0], stranger, sealed[1], sealed[2]])
        #expect(found == [.active(subjects[0]), .bad, .ended(end), .active(subjects[0])])
        #expect(register.reads == 1)
        #expect(sealed.map(tokens.known) == [.active(subjects[0]), .ended(end), .active(subjects[0])])
        #expect(try await tokens.find([stranger]) == [.bad])
        #expect(register.reads == 1)
    }

    @Test func `a change forgets nothing of other registrations`() async throws {
        let mine = try subject()
        let others = [try subject(8), try subject(7, .production)]
        register.changeRegistrations { $0.registration = active() }
        for subject in [mine] + others { _ = try await tokens.find(tokens.sealer.seal(subject)) }
        try change(ended, of: mine)
        for other in others { #expect(tokens.known(try tokens.sealer.seal(other)) == .active(other)) }
        #expect(tokens.known(try tokens.sealer.seal(mine)) == .needsLookUp)
    }

    @Test func `registering again with the same outcome forgets nothing`() async throws {
        let subject = try subject()
        let token = try tokens.sealer.seal(subject)
        register.changeRegistrations { $0.registration = active() }
        _ = try await tokens.find(token)
        try change(active(), of: subject)
        #expect(tokens.known(token) == .active(subject))
        try change(ended, of: subject)
        _ = try await tokens.find(token)
        try change(ended, of: subject)
        #expect(tokens.known(token) == .ended(end))
        #expect(register.reads == 2)
    }

    @Test(arguments: [0, 1] as [UInt16])
    func `a token that was refused is taken once its generation is registered`(generation: UInt16) async throws {
        let subject = try subject(generation: generation)
        let token = try tokens.sealer.seal(subject)
        register.changeRegistrations { $0.registration = generation == 0 ? nil : ended }
        #expect(try await tokens.find(token) == .bad)
        #expect(tokens.known(token) == .bad)
        try change(active(generation), of: subject)
        #expect(tokens.known(token) == .needsLookUp)
        #expect(try await tokens.find(token) == .active(subject))
        #expect(tokens.known(token) == .active(subject))
    }

    @Test func `the token of an earlier generation stays ended`() async throws {
        let token = try tokens.sealer.seal(subject())
        register.changeRegistrations { $0.registration = ended }
        #expect(try await tokens.find(token) == .ended(end))
        try change(active(1), of: subject(generation: 1))
        #expect(tokens.known(token) == .ended(end))
        #expect(try await tokens.find(token) == .ended(end))
    }

    @Test func `an answer read before a change is never kept after it`() async throws {
        let subject = try subject()
        let other = try self.subject(8)
        let token = try tokens.sealer.seal(subject)
        let otherToken = try tokens.sealer.seal(other)
        register.changeRegistrations { $0.registration = active() }
        let held = register.hold()
        async let early = tokens.find(token)
        await held.entered.wait()
        let heldToo = register.hold()
        async let unconcerned = tokens.find(otherToken)
        await heldToo.entered.wait()
        try change(ended, of: subject)
        held.released.open()
        heldToo.released.open()
        #expect(try await early == .active(subject))
        #expect(tokens.known(token) == .needsLookUp)
        #expect(try await unconcerned == .active(other))
        #expect(tokens.known(otherToken) == .active(other))
        #expect(try await tokens.find(token) == .ended(end))
        #expect(tokens.known(token) == .ended(end))
    }

    @Test func `a look-up that begins after a change is kept although an older one is still on its way`() async throws {
        let subject = try subject()
        let token = try tokens.sealer.seal(subject)
        register.changeRegistrations { $0.registration = active() }
        let held = register.hold()
        async let early = tokens.find(token)
        await held.entered.wait()
        try change(ended, of: subject)
        register.changeRegistrations { $0.behaviour = CountingRegister.Behaviour() }
        #expect(try await tokens.find(token) == .ended(end))
        #expect(tokens.known(token) == .ended(end))
        held.released.open()
        #expect(try await early == .active(subject))
        #expect(tokens.known(token) == .ended(end))
    }

    @Test func `a store that cannot be read leaves nothing behind`() async throws {
        let subject = try subject()
        let token = try tokens.sealer.seal(subject)
        register.changeRegistrations { $0.behaviour.fails = true }
        await #expect(throws: CountingRegister.Failure.self) { _ = try await tokens.find(token) }
        #expect(tokens.known(token) == .needsLookUp)
        register.changeRegistrations { contents in
            contents.behaviour.fails = false
            contents.registration = active()
        }
        #expect(try await tokens.find(token) == .active(subject))
    }
}
