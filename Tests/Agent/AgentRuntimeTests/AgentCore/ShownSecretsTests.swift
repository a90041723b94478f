import AldabaTestSupport
import Testing

@testable import AgentRuntime

@Test func `the enrolment key is not shown with an agent's configuration`() {
    let server = AgentConfiguration.Server(host: "localhost", port: 1, controlURL: "https://localhost:1")
    let configuration = AgentConfiguration(
        dataFolder: "/data", socketPath: "/socket", server: server, enrolmentKey: "key-of-enrolment",
        environment: .sandbox)
    #expect(configuration.enrolmentKey == "key-of-enrolment")
    #expect(!shown(configuration).contains("key-of-enrolment"))
}
