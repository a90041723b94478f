import APNsProtocol
import AldabaTestSupport
import Crypto
import PushCore
import Testing

@testable import PushServer

/// What the directories of keys and apps ask the store, and how often.
@Suite(.timeLimit(.minutes(5))) struct DirectoryTests {
    private let register = CountingRegister()
    private let clock = ManualClock()
    private let team = TeamID(rawValue: "TEAM123456")
    private let key = P256.Signing.PrivateKey()

    private func token(_ keyID: String) throws -> ArraySlice<UInt8> {
        let token = try ProviderToken.make(key: key, keyID: KeyID(rawValue: keyID), team: team, issuedAt: clock.now)
        return ArraySlice("bearer \(token)".utf8)
    }

    private func addKey(_ keyID: String) {
        let key = ProviderKey(
            keyID: KeyID(rawValue: keyID), team: team, publicKeyPEM: key.publicKey.pemRepresentation,
            createdAt: clock.now)
        register.change { $0.keys.append(key) }
    }

    private func credentials() -> CredentialDirectory { CredentialDirectory(store: register, clock: clock.function) }

    private func isCredential(_ verdict: CredentialDirectory.CachedVerdict) -> Bool {
        if case .credential = verdict { return true }
        return false
    }

    private func isRefused(_ verdict: CredentialDirectory.CachedVerdict) -> Bool {
        if case .refused(let refusal, _) = verdict { return refusal.reason == .invalidProviderToken }
        return false
    }

    @Test func `ever new key ids make the store be read once as long as the register stays as it is`() async throws {
        let directory = credentials()
        for number in 0..<300 { #expect(isRefused(try await directory.find(token("UNKNOWN\(100 + number)")))) }
        #expect(register.reads == 1)
    }

    @Test func `who asks at once waits for one reading, however long it takes`() async throws {
        let directory = credentials()
        addKey("KEY1234567")
        let held = register.hold()
        let right = try token("KEY1234567")
        let wrong = try (0..<50).map { try token("UNKNOWN\(100 + $0)") }
        let first = Task { try await directory.find(right) }
        await held.entered.wait()
        clock.advance(milliseconds: 5000)
        let others = wrong.map { token in Task { try await directory.find(token) } }
        held.released.open()
        #expect(isCredential(try await first.value))
        for other in others { #expect(isRefused(try await other.value)) }
        #expect(register.reads == 1)
    }

    @Test func `a key that was added counts at once, also right after an unknown one was looked up`() async throws {
        let directory = credentials()
        #expect(isRefused(try await directory.find(token("UNKNOWN123"))))
        addKey("KEY1234567")
        guard case .needsLookUp = directory.known(try token("KEY1234567")) else {
            Issue.record("a key id is judged by a register that has changed")
            return
        }
        #expect(isCredential(try await directory.find(token("KEY1234567"))))
        #expect(register.reads == 2)
    }

    @Test func `a key that was revoked is refused at the next request of an open connection`() async throws {
        let directory = credentials()
        addKey("KEY1234567")
        let token = try token("KEY1234567")
        #expect(isCredential(try await directory.find(token)))
        var memory = CredentialDirectory.Memory()
        #expect(isCredential(directory.known(token, &memory)))
        #expect(isCredential(directory.known(token, &memory)))
        register.change { $0.keys = [] }
        guard case .needsLookUp = directory.known(token, &memory) else {
            Issue.record("a connection remembers a key of before the register changed")
            return
        }
        #expect(isRefused(try await directory.find(token)))
        #expect(isRefused(directory.known(token, &memory)))
    }

    @Test func `a reading that finds a key gone counts for open connections, though the register's version stayed`()
        async throws
    {
        let directory = credentials()
        addKey("KEY1234567")
        addKey("KEY7654321")
        try await directory.reload()
        let (gone, kept) = (try token("KEY1234567"), try token("KEY7654321"))
        var memories = [CredentialDirectory.Memory(), CredentialDirectory.Memory()]
        #expect(isCredential(directory.known(gone, &memories[0])))
        #expect(isCredential(directory.known(kept, &memories[1])))
        register.changeUntold { $0.keys.removeFirst() }
        try await directory.reload()
        #expect(isRefused(directory.known(gone, &memories[0])))
        #expect(isCredential(directory.known(kept, &memories[1])))
    }

    @Test func `a connection that shows forged signatures is soon refused without a look at them`() async throws {
        let directory = credentials()
        addKey("KEY1234567")
        try await directory.reload()
        let forger = P256.Signing.PrivateKey()
        var memory = CredentialDirectory.Memory()
        var reasons: [APNsReason] = []
        for second in 0..<40 as Range<Int64> {
            let forged = try ProviderToken.make(
                key: forger, keyID: KeyID(rawValue: "KEY1234567"), team: team,
                issuedAt: clock.now.adding(milliseconds: -second * 1000))
            guard case .refused(let refusal, _) = directory.known(ArraySlice("bearer \(forged)".utf8), &memory) else {
                Issue.record("a forged token was taken")
                return
            }
            reasons.append(refusal.reason)
        }
        #expect(reasons.count { $0 == .invalidProviderToken } == CredentialDirectory.forgeryLimit)
        #expect(reasons.last == .tooManyProviderTokenUpdates)
    }

    @Test(arguments: [false, true])
    func `a second token within 20 minutes is refused where the first one counts`(countsFirst: Bool) async throws {
        let directory = credentials()
        addKey("KEY1234567")
        try await directory.reload()
        var memory = CredentialDirectory.Memory(countsFirstToken: countsFirst)
        #expect(isCredential(directory.known(try token("KEY1234567"), &memory)))
        clock.advance(milliseconds: 19 * 60_000)
        let second = directory.known(try token("KEY1234567"), &memory)
        guard countsFirst else { return #expect(isCredential(second)) }
        guard case .refused(let refusal, _) = second else {
            Issue.record("the second token was taken")
            return
        }
        #expect(refusal.reason == .tooManyProviderTokenUpdates)
        clock.advance(milliseconds: 60_000)
        #expect(isCredential(directory.known(try token("KEY1234567"), &memory)))
    }

    @Test func `a store that cannot be read is asked once a second, and leaves the token unjudged`() async throws {
        let directory = credentials()
        addKey("KEY1234567")
        register.behave(CountingRegister.Behaviour(fails: true))
        for number in 0..<20 {
            await #expect(throws: CountingRegister.Failure.self) {
                _ = try await directory.find(token("UNKNOWN\(100 + number)"))
            }
        }
        #expect(register.reads == 1)
        register.behave(CountingRegister.Behaviour())
        clock.advance(milliseconds: 1000)
        #expect(isCredential(try await directory.find(token("KEY1234567"))))
    }

    @Test func `a token's team is not judged while the store cannot be read`() async throws {
        let directory = credentials()
        addKey("KEY1234567")
        let header = String(decoding: try token("KEY1234567"), as: UTF8.self)
        register.behave(CountingRegister.Behaviour(fails: true))
        await #expect(throws: CountingRegister.Failure.self) { _ = try await directory.team(authorization: header) }
        #expect(try await directory.team(authorization: "none") == .missing)
        register.behave(CountingRegister.Behaviour())
        clock.advance(milliseconds: 1000)
        #expect(try await directory.team(authorization: header) == .team(team))
        #expect(try await directory.team(authorization: String(header.dropLast(4)) + "AAAA") == .invalid)
        clock.advance(milliseconds: 3_600_001)
        #expect(try await directory.team(authorization: header) == .expired)
    }

    @Test func `a clock that was set back delays no reading`() async throws {
        let directory = credentials()
        register.behave(CountingRegister.Behaviour(fails: true))
        await #expect(throws: CountingRegister.Failure.self) { _ = try await directory.find(token("KEY1234567")) }
        clock.advance(milliseconds: -3_600_000)
        register.behave(CountingRegister.Behaviour())
        addKey("KEY1234567")
        #expect(isCredential(try await directory.find(token("KEY1234567"))))
    }

    // MARK: Apps

    @Test func `ever new topics make the store be read once, and a new app is found at once`() async throws {
        let directory = AppDirectory(store: register, clock: clock.function)
        for number in 0..<300 { #expect(try await directory.find(Topic(rawValue: "com.unknown\(number)")) == nil) }
        #expect(register.reads == 1)
        let app = RegisteredApp(
            id: AppID(rawValue: 1), topic: Topic(rawValue: "com.example.todo"), team: team, policy: MailboxPolicy())
        register.change { $0.apps = [app] }
        #expect(try await directory.find(app.topic) == app)
        #expect(try await directory.find(app.topic) == app)
        #expect(register.reads == 2)
    }

    @Test func `an app that was removed is gone at the next request of an open connection`() async throws {
        let app = RegisteredApp(
            id: AppID(rawValue: 1), topic: Topic(rawValue: "com.example.todo"), team: team, policy: MailboxPolicy())
        register.change { $0.apps = [app] }
        let directory = AppDirectory(store: register, clock: clock.function)
        #expect(try await directory.find(app.topic) == app)
        var memory = AppDirectory.Memory()
        let topic = ArraySlice(app.topic.rawValue.utf8)
        guard case .app = directory.known(topic, &memory) else { return #expect(Bool(false)) }
        register.change { $0.apps = [] }
        guard case .needsLookUp = directory.known(topic, &memory) else {
            Issue.record("a connection remembers an app of before the register changed")
            return
        }
        #expect(try await directory.find(app.topic) == nil)
    }

    @Test func `a reading that finds an app gone counts for open connections, though the register's version stayed`()
        async throws
    {
        let app = RegisteredApp(
            id: AppID(rawValue: 1), topic: Topic(rawValue: "com.example.todo"), team: team, policy: MailboxPolicy())
        register.change { $0.apps = [app] }
        let directory = AppDirectory(store: register, clock: clock.function)
        try await directory.reload()
        var memory = AppDirectory.Memory()
        let topic = ArraySlice(app.topic.rawValue.utf8)
        guard case .app = directory.known(topic, &memory) else { return #expect(Bool(false)) }
        register.changeUntold { $0.apps = [] }
        try await directory.reload()
        guard case .unknownTopic = directory.known(topic, &memory) else {
            Issue.record("a connection remembers an app that a reading did not find")
            return
        }
    }

    @Test func `look-ups of topics at once share one reading`() async throws {
        let directory = AppDirectory(store: register, clock: clock.function)
        let held = register.hold()
        let tasks = (0..<50).map { number in
            Task { try await directory.find(Topic(rawValue: "com.unknown\(number)")) }
        }
        await held.entered.wait()
        held.released.open()
        for task in tasks { #expect(try await task.value == nil) }
        #expect(register.reads == 1)
    }
}
