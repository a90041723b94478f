import Foundation
import RelayProtocol
import Testing

@testable import RelayAgent

@Suite struct DirectKeysTests {
    private func keys(_ pair: RelaySealsTests.Pair) throws -> (a: DirectKeys, b: DirectKeys) {
        (try #require(pair.a.direct), try #require(pair.b.direct))
    }

    @Test("A device of the account knows who announced itself, and nobody else does")
    func announcements() throws {
        let (a, b) = try keys(RelaySealsTests.Pair())
        let salt = [UInt8](repeating: 7, count: DirectKeys.saltLength)
        #expect(a.peer(salt: salt, tag: b.tag(salt: salt)) == "b")
        #expect(a.peer(salt: salt, tag: a.tag(salt: salt)) == nil)
        let other = [UInt8](repeating: 8, count: DirectKeys.saltLength)
        #expect(a.peer(salt: other, tag: b.tag(salt: salt)) == nil)
        #expect(b.tag(salt: other) != b.tag(salt: salt))
        let stranger = try keys(RelaySealsTests.Pair())
        #expect(a.peer(salt: salt, tag: stranger.b.tag(salt: salt)) == nil)
        #expect(a.peer(salt: [], tag: []) == nil)
    }

    @Test("Two devices prove their keys to each other, and read what the other says in its order")
    func sessions() throws {
        let (a, b) = try keys(RelaySealsTests.Pair())
        let id = UUID()
        var begun = try #require(a.begin(id, with: "b"))
        var answer = try #require(b.answer(begun.message))
        #expect(answer.peer == "a" && answer.connection == id)
        let finished = begun.handshake.finish(answer.message)
        var session = try #require(finished)
        let route = RelayRoute(peer: "", id: UUID(), deadline: 5, body: [1, 2])
        let first = try session.seal(.live)
        let second = try session.seal(.route(number: 1, route))
        #expect(throws: (any Error).self) { try answer.session.open(second + [0]) }
        #expect(try answer.session.open(first) == .live)
        #expect(throws: (any Error).self) { try answer.session.open(first) }
        #expect(try answer.session.open(second) == .route(number: 1, route))
        #expect(try session.open(try answer.session.seal(.taken(upTo: 1))) == .taken(upTo: 1))
    }

    @Test("A connection that carried much goes on with new keys, in both directions")
    func newKeys() throws {
        let (a, b) = try keys(RelaySealsTests.Pair())
        var begun = try #require(a.begin(UUID(), with: "b"))
        var answer = try #require(b.answer(begun.message))
        let finished = begun.handshake.finish(answer.message)
        var session = try #require(finished)
        session.limit = NoiseLimit(messages: 3, bytes: 1000)
        answer.session.limit = session.limit
        for number in Int64(1)...20 {
            let size = number == 5 ? 2000 : 2
            let route = RelayRoute(peer: "", id: UUID(), deadline: 5, body: [UInt8](repeating: 1, count: size))
            #expect(
                try answer.session.open(try session.seal(.route(number: number, route)))
                    == .route(number: number, route))
            #expect(try session.open(try answer.session.seal(.taken(upTo: number))) == .taken(upTo: number))
        }
        session.limit = .standard
        let old = try session.seal(.live)
        #expect(throws: (any Error).self) { try answer.session.open(old) }
    }

    @Test("Whoever has not the key that the account signed is not answered, and not believed")
    func strangers() throws {
        let (a, b) = try keys(RelaySealsTests.Pair())
        let stranger = try keys(RelaySealsTests.Pair())
        let begun = try #require(stranger.a.begin(UUID(), with: "b"))
        #expect(b.answer(begun.message) == nil)
        #expect(b.answer([]) == nil)
        #expect(b.answer([UInt8](repeating: 0, count: 200)) == nil)
        var own = try #require(a.begin(UUID(), with: "b"))
        #expect(b.answer(own.message + [UInt8](repeating: 0, count: 600)) == nil)
        #expect(own.handshake.finish([UInt8](repeating: 9, count: 48)) == nil)
        #expect(a.begin(UUID(), with: "c") == nil)
    }
}
