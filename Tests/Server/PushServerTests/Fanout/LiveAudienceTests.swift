import PushCore
import PushServer
import Testing

@Suite struct LiveAudienceTests {
    private let topic = TopicNumber(rawValue: 1)
    private let other = TopicNumber(rawValue: 2)

    private func device(_ number: UInt64) throws -> DeviceID { try #require(DeviceID(number)) }

    @Test func `the members of a topic are due once, in slices, however many broadcasts there are`() throws {
        var live = LiveAudience()
        let members = try (1...10).map { try device($0) }
        for member in members { live.connected(member, topics: [topic]) }
        live.connected(try device(11), topics: [other])
        for _ in 0..<5 { live.published([topic]) }
        var seen: [DeviceID] = []
        while live.hasDue {
            let slice = live.next(3)
            #expect(slice.count <= 3)
            seen += slice
        }
        #expect(seen == members, "by their numbers, which is how stores keep what they have")
    }

    @Test func `a round over many has each once, in runs that rise`() throws {
        var live = LiveAudience()
        let members = try (1...20_000).map { try device($0) }
        for member in members { live.connected(member, topics: [topic]) }
        live.published([topic])
        var seen: [DeviceID] = []
        while live.hasDue { seen += live.next(512) }
        #expect(seen.count == members.count && Set(seen) == Set(members))
        #expect(zip(seen, seen.dropFirst()).count { $0 > $1 } <= 2)
    }

    @Test func `who left the topic or the connection is not due`() throws {
        var live = LiveAudience()
        live.connected(try device(1), topics: [topic])
        live.connected(try device(2), topics: [topic])
        live.connected(try device(3), topics: [topic, other])
        live.connected(try device(1), topics: [])
        live.disconnected(try device(2))
        live.published([topic])
        #expect(live.next(10) == [try device(3)])
        #expect(!live.hasDue)
        #expect(live.count == 2)
    }

    @Test func `a broadcast for everyone has all connected devices due`() throws {
        var live = LiveAudience()
        for number in 1...4 { live.connected(try device(UInt64(number)), topics: []) }
        live.published([.everyone])
        #expect(live.next(10).count == 4)
    }

    @Test func `a broadcast during a round begins another one`() throws {
        var live = LiveAudience()
        for number in 1...4 { live.connected(try device(UInt64(number)), topics: [topic]) }
        live.published([topic])
        #expect(live.next(2).count == 2)
        live.published([topic])
        var rest: [DeviceID] = []
        while live.hasDue { rest += live.next(2) }
        #expect(rest.count == 6)
    }
}
