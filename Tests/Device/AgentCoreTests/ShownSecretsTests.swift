import AldabaTestSupport
import DeviceModel
import PushModel
import Testing

@testable import AgentCore
@testable import DeviceLink
@testable import DeviceStore

@Test func `neither the enrolment key nor the device's secret is shown with an agent's parts`() async throws {
    let server = AgentConfiguration.Server(host: "localhost", port: 1, controlURL: "https://localhost:1")
    let configuration = AgentConfiguration(
        dataFolder: "/data", socketPath: "/socket", server: server, enrolmentKey: "key-of-enrolment",
        environment: .sandbox)
    #expect(configuration.enrolmentKey == "key-of-enrolment")
    let client = try HTTPEnrolmentClient(
        controlURL: server.controlURL, certificateAuthorityFile: nil, enrolmentKey: configuration.enrolmentKey)
    for text in [shown(configuration), shown(client)] { #expect(!text.contains("key-of-enrolment")) }
    await client.close()
    let identity = shown(DeviceIdentity(device: try #require(DeviceID(77)), secret: 987_654_321))
    #expect(identity.contains("77") && !identity.contains("987654321"))
}
