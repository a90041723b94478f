import Testing

@testable import AgentRuntime

/// What the kernel says of the network, in the bytes of rtnetlink(7).
struct NetworkEventReaderTests {
    private func message(_ kind: UInt8, _ body: [UInt8], length: UInt8? = nil) -> [UInt8] {
        [length ?? UInt8(16 + body.count), 0, 0, 0, kind, 0] + [UInt8](repeating: 0, count: 10) + body
    }

    private func link(_ number: UInt8, carries: Bool, isLoopback: Bool = false) -> [UInt8] {
        message(16, [0, 0, 0, 0, number, 0, 0, 0, isLoopback ? 8 : 0, 0, carries ? 1 : 0, 0, 0, 0, 0, 0])
    }

    private func address(scope: UInt8) -> [UInt8] { message(20, [2, 24, 0, scope, 2, 0, 0, 0]) }
    private func route(scope: UInt8) -> [UInt8] { message(24, [2, 0, 0, 0, 254, 3, scope, 1, 0, 0, 0, 0]) }

    /// Of each of the news, one after the other, whether they are a return.
    private func returns(_ news: [[UInt8]]) -> [Bool] {
        var reader = NetworkEventReader()
        return news.map { reader.indicatesNetworkReturn($0) }
    }

    @Test func `an address or a route that leads elsewhere is a return`() {
        #expect(returns([address(scope: 0), address(scope: 253), address(scope: 254)]) == [true, false, false])
        #expect(returns([route(scope: 0), route(scope: 253)]) == [true, false])
        #expect(returns([address(scope: 254) + address(scope: 0)]) == [true])
    }

    @Test func `a link is a return when it carries and did not`() {
        let gone = message(17, [0, 0, 0, 0, 2, 0, 0, 0])
        let (up, down) = (link(2, carries: true), link(2, carries: false))
        #expect(returns([link(1, carries: true, isLoopback: true)]) == [false])
        #expect(returns([up, up, down, up, gone, up]) == [true, false, false, true, false, true])
    }

    @Test(arguments: [[], [1, 2, 3], [255, 255, 255, 255], [UInt8](repeating: 0, count: 64)] as [[UInt8]])
    func `bytes that are no news are none`(bytes: [UInt8]) {
        let tooLong = message(20, [2, 24, 0, 0], length: 200)
        #expect(returns([bytes, tooLong + bytes, message(20, [2, 24]) + bytes]) == [false, false, false])
    }

    @Test func `the kernel's news are listened to, and no more once that is over`() {
        let network = KernelNetwork()
        network.start {}
        network.stop()
        network.stop()
    }
}
