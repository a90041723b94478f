import AgentEngine
import AldabaTestSupport
import PushCore
import Testing

@Test func `a device's secret is not shown with its identity`() throws {
    let text = shown(DeviceIdentity(device: try #require(DeviceID(77)), secret: 987_654_321))
    #expect(text.contains("77") && !text.contains("987654321"))
}
