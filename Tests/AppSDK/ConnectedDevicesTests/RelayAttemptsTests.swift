import Testing

@testable import ConnectedDevices

@Suite struct RelayAttemptsTests {
    @Test("After an end and another start, the end of the earlier connection changes nothing")
    func restart() throws {
        var attempts = RelayAttempts()
        let (began, repeated) = (attempts.start(), attempts.start())
        let first = try #require(began)
        #expect(repeated == nil)
        let isWelcome = attempts.welcome(first)
        #expect(isWelcome && attempts.isOpen)
        attempts.stop()
        #expect(!attempts.isOpen && !attempts.counts(first))
        let beganAgain = attempts.start()
        let second = try #require(beganAgain)
        #expect(second != first && !attempts.hasTried)
        let isWelcomeAgain = attempts.welcome(second)
        #expect(isWelcomeAgain)
        let (hasEnded, next) = (attempts.end(first), attempts.next(after: first))
        #expect(!hasEnded && next == nil)
        #expect(attempts.isOpen && attempts.counts(second))
    }

    @Test("A connection that is lost is made again, once")
    func again() throws {
        var attempts = RelayAttempts()
        let began = attempts.start()
        let first = try #require(began)
        let hasEnded = attempts.end(first)
        #expect(hasEnded && attempts.hasTried && !attempts.isOpen)
        let (next, repeated) = (attempts.next(after: first), attempts.next(after: first))
        let second = try #require(next)
        #expect(repeated == nil)
        let isWelcome = attempts.welcome(second)
        #expect(isWelcome)
    }

    @Test("An end while the next attempt is awaited leaves it unmade, and the next start makes one alone")
    func pause() throws {
        var attempts = RelayAttempts()
        let began = attempts.start()
        let first = try #require(began)
        let hasEnded = attempts.end(first)
        #expect(hasEnded)
        attempts.stop()
        let afterStop = attempts.next(after: first)
        #expect(afterStop == nil)
        let beganAgain = attempts.start()
        let second = try #require(beganAgain)
        let late = attempts.next(after: first)
        #expect(late == nil)
        let (isStale, isWelcome) = (attempts.welcome(first), attempts.welcome(second))
        #expect(!isStale && isWelcome)
    }
}
