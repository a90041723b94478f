import NIOCore
import NIOEmbedded
import Testing

@testable import AgentEngine
@testable import AgentRuntime

struct AppConnectionLimiterTests {
    @Test func `who says nothing makes room for who comes, and who has spoken stays`() throws {
        let limiter = AppConnectionLimiter(limit: 2)
        let (first, second, third, fourth) = (
            EmbeddedChannel(), EmbeddedChannel(), EmbeddedChannel(), EmbeddedChannel()
        )
        let all = [first, second, third, fourth]
        for channel in all { try channel.connect(to: SocketAddress(unixDomainSocketPath: "/x")).wait() }
        #expect(limiter.enter(first) && limiter.enter(second))
        limiter.markActive(first)
        #expect(limiter.enter(third))
        #expect(all.map(\.isActive) == [true, false, true, true])
        limiter.leave(second)
        limiter.markActive(third)
        #expect(!limiter.enter(fourth))
        limiter.leave(first)
        #expect(limiter.enter(fourth))
    }
}
