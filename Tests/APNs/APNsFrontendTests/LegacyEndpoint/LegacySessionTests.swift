import APNsProtocol
import Testing

@testable import APNsFrontend

/// The conversation as a value: what is taken, in which order, and what the provider is told.
@Suite struct LegacySessionTests {
    private static func push(_ identifier: UInt32) -> LegacyPush {
        LegacyPush(
            identifier: identifier, token: [UInt8](repeating: 1, count: 32), payload: [0x7B, 0x7D], expiration: 1)
    }

    private static func frames(_ identifiers: some Sequence<UInt32>) -> [UInt8] {
        identifiers.flatMap { push($0).frame(.enhanced) }
    }

    private func identifiers(_ directive: LegacySession.Directive?) -> [UInt32]? {
        guard case .take(let pushes)? = directive else { return nil }
        return pushes.map(\.identifier)
    }

    @Test func `nothing is said on success, and reading goes on`() {
        var session = LegacySession()
        #expect(identifiers(session.received(Self.frames(1...3))) == [1, 2, 3])
        #expect(session.completed(.init(lastTaken: 3)) == .read)
    }

    @Test func `while a burst is outstanding nothing more is taken or read`() {
        var session = LegacySession()
        #expect(identifiers(session.received(Self.frames(1...300)))?.count == LegacySession.burst)
        #expect(session.received(Self.frames([301])) == nil)
        #expect(identifiers(session.completed(.init(lastTaken: 256))) == Array(257...301))
        #expect(session.completed(.init(lastTaken: 301)) == .read)
    }

    @Test func `an error ends the connection with its packet, and nothing after it is taken`() {
        var session = LegacySession()
        _ = session.received(Self.frames(1...3))
        let error = LegacyError(.invalidToken, identifier: 2)
        #expect(session.completed(.init(lastTaken: 1, error: error)) == .close([8, 8, 0, 0, 0, 2]))
        #expect(session.received(Self.frames([4])) == nil)
        #expect(session.inputEnded() == nil)
        #expect(session.stop() == nil)
    }

    @Test func `what came before a broken frame is taken first`() {
        var session = LegacySession()
        #expect(identifiers(session.received(Self.frames([1]) + [9])) == [1])
        #expect(session.completed(.init(lastTaken: 1)) == .close([8, 128, 0, 0, 0, 0]))
    }

    @Test func `a provider that hangs up has everything taken that had arrived`() {
        var session = LegacySession()
        #expect(identifiers(session.received(Self.frames(1...2) + [1, 0])) == [1, 2])
        #expect(session.inputEnded() == nil)
        #expect(session.completed(.init(lastTaken: 2)) == .close([]))
    }

    @Test func `a server that stops finishes what is outstanding and names the last that was taken`() {
        var session = LegacySession()
        _ = session.received(Self.frames(1...2))
        #expect(session.stop() == nil)
        #expect(session.received(Self.frames([3])) == nil)
        #expect(session.completed(.init(lastTaken: 2)) == .close([8, 10, 0, 0, 0, 2]))
    }

    @Test func `a store that stops in between is told as shutdown too`() {
        var session = LegacySession()
        _ = session.received(Self.frames(5...7))
        let outcome = LegacySession.Outcome(lastTaken: 5, error: LegacyError(.shutdown, identifier: 6))
        #expect(session.completed(outcome) == .close([8, 10, 0, 0, 0, 5]))
    }

    @Test func `a connection on which nothing was taken is stopped with identifier 0`() {
        var session = LegacySession()
        #expect(session.received([1]) == .read)
        #expect(session.stop() == .close([8, 10, 0, 0, 0, 0]))
    }
}
