import AgentEngine
import AgentProtocol
import DeviceChannel
import PushCore
import Testing

@testable import AgentRuntime

struct UpstreamFlowTests {
    @Test func `messages go in order, eight at once, and what is confirmed makes room`() {
        var flow = UpstreamFlow()
        #expect(flow.read == nil)
        flow.sessionOpened()
        #expect(flow.read?.after == 0)
        flow.send((1...8).map { (QueuedUpstream.Place(rawValue: $0), "u\($0)") }, of: 8)
        #expect(flow.read == nil)
        flow.refused("u2", code: "404")
        flow.refused("u9", code: "404")
        #expect(flow.confirmed("u1")?.sequence == 1)
        #expect(flow.confirmed("u2")?.code == "404")
        #expect(flow.confirmed("1-7") == nil)
        #expect(flow.read?.after == 8)
        #expect(flow.read?.limit == 2)
        flow.send([], of: 2)
        #expect(flow.read == nil)
        flow.committed()
        #expect(flow.read?.after == 8)
        flow.sessionClosed()
        flow.sessionOpened()
        #expect(flow.read?.after == 0)
    }

    @Test func `what a session did not get confirmed is of the next one`() {
        var flow = UpstreamFlow()
        flow.sessionOpened()
        flow.send([(1, "u1"), (2, "u2")], of: 8)
        _ = flow.confirmed("u1")
        flow.sessionClosed()
        #expect(flow.read == nil)
        #expect(flow.confirmed("u2") == nil, "that session is over")
        flow.sessionOpened()
        #expect(flow.read?.after == 0 && flow.read?.limit == UpstreamFlow.window)
    }

    @Test func `a message is a data stanza of its app's category`() {
        let message = QueuedUpstream(
            sequence: 5, app: "com.example.todo",
            draft: UpstreamDraft(
                id: "m1", to: "42@gcm.googleapis.com", data: ["item": "milk", "count": "2"], timeToLive: 60),
            sentAt: Timestamp(rawValue: 10_000))
        let stanza = MCSDataMessageStanza(message, now: Timestamp(rawValue: 13_500))
        #expect(stanza.id == "m1")
        #expect(stanza.persistentID == "u5")
        #expect(stanza.to == "42@gcm.googleapis.com")
        #expect(stanza.category == "com.example.todo")
        #expect(stanza.ttl == 60)
        #expect(stanza.sent == 10_000)
        #expect(stanza.queued == 3)
        #expect(stanza.appData.map { "\($0.key)=\($0.value)" } == ["count=2", "item=milk"])
    }
}
