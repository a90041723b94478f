import PushCore
import Testing
import WebPushProtocol

@testable import PushServer

/// A connection whose buffer is full before its session is open.
@Suite(.timeLimit(.minutes(2))) struct AutopushChokedTests {
    @Test func `a connection that takes nothing before its session is open gets nothing from its mailbox`() async throws
    {
        try await withBrowsers { world in
            let id = try await world.enrolled(4242, channelID(1))
            world.gateway.base.accept([pushed(1, to: channelID(1))], for: id.device)
            let browser = try await world.connect()
            await browser.setWritable(false)
            #expect(try await browser.hello(id) == id)
            await browser.run()
            world.gateway.base.accept([pushed(2, to: channelID(1), stored: false)], for: id.device)
            await browser.run()
            #expect(browser.versions.isEmpty)
            #expect(world.gateway.told.notSent.map(\.rawValue) == [2])
            await browser.setWritable(true)
            #expect(browser.versions == [1])
        }
    }
}
