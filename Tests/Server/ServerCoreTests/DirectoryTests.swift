import APNsWire
import AldabaTestSupport
import Crypto
import Mailbox
import PushModel
import Testing

@testable import ServerCore

/// What the directories of keys and apps ask the store, and how often.
@Suite(.timeLimit(.minutes(1))) struct DirectoryTests {
    private let register = CountingRegister()
    private let clock = ManualClock()
    private let team = TeamID(rawValue: "TEAM123456")
    private let key = P256.Signing.PrivateKey()

    private func token(_ keyID: String) throws -> ArraySlice<UInt8> {
        let token = try ProviderToken.make(key: key, keyID: keyID, team: team, issuedAt: clock.now)
        return ArraySlice("bearer \(token)".utf8)
    }

    private func addKey(_ keyID: String) {
        let key = ProviderKey(
            keyID: keyID, team: team, publicKeyPEM: key.publicKey.pemRepresentation, createdAt: clock.now)
        register.change { $0.keys.append(key) }
    }

    private func credentials() -> CredentialDirectory { CredentialDirectory(store: register, clock: clock.function) }

    private func isCredential(_ knowledge: CredentialDirectory.Knowledge) -> Bool {
        if case .credential = knowledge { return true }
        return false
    }

    private func isRefused(_ knowledge: CredentialDirectory.Knowledge) -> Bool {
        if case .refused(let refusal) = knowledge { return refusal.reason == .invalidProviderToken }
        return false
    }

    @Test func `ever new key ids make the store be read once a second`() async throws {
        let directory = credentials()
        for second in 1...3 {
            for number in 0..<100 {
                #expect(isRefused(try await directory.find(token("UNKNOWN\(100 + number)"))))
            }
            #expect(register.reads == second)
            clock.advance(milliseconds: 1000)
        }
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
        #expect(register.reads <= 2)
    }

    @Test func `a key that was added is found at once after a quiet second, and within one otherwise`() async throws {
        let directory = credentials()
        addKey("KEY1234567")
        #expect(isCredential(try await directory.find(token("KEY1234567"))))
        addKey("LATER12345")
        clock.advance(milliseconds: 999)
        #expect(isRefused(try await directory.find(token("LATER12345"))))
        guard case .refused = directory.known(try token("LATER12345")) else {
            Issue.record("what the last reading did not find is asked for again")
            return
        }
        clock.advance(milliseconds: 1)
        guard case .notAskedYet = directory.known(try token("LATER12345")) else {
            Issue.record("a key id is refused although the second is over")
            return
        }
        #expect(isCredential(try await directory.find(token("LATER12345"))))
        #expect(register.reads == 2)
    }

    @Test func `a store that cannot be read is asked once a second, and leaves the token unjudged`() async throws {
        let directory = credentials()
        addKey("KEY1234567")
        register.change { $0.behaviour.fails = true }
        for number in 0..<20 {
            await #expect(throws: CountingRegister.Failure.self) {
                _ = try await directory.find(token("UNKNOWN\(100 + number)"))
            }
        }
        #expect(register.reads == 1)
        register.change { $0.behaviour.fails = false }
        clock.advance(milliseconds: 1000)
        #expect(isCredential(try await directory.find(token("KEY1234567"))))
    }

    @Test func `a token's team is not judged while the store cannot be read`() async throws {
        let directory = credentials()
        addKey("KEY1234567")
        let header = String(decoding: try token("KEY1234567"), as: UTF8.self)
        register.change { $0.behaviour.fails = true }
        await #expect(throws: CountingRegister.Failure.self) { _ = try await directory.team(authorization: header) }
        #expect(try await directory.team(authorization: "none") == .missing)
        register.change { $0.behaviour.fails = false }
        clock.advance(milliseconds: 1000)
        #expect(try await directory.team(authorization: header) == .team(team))
        #expect(try await directory.team(authorization: String(header.dropLast(4)) + "AAAA") == .invalid)
        clock.advance(milliseconds: 3_600_001)
        #expect(try await directory.team(authorization: header) == .expired)
    }

    @Test func `a clock that was set back delays no reading`() async throws {
        let directory = credentials()
        #expect(isRefused(try await directory.find(token("KEY1234567"))))
        clock.advance(milliseconds: -3_600_000)
        addKey("KEY1234567")
        #expect(isCredential(try await directory.find(token("KEY1234567"))))
    }

    // MARK: Apps

    @Test func `ever new topics make the store be read once a second, and a new app is found after it`() async throws {
        let directory = AppDirectory(store: register, clock: clock.function)
        for second in 1...3 {
            for number in 0..<100 { #expect(try await directory.find(Topic(rawValue: "com.unknown\(number)")) == nil) }
            #expect(register.reads == second)
            clock.advance(milliseconds: 1000)
        }
        let app = RegisteredApp(
            id: AppID(rawValue: 1), topic: Topic(rawValue: "com.example.todo"), team: team, policy: MailboxPolicy())
        register.change { $0.apps = [app] }
        #expect(try await directory.find(app.topic) == app)
        #expect(register.reads == 4)
        #expect(try await directory.find(app.topic) == app)
        #expect(register.reads == 4)
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
