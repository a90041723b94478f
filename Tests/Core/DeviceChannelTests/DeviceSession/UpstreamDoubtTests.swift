import DeviceChannel
import Foundation
import PushCore
import Testing

/// What came upstream and was confirmed, as long as the device may not know it; and what is refused, in FCM's words.
@Suite struct UpstreamDoubtTests {
    private func live(_ name: String = "test", upstream: [String] = []) -> (MCSServerSession, [MCSPacket]) {
        var session = MCSServerSession(at: at(0))
        _ = session.received(version: 41)
        guard case .login(var request) = login() else { return (session, []) }
        request.id = name
        _ = session.received(.login(request), at: at(0))
        let told = packets(session.loginAnswered(.welcome, upstream: upstream, at: at(0)))
        return (session, told)
    }

    private func named(_ packet: MCSPacket?) -> [String]? {
        guard case .iq(let iq)? = packet, case .selective(let names)? = iq.acknowledgement else { return nil }
        return names
    }

    @Test func `what is durable and confirmed is in doubt until the device acknowledges the confirmation`() {
        var (session, _) = live()
        for name in ["a", "b"] { _ = session.received(upstream(name, category: "c"), at: at(1)) }
        #expect(session.unconfirmedUpstreamNames == [], "nothing is durable yet")
        _ = session.recorded(stream: 3, durable: true, at: at(2))
        #expect(session.unconfirmedUpstreamNames == ["b"])
        _ = session.recorded(stream: 2, durable: true, at: at(2))
        #expect(session.unconfirmedUpstreamNames == ["a", "b"], "in the order in which they came")
        _ = session.received(ping(last: 1), at: at(3))
        #expect(session.unconfirmedUpstreamNames == ["a", "b"], "that was before the confirmation")
        _ = session.received(ping(last: 2), at: at(4))
        #expect(session.unconfirmedUpstreamNames == [])
    }

    @Test func `what is refused, relayed or without a name is in no doubt`() {
        var (session, _) = live()
        _ = session.received(upstream("a", category: "c"), at: at(1))
        _ = session.refused(stream: 2, persistentID: "a", UpstreamRejection(code: 404, reason: "nobody"))
        _ = session.received(upstream("", category: "c"), at: at(1))
        _ = session.recorded(stream: 3, durable: true, at: at(2))
        _ = session.received(.relayed(MCSRelayedFrame([1])), at: at(1))
        _ = session.recorded(stream: 4, durable: true, at: at(2))
        #expect(session.unconfirmedUpstreamNames == [])
    }

    @Test func `a bounded number is kept, the newest`() {
        var (session, _) = live()
        for number in 0..<200 as Range<Int32> {
            _ = session.received(upstream("m\(number)", category: "c"), at: at(1))
            _ = session.recorded(stream: number + 2, durable: true, at: at(2))
        }
        #expect(session.unconfirmedUpstreamNames == (168..<200).map { "m\($0)" })
    }

    @Test func `the next login is told right after its answer`() {
        let (_, told) = live(upstream: ["a", "b"])
        #expect(told.map(\.tag) == [.loginResponse, .iqStanza])
        #expect(named(told.last) == ["a", "b"])
        #expect(live().1.map(\.tag) == [.loginResponse])
    }

    @Test func `Chromium is told even where there is nothing`() {
        let (_, told) = live("chrome-156.0.0.0")
        #expect(told.map(\.tag) == [.loginResponse, .iqStanza])
        #expect(named(told.last) == [])
    }

    @Test func `others than agents read a refusal as a send error too, which an agent would understand`() throws {
        let refusal = UpstreamRejection(code: 404, reason: "nobody")
        let message = UpstreamMessage(persistentID: "p", category: "com.example.todo", messageID: "m")
        let expected: [(String, [MCSTag])] = [
            ("aldaba", [.iqStanza]), ("ios-6.34", [.iqStanza, .dataMessageStanza]),
        ]
        for (name, tags) in expected {
            var (session, _) = live(name)
            _ = session.received(upstream("p", category: "com.example.todo"), at: at(1))
            let told = packets(session.refused(stream: 2, persistentID: "p", refusal, of: message))
            #expect(told.map(\.tag) == tags)
            guard case .dataMessage(var stanza)? = told.last else { continue }
            // This client has sent its login alone.
            stanza.lastStreamIDReceived = 1
            #expect(stanza.sendError?.persistentID == "p" && stanza.sendError?.refusal == refusal)
            var client = MCSClientSession(at: at(0))
            _ = client.start(MCSCredentials(device: try #require(DeviceID(4242)), secret: 99, received: []))
            _ = client.received(version: 41)
            var answer = MCSLoginResponse()
            answer.id = "x"
            _ = client.received(.loginResponse(answer), at: at(1))
            #expect(
                client.received(.dataMessage(stanza), at: at(2))
                    == [.upstreamRefused(persistentID: "p", refusal), .upstreamConfirmed(["p"])])
            let acknowledged = packets(client.readCompleted())
            #expect(acknowledged.map(\.lastStreamIDReceived) == [2], "it is acknowledged, and stored nowhere")
        }
    }

    @Test func `an agent takes what a login's answer is followed by as confirmed`() throws {
        var client = MCSClientSession(at: at(0))
        _ = client.start(MCSCredentials(device: try #require(DeviceID(4242)), secret: 99, received: []))
        _ = client.received(version: 41)
        var answer = MCSLoginResponse()
        answer.id = "x"
        _ = client.received(.loginResponse(answer), at: at(1))
        #expect(
            client.received(.iq(MCSIqStanza(.selective(["u1", "u2"]))), at: at(1))
                == [.upstreamConfirmed(["u1", "u2"])])
    }
}
