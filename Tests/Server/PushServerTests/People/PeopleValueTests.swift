import NIOCore
import Networking
import PushCore
import PushServer
import StoreMemory
import Testing

private let cheap = PasswordHash.Cost(rounds: 2, blockSize: 1, parallelism: 1)
private let now = Timestamp(seconds: 1_780_272_000)

@Suite struct PasswordHashTests {
    @Test func `a hash is read back, and matches its password alone`() throws {
        let hash = try PasswordHash(of: "correct horse battery", cost: cheap)
        let again = try #require(PasswordHash(text: hash.text))
        #expect(again == hash)
        #expect(hash.text.hasPrefix("scrypt$2$1$1$"))
        #expect(again.matches("correct horse battery"))
        #expect(!again.matches("correct horse batterz"))
        #expect(!again.matches(""))
    }

    @Test func `two hashes of one password differ`() throws {
        let first = try PasswordHash(of: "correct horse battery", cost: cheap)
        #expect(try PasswordHash(of: "correct horse battery", cost: cheap) != first)
    }

    @Test func `composed and decomposed letters are the same`() throws {
        #expect(try PasswordHash(of: "contrase\u{F1}a larga", cost: cheap).matches("contrasen\u{303}a larga"))
    }

    @Test(arguments: [
        "", "scrypt", "bcrypt$2$1$1$AA$AA", "scrypt$3$1$1$AA$AA", "scrypt$1073741824$8$1$AAAA$AAAA",
        "scrypt$2$1$1$AA$AA",
    ])
    func `other texts are no hashes`(_ text: String) { #expect(PasswordHash(text: text) == nil) }

    @Test func `a password has twelve characters at least`() {
        #expect(PasswordHash.fault(in: "elevenchars") == .short)
        #expect(PasswordHash.fault(in: "twelve chars") == nil)
        #expect(PasswordHash.fault(in: String(repeating: "a", count: 1025)) == .long)
    }
}

@Suite struct LogInThrottleTests {
    private let here = ClientAddress(try? SocketAddress(ipAddress: "192.0.2.1", port: 0))
    private let there = ClientAddress(try? SocketAddress(ipAddress: "198.51.100.1", port: 0))

    @Test func `who fails waits longer and longer`() {
        var throttle = LogInThrottle()
        for count in 0..<5 {
            #expect(throttle.pause(name: "ada", address: here, isKnown: true, at: now) == 0, "\(count)")
            throttle.noteFailure(name: "ada", address: here, isKnown: true, at: now)
        }
        #expect(throttle.pause(name: "ada", address: here, isKnown: true, at: now) == 1000)
        throttle.noteFailure(name: "ada", address: here, isKnown: true, at: now)
        #expect(throttle.pause(name: "ada", address: here, isKnown: true, at: now) == 2000)
        #expect(throttle.pause(name: "ada", address: here, isKnown: true, at: now + .seconds(2)) == 0)
        for _ in 0..<40 { throttle.noteFailure(name: "ada", address: here, isKnown: true, at: now) }
        #expect(throttle.pause(name: "ada", address: here, isKnown: true, at: now) == 900_000)
    }

    @Test func `failures elsewhere do not keep a person out of a network that is known`() {
        var throttle = LogInThrottle()
        for _ in 0..<500 { throttle.noteFailure(name: "ada", address: there, isKnown: false, at: now) }
        #expect(throttle.pause(name: "ada", address: here, isKnown: true, at: now) == 0)
        // Elsewhere guesses at one name are limited, whatever number of networks they come from.
        #expect(throttle.pause(name: "ada", address: here, isKnown: false, at: now) == 60_000)
    }

    @Test func `a network that guesses at many names waits`() {
        var throttle = LogInThrottle()
        for number in 0..<20 { throttle.noteFailure(name: "person\(number)", address: here, isKnown: false, at: now) }
        #expect(throttle.pause(name: "another", address: here, isKnown: false, at: now) > 0)
        #expect(throttle.pause(name: "another", address: there, isKnown: false, at: now) == 0)
    }

    @Test func `success forgets the failures of the person there`() {
        var throttle = LogInThrottle()
        for _ in 0..<6 { throttle.noteFailure(name: "ada", address: here, isKnown: true, at: now) }
        throttle.noteSuccess(name: "ada", address: here, isKnown: true)
        #expect(throttle.pause(name: "ada", address: here, isKnown: true, at: now) == 0)
    }

