import AldabaTestSupport
import DeviceChannel
import Logging
import NIOPosix
import PushCore
import Testing

@testable import AgentRuntime

@Suite(.timeLimit(.minutes(5))) struct UpstreamRefusalTests {
    @Test func `what the server refuses for good is logged with its reason`() async throws {
        let lines = Inbox<String>()
        let logger = Logger(label: "test", factory: { _ in KeepingHandler(lines: lines) })
        let delegate = MCSPushDelegate(events: { _ in }, logger: logger)
        let client = try MCSClient(
            MCSClientTarget(host: "127.0.0.1", port: 1, trust: .system), group: MultiThreadedEventLoopGroup.singleton)
        let device = try #require(DeviceID(1))
        let connection = client.connect(
            .init(device: device, secret: 2, received: []), delegate: MCSPushDelegate(events: { _ in }, logger: logger))
        delegate.upstreamRefused(
            connection, persistentID: "7", UpstreamRejection(code: 404, reason: "nobody takes aldaba.songs"))
        let line = try #require(await lines.next())
        #expect(line.hasPrefix("warning The server refused a report for good"))
        #expect(line.contains("404 nobody takes aldaba.songs"))
        connection.close()
    }
}
