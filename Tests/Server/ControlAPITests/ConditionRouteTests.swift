import AldabaTestSupport
import Networking
import PushCore
import Testing

@testable import ControlAPI
@testable import PushServer

@Suite struct ConditionRouteTests {
    private static let now = Timestamp(rawValue: 1_800_000_000_000)

    private func services(
        failure: StoreHealth.Failure? = nil, faults: [SystemFault] = [], free: Int64 = 1 << 40
    ) -> ControlServices {
        let recorder = MetricsRecorder(
            read: {
                [
                    MetricSample(.counter, "aldaba_notification_states_total", [("state", "accepted")], value: 7),
                    MetricSample(.counter, "aldaba_provider_requests_total", [("outcome", "BadTopic")], value: 2),
                ]
            }, clock: { Self.now })
        let condition = ServerCondition(
            status: ServerStatus(failure: { failure }, faults: { faults }, version: "1.2.3"), recorder: recorder,
            certificates: {
                [
                    EndingCertificate(kind: .provider, name: "B", endsAt: Self.now + .seconds(10 * 86_400)),
                    EndingCertificate(kind: .server, name: "A", endsAt: Self.now + .seconds(-1)),
                ]
            }, disk: { DiskSpace(free: free, total: 1 << 41, isReadOnly: false) })
        var services = FakeServer().services(.open)
        services.interfaces = [ConditionInterface(condition, clock: { Self.now })]
        return services
    }

    private func get(_ path: String, _ services: ControlServices) async throws -> (status: Int, json: JSONValue) {
        let answers = Inbox<(status: Int, json: JSONValue)>()
        try await withListener(.development(services)) { listener in
            let answer = try await listener.send("GET", path)
            answers.put((answer.status, try JSONValue(answer.bytes)))
        }
        let answer = await answers.next()
        return try #require(answer)
    }

    @Test func `the status has the certificates that end first, the disk and the figures`() async throws {
        let (status, json) = try await get("/v1/status", services())
        #expect(status == 200 && json["status"]?.text == "ok" && json["version"]?.text == "1.2.3")
        #expect(json["certificates"]?.items?.compactMap { $0["name"]?.text } == ["A", "B"])
        #expect(json["certificates"]?.items?.compactMap { $0["daysLeft"]?.integer } == [-1, 10])
        #expect(json["disk"]?["state"]?.text == "ok" && json["failure"] == nil)
    }

    @Test func `a status tells what fails in the words of the health`() async throws {
        let fault = SystemFault(system: "hub", file: "hub.sqlite", reason: "is damaged", remedy: "restore it")
        let degraded = try await get("/v1/status", services(faults: [fault], free: 1 << 20)).json
        #expect(degraded["status"]?.text == "degraded" && degraded["disk"]?["state"]?.text == "full")
        #expect(degraded["systems"]?.items?.first?["remedy"]?.text == "restore it")
    }

    @Test func `the history has what was counted so far, and takes two spans`() async throws {
        let (status, json) = try await get("/v1/metrics/history?span=day", services())
        #expect(status == 200 && json["step"]?.integer == 900)
        #expect(json["samples"]?.items?.first?["accepted"]?.integer == 7)
        #expect(json["samples"]?.items?.first?["refused"]?["BadTopic"]?.integer == 2)
        let refused = try await get("/v1/metrics/history?span=week", services())
        #expect(refused.status == 400 && refused.json["detail"]?.text?.contains("hour or day") == true)
    }
}