    @Test func `log-ins that succeed are no failures of their network`() {
        var throttle = LogInThrottle()
        for number in 0..<100 {
            throttle.noteFailure(name: "person\(number)", address: here, isKnown: false, at: now)
            throttle.noteSuccess(name: "person\(number)", address: here, isKnown: false)
        }
        #expect(throttle.pause(name: "ada", address: here, isKnown: false, at: now) == 0)
        #expect(throttle.count == 0)
    }

    @Test func `failures are forgotten after an hour, and the table is bounded`() {
        var throttle = LogInThrottle(limit: 100)
        for _ in 0..<10 { throttle.noteFailure(name: "ada", address: here, isKnown: true, at: now) }
        #expect(throttle.pause(name: "ada", address: here, isKnown: true, at: now + .seconds(3601)) == 0)
        for number in 0..<1000 { throttle.noteFailure(name: "p\(number)", address: there, isKnown: true, at: now) }
        #expect(throttle.count <= 100)
    }
}

@Suite struct PeopleServiceTests {
    private let store = MemoryStore()
    private let service: PeopleService
    private let origin = PeopleService.Origin(
        address: try? SocketAddress(ipAddress: "192.0.2.1", port: 0), agent: "Browser")

    init() { service = PeopleService(store: store, checks: PasswordChecks(cost: cheap), clock: { now }) }

    private func owner() async throws -> Person {
        let link = try await service.makeLink(for: nil, lasting: PersonLink.setUp)
        return try #require(try await service.setUp(link, name: "ada", password: "correct horse battery"))
    }

    private func begin(_ password: String, ending earlier: OneSecret? = nil) async throws -> OneSecret? {
        let outcome = try await service.logIn(
            name: "Ada", password: password, from: origin, endingSession: earlier)
        guard case .begun(let secret, _) = outcome else { return nil }
        return secret
    }

    @Test func `a link makes the first owner, once`() async throws {
        let link = try await service.makeLink(for: nil, lasting: PersonLink.setUp)
        let person = try await service.setUp(link, name: "ada", password: "correct horse battery")
        #expect(person?.isOwner == true)
        #expect(try await service.setUp(link, name: "eve", password: "correct horse battery") == nil)
        let other = try await service.makeLink(for: nil, lasting: PersonLink.setUp)
        #expect(try await service.setUp(other, name: "eve", password: "correct horse battery") == nil)
    }

    @Test func `a link that has expired makes nobody`() async throws {
        let link = try await service.makeLink(for: nil, lasting: .zero)
        #expect(try await service.setUp(link, name: "ada", password: "correct horse battery") == nil)
        #expect(try await store.people().isEmpty)
    }

    @Test func `a session goes on until it ends or the person's roles change`() async throws {
        var person = try await owner()
        let secret = try #require(try await begin("correct horse battery"))
        #expect(try await service.isCurrent(secret, memberships: person.memberships))
        #expect(try await !service.isCurrent(OneSecret(), memberships: person.memberships))
        let before = person.memberships
        person.memberships.append(PersonMembership(.reader, team: TeamID(rawValue: "TEAM123456")))
        _ = try await store.changePerson(person)
        #expect(try await !service.isCurrent(secret, memberships: before))
        _ = try await store.endSession(secret.hash)
        #expect(try await !service.isCurrent(secret, memberships: person.memberships))
    }

    @Test func `a log-in begins a session, and ends the one before`() async throws {
        _ = try await owner()
        #expect(try await begin("wrong horse battery") == nil)
        let first = try #require(try await begin("correct horse battery"))
        #expect(try await service.session(first)?.1.name == "ada")
        let second = try #require(try await begin("correct horse battery", ending: first))
        #expect(second.text != first.text)
        #expect(try await service.session(first) == nil)
        #expect(try await service.session(OneSecret()) == nil)
    }

    @Test func `a new password ends the sessions`() async throws {
        let ada = try await owner()
        let session = try #require(try await begin("correct horse battery"))
        let link = try await service.makeLink(for: ada.id, lasting: PersonLink.setUp)
        _ = try await service.setUp(link, name: "", password: "another long password")
        #expect(try await service.session(session) == nil)
        #expect(try await begin("another long password") != nil)
    }

    @Test func `a session ends after twelve hours without a request`() {
        let session = ConsoleSession(
            hash: [1], person: PersonID(rawValue: "a"), createdAt: now, confirmedAt: now, usedAt: now, address: "",
            agent: "")
        #expect(!session.isOver(at: now + .seconds(12 * 3600)))
        #expect(session.isOver(at: now + .seconds(12 * 3600 + 1)))
    }
}
