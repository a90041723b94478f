import AgentEngine
import Testing

@Suite struct DeviceTokenRequestsTests {
    @Test func `a token that is known is the answer, unless it ends`() {
        var tokens = DeviceTokenRequests()
        #expect(tokens.ask(1, known: "t", hasServer: false) == .known("t"))
        #expect(tokens.end(9) == [])
        #expect(tokens.ask(2, known: "t", hasServer: true) == .waitsForEnd)
        #expect(tokens.completeEndRequests() == DeviceTokenRequests.End(requests: [9], isTokenWanted: true))
        #expect(tokens.ask(3, known: "t", hasServer: true) == .known("t"))
    }

    @Test
    func `an end that the server cannot be asked for is given up when a token is wanted, one that it refuses is over`()
    {
        var tokens = DeviceTokenRequests()
        #expect(tokens.end(1) == [] && tokens.isEnding)
        #expect(
            tokens.failEndRequests(isRefused: false) == DeviceTokenRequests.End(requests: [1], isTokenWanted: false))
        #expect(!tokens.isEnding)
        #expect(tokens.ask(2, known: "t", hasServer: true) == .waits)
        #expect(tokens.failEndRequests(isRefused: false) == DeviceTokenRequests.End(requests: [], isTokenWanted: false))
        #expect(tokens.received("t") == [2])
        #expect(tokens.end(3) == [])
        #expect(tokens.failEndRequests(isRefused: true).requests == [3])
        #expect(tokens.ask(4, known: "t", hasServer: true) == .known("t"))
    }

    @Test func `no more requests to end the token wait than may, and none without a connection`() {
        var tokens = DeviceTokenRequests()
        for request in 1...DeviceTokenRequests.limit { #expect(tokens.end(Int64(request)) != nil) }
        #expect(tokens.end(65) == nil)
        tokens.disconnected()
        #expect(tokens.completeEndRequests().requests.isEmpty)
    }

    @Test func `each request is answered once, and no more wait than may`() {
        var tokens = DeviceTokenRequests()
        for request in 1...DeviceTokenRequests.limit {
            #expect(tokens.ask(Int64(request), known: nil, hasServer: true) == .waits)
        }
        #expect(tokens.ask(65, known: nil, hasServer: true) == .tooMany)
        #expect(tokens.ask(65, known: nil, hasServer: false) == .noServer)
        #expect(tokens.received("t").count == DeviceTokenRequests.limit)
        #expect(tokens.received("t").isEmpty)
    }

    @Test func `an app that knows another token is told unasked, one that knows none is not`() {
        var tokens = DeviceTokenRequests()
        #expect(tokens.received("first").isEmpty)
        #expect(tokens.ask(1, known: "first", hasServer: true) == .known("first"))
        #expect(tokens.received("second") == [nil])
        #expect(tokens.received("second").isEmpty)
        tokens.connected()
        #expect(tokens.received("third").isEmpty, "it has asked for nothing over this connection")
    }

    @Test func `an app that was refused hears of a token that comes after all`() {
        var tokens = DeviceTokenRequests()
        #expect(tokens.refused() == [])
        #expect(tokens.received("t").isEmpty)
        _ = tokens.ask(1, known: nil, hasServer: true)
        #expect(tokens.refused() == [1])
        #expect(tokens.received("t") == [nil])
    }

    @Test func `what waits is refused when the registration ends, and forgotten with the connection`() {
        var tokens = DeviceTokenRequests()
        _ = tokens.ask(1, known: nil, hasServer: true)
        #expect(tokens.end(9) == [1])
        _ = tokens.ask(2, known: nil, hasServer: true)
        tokens.disconnected()
        #expect(tokens.received("t").isEmpty)
    }
}
