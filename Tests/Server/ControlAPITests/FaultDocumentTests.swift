import PushCore
import PushServer
import Testing

@testable import ControlAPI

@Suite struct FaultDocumentTests {
    private func fault(_ json: String) throws -> Fault { try FaultDocument.fault(Array(json.utf8)) }

    @Test(arguments: [
        (#"{"status":429}"#, 429, ""), (#"{"reason":"Unregistered"}"#, 410, "Unregistered"),
        (#"{"reason":"UNREGISTERED"}"#, 404, "UNREGISTERED"), (#"{"status":418,"reason":"Teapot"}"#, 418, "Teapot"),
    ])
    func `a reply has a status, a reason or both`(json: String, status: Int, reason: String) throws {
        let reply = try #require(try fault(json).reply)
        #expect(reply.status == status)
        #expect(reply.reason ?? "" == reason)
    }

    @Test func `every member is read and shown`() throws {
        let json = #"""
            {"interface":"fcm","token":"t","app":"a","team":"T","namespace":"n","path":"/v1","connection":2,"skip":1,
            "times":0,"rate":0.5,"seed":9,"status":503,"retryAfter":3,"delay":20,"unprocessed":false}
            """#
        let fault = try fault(json)
        #expect(fault.selection.interface == .fcm)
        #expect(fault.pace.seed == 9)
        #expect(!fault.isUnprocessed)
        let shown = FaultDocument.json(fault).json
        #expect(
            shown
                == #"{"id":"0","action":"answer","interface":"fcm","token":"t","app":"a","team":"T","namespace":"n","#
                + #""path":"/v1","connection":2,"status":503,"retryAfter":3,"delay":20,"unprocessed":false,"skip":1,"#
                + #""times":0,"rate":0.5,"seed":9,"matched":0,"used":0}"#)
    }

    @Test func `a delay alone is an action, and HTTP/2's actions are those of APNs`() throws {
        #expect(try fault(#"{"delay":5}"#).action == .delay)
        #expect(try fault(#"{"action":"goaway"}"#).selection.interface == .apns)
    }

    @Test(arguments: [
        ("[]", "the body is no JSON object"), ("{}", "needs a status"), (#"{"stauts":429}"#, "stauts is unknown"),
        (#"{"status":"429"}"#, "status must be a whole number from 200 to 599"),
        (#"{"reason":"Nothing"}"#, "is no reason of APNs"), (#"{"action":"explode"}"#, "action must be one of answer"),
        (#"{"action":"goaway","interface":"fcm"}"#, "HTTP/2"), (#"{"action":"delay"}"#, "delay must be"),
        (#"{"status":204}"#, "200, or from 400 to 599"),
        (#"{"interface":"apns-binary","status":500}"#, "has no faults"),
        (#"{"action":"silence","status":503}"#, "go with the action answer"),
        (#"{"action":"expired-certificate","token":"x"}"#, "no request is known yet"),
        (#"{"status":500,"rate":2}"#, "rate must be"), (#"{"retryAfter":3}"#, "retryAfter needs"),
        (#"{"status":500,"unprocessed":1}"#, "unprocessed must be true or false"),
        (#"{"token":7}"#, "token must be a string"),
    ])
    func `a fault that cannot be read is refused with what would be right`(json: String, message: String) {
        let error = #expect(throws: ControlError.self) { try fault(json) }
        #expect(error?.message.contains(message) == true)
    }

    @Test(arguments: [
        ("90s", 90), ("15m", 900), ("12h", 43_200), ("28d", 2_419_200), ("1d12h", 129_600), ("1w", 604_800),
    ])
    func `a time is read`(text: String, seconds: Int) { #expect(TestDuration.read(text) == .seconds(seconds)) }

    @Test(arguments: ["", "d", "28", "-1d", "1.5h", "0s", "4000d", "99999999999999d"])
    func `a time that is none is refused`(text: String) { #expect(TestDuration.read(text) == nil) }
}

@Suite struct ProviderRequestTests {
    /// A path, and what it tells.
    struct PathCase: Sendable {
        var path: String
        var interface: ReceivedRequest.Interface
        var namespace: String?
        var token: String?
    }

    @Test(arguments: [
        PathCase(path: "/v1/projects/my-app/messages:send", interface: .fcm, namespace: "my-app"),
        PathCase(
            path: "/v1/projects/my-app/registrations/tok/topicSubscriptions", interface: .topics, namespace: "my-app",
            token: "tok"),
        PathCase(path: "/iid/v1:batchAdd", interface: .topics),
        PathCase(path: "/iid/info/tok", interface: .topics, token: "tok"),
        PathCase(path: "/fcm/send", interface: .legacyFCM),
        PathCase(path: "/fcm/send/tok", interface: .webPush, token: "tok"),
        PathCase(path: "/wp/tok", interface: .webPush, token: "tok"),
        PathCase(path: "/fcm/notification", interface: .groups), PathCase(path: "/token", interface: .oauth),
    ])
    func `a path tells interface, project and token`(sample: PathCase) throws {
        let request = try #require(ProviderRequest(.post, path: sample.path))
        #expect(request.interface == sample.interface)
        #expect(request.parties.namespace == sample.namespace)
        #expect(request.parties.token == sample.token)
    }

    @Test(arguments: ["/", "/v1/received", "/v1/notifications/1", "/checkin", "/v1/projects/p/installations"])
    func `requests of others are not recorded`(path: String) {
        #expect(ProviderRequest(.post, path: path) == nil)
    }

    @Test func `no assertion and no access token is kept`() throws {
        var request = try #require(ProviderRequest(.post, path: "/token"))
        let body = request.recorded(Array("grant_type=x&assertion=eyJ.secret".utf8))
        #expect(String(decoding: body, as: UTF8.self) == "grant_type=x&assertion=…")
        let answer = request.recordedAnswer(Array(#"{"access_token":"secret","expires_in":3599}"#.utf8))
        #expect(String(decoding: answer, as: UTF8.self) == #"{"access_token":"…","expires_in":3599}"#)
    }
}
