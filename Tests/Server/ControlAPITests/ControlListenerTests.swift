import DeviceChannel
import Foundation
import HTTPTypes
import Hummingbird
import Logging
import Networking
import PushCore
import SwiftProtobuf
import Synchronization
import Testing

@testable import ControlAPI
@testable import PushServer

private let server = FakeServer()

@Test func `a new device gets its id and secret in protobuf`() async throws {
    try await withListener(.development(server.services(.open))) { listener in
        let answer = try await listener.send("POST", "/checkin", body: MCSCheckinRequest().serializedBytes())
        #expect(answer.status == 200)
        let message = try MCSCheckinResponse(serializedBytes: answer.bytes)
        #expect(message.androidID == 77)
        #expect(message.securityToken == 4711)
        #expect(message.statsOk)
        #expect(message.timeMsec == 1_800_000_000_000)
    }
}

@Test func `a new device gets its id and secret in JSON, and a known one its own again`() async throws {
    try await withListener(.development(server.services(.closed))) { listener in
        let json = ["Content-Type": "application/json"]
        let known = #"{"android_id":77,"security_token":"4711"}"#
        let answer = try await listener.send("POST", "/checkin", headers: json, body: Array(known.utf8))
        #expect(answer.status == 200)
        #expect(answer.body.contains(#""android_id":77"#) && answer.body.contains(#""security_token":4711"#))
        let new = try await listener.send("POST", "/checkin", headers: json, body: Array("{}".utf8))
        #expect(new.status == 401)
    }
}

@Test(arguments: [
    (nil, 401), ("Enrol wrong", 401), ("Enrol ", 401), ("Bearer key-of-enrolment", 401),
    ("Enrol key-of-enrolment", 200), ("enrol key-of-enrolment", 200),
])
func `a new device enrols with the key only`(authorization: String?, status: Int) async throws {
    try await withListener(.development(server.services(.key(Secret("key-of-enrolment"))))) { listener in
        let headers = authorization.map { ["Authorization": $0] } ?? [:]
        let answer = try await listener.send("POST", "/checkin", headers: headers, body: [])
        #expect(answer.status == status)
        if status == 401 { #expect(answer.body.contains(#""code":"notAuthorized""#)) }
    }
}

@Test func `a known device with a wrong secret is refused, whatever key it shows`() async throws {
    try await withListener(.development(server.services(.key(Secret("k"))))) { listener in
        var message = MCSCheckinRequest()
        message.id = 77
        message.securityToken = 1
        let body: [UInt8] = try message.serializedBytes()
        let answer = try await listener.send("POST", "/checkin", headers: ["Authorization": "Enrol k"], body: body)
        #expect(answer.status == 401)
    }
}

@Test func `garbage and too large a body are refused as JSON`() async throws {
    try await withListener(.development(server.services(.open))) { listener in
        let garbage = try await listener.send("POST", "/checkin", body: [0xff, 0xff, 0xff])
        #expect(garbage.status == 400)
        let large = try await listener.send("POST", "/checkin", body: Array(repeating: 0, count: 65_537))
        #expect(large.status == 413)
        for answer in [garbage, large] { #expect(answer.body.hasPrefix(#"{"error":{"code":"#)) }
    }
}

@Test(arguments: [
    (
        "AidLogin 77:4711", "app=com.example.todo&sender=TEAM000001&X-environment=sandbox", 200,
        "token=\(FakeServer.token)"
    ),
    ("AidLogin 77:4711", "app=com.example.todo&sender=TEAM000001", 200, "token=" + String(repeating: "cd", count: 32)),
    ("AidLogin 77:4711", "app=com%2Eexample.todo&delete=true", 200, "token=com.example.todo"),
    ("AidLogin 77:1", "app=com.example.todo&sender=TEAM000001", 401, "Error=AUTHENTICATION_FAILED"),
    ("AidLogin 77", "app=com.example.todo&sender=TEAM000001", 401, "Error=AUTHENTICATION_FAILED"),
    ("Basic 77:4711", "app=com.example.todo&sender=TEAM000001", 401, "Error=AUTHENTICATION_FAILED"),
    ("AidLogin 77:4711", "app=com.example.other&sender=TEAM000001", 400, "Error=INVALID_SENDER"),
    ("AidLogin 77:4711", "app=com.example.todo&sender=short", 400, "Error=INVALID_SENDER"),
    ("AidLogin 77:4711", "app=com.example.todo", 400, "Error=INVALID_SENDER"),
    ("AidLogin 77:4711", "sender=TEAM000001", 400, "Error=INVALID_PARAMETERS"),
    ("AidLogin 77:4711", "app=a%20b&sender=TEAM000001", 400, "Error=INVALID_PARAMETERS"),
    ("AidLogin 77:4711", "app=com.example.todo&sender=TEAM000001&X-environment=moon", 400, "Error=INVALID_PARAMETERS"),
    ("AidLogin 77:4711", "app=com.example.todo&delete=true&scope=%2A&X-scope=%2A", 200, "token=com.example.todo"),
    ("AidLogin 77:4711", "app=com.example.todo&delete=true&X-scope=storage", 400, "Error=INVALID_PARAMETERS"),
    ("AidLogin 77:4711", "app=com.example.todo&delete=true&X-gcm.topic=/topics/a", 400, "Error=INVALID_PARAMETERS"),
    ("AidLogin 77:4711", "app=com.example.todo&sender=TEAM000001&scope=fcm", 400, "Error=INVALID_PARAMETERS"),
])
func `a registration is answered as the interface's clients read it`(
    authorization: String, form: String, status: Int, body: String
) async throws {
    try await withListener(.development(server.services(.open))) { listener in
        let answer = try await listener.send(
            "POST", "/c2dm/register3", headers: ["Authorization": authorization], body: Array(form.utf8))
        #expect(answer.status == status)
        #expect(answer.body == body)
    }
}

@Test func `a timeline is a list with every state, its time and source`() async throws {
    try await withListener(.development(server.services(.open))) { listener in
        let answer = try await listener.send("GET", "/v1/notifications/5")
        #expect(answer.status == 200)
        #expect(
            answer.body == """
                [{"apnsId":"an-id","device":"77","environment":"sandbox","id":"5","recorded":true,\
                "team":"TEAM000001","timeline":[{"at":"2027-01-15T08:00:00.123Z","note":"away",\
                "source":"server","state":"dropped(offline)"}],"topic":"t"}]
                """)
    }
}

/// What a router hands to a middleware.
private struct TestContext: RequestContext {
    struct Source: RequestContextSource {
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
    }

    var coreContext: CoreRequestContextStorage

    init(source: Source) { coreContext = CoreRequestContextStorage(source: source) }
}

/// Who asks over TLS for which notification, and the answer's status with its error's code.
private let askers: [(authorization: String?, id: String, status: Int, code: String?)] = [
    ("bearer good", "5", 200, nil),
    ("bearer foreign", "5", 404, "notFound"),
    ("bearer good", "6", 404, "notFound"),
    ("bearer bad", "5", 401, "notAuthorized"),
    ("bearer old", "5", 401, "notAuthorized"),
    (nil, "5", 401, "notAuthorized"),
    ("bearer unknowable", "5", 503, "unavailable"),
]

@Test(arguments: askers, [HTTPRequest.Method.get, .delete])
func `over TLS a timeline and a withdrawal need the team's provider token`(
    _ asker: (authorization: String?, id: String, status: Int, code: String?), method: HTTPRequest.Method
) async throws {
    let (authorization, id, status, code) = asker
    let route = NotificationsRoute(
        timelines: server, withdrawal: server, access: ProviderAccess(authentication: server))
    let fields = authorization.map { HTTPFields(dictionaryLiteral: (.authorization, $0)) } ?? HTTPFields()
    let request = Request(
        head: .init(
            method: method, scheme: "https", authority: "localhost", path: "/v1/notifications/\(id)",
            headerFields: fields),
        body: .init(buffer: .init()))
    let answer = try await ErrorAnswers<TestContext>().handle(
        request, context: TestContext(source: TestContext.Source())
    ) { request, _ in
        try await method == .get
            ? route.respond(request, reference: id) : route.withdraw(request, reference: id)
    }
    #expect(answer.status.code == status)
    let body = try await text(of: answer)
    if let code {
        #expect(body.hasPrefix(#"{"code":"\#(code)","detail":"#))
        #expect(body.hasSuffix(#""status":\#(status),"title":"\#(answer.status.reasonPhrase)","type":"about:blank"}"#))
        #expect(answer.headers[.contentType] == "application/problem+json")
    }
}

/// The body of an answer that was not sent.
private func text(of answer: Response) async throws -> String {
    let collector = BodyCollector()
    try await answer.body.write(collector)
    return collector.text
}

/// Keeps what a body writes.
private final class BodyCollector: ResponseBodyWriter {
    private let bytes = Mutex<[UInt8]>([])

    var text: String { bytes.withLock { String(decoding: $0, as: UTF8.self) } }

    func write(_ buffer: ByteBuffer) async throws { bytes.withLock { $0 += buffer.readableBytesView } }

    func finish(_ trailingHeaders: HTTPFields?) async throws {}
}

@Test(arguments: [
    (WithdrawalOutcome.withdrawn, #"[{"apnsId":"an-id","device":"77","id":"5","outcome":"withdrawn"}]"#),
    (.mayHaveArrived, #"[{"apnsId":"an-id","device":"77","id":"5","outcome":"asked"}]"#),
    (.ended, #"[{"apnsId":"an-id","device":"77","id":"5","outcome":"ended"}]"#),
])
func `a withdrawal says what became of each notification`(outcome: WithdrawalOutcome, body: String) async throws {
    var server = FakeServer()
    server.outcome = outcome
    try await withListener(.development(server.services(.open))) { listener in
        let answer = try await listener.send("DELETE", "/v1/notifications/5")
        #expect(answer.status == 200 && answer.body == body)
        #expect(try await listener.send("DELETE", "/v1/notifications/6").status == 404)
    }
}

@Test(arguments: ["GET", "DELETE"], [("team000001", 200), ("TEAM000001", 200), ("team000002", 404), ("nobody", 404)])
func `a notification may be named as FCM's door names it`(method: String, row: (project: String, status: Int))
    async throws
{
    try await withListener(.development(server.services(.open))) { listener in
        let path = "/v1/notifications/projects%2F\(row.project)%2Fmessages%2F5"
        let answer = try await listener.send(method, path)
        #expect(answer.status == row.status)
        #expect(try await listener.send(method, path + "%2F").status == 404)
    }
}

@Test(arguments: ["/v1/projects/team000001/messages:send", "/v1beta1/projects/team000001/androidApps/t/none"])
func `what is not there is said in Google's form under the paths of its interfaces`(path: String) async throws {
    try await withListener(.development(server.services(.open))) { listener in
        let answer = try await listener.send("GET", path)
        #expect(answer.status == 404)
        #expect(
            answer.body
                == #"{"error":{"code":404,"message":"there is nothing of that name here","status":"NOT_FOUND"}}"#)
    }
}

@Test func `a withdrawal that the store does not take may be tried again`() async throws {
    var server = FakeServer()
    server.outcome = .failed
    try await withListener(.development(server.services(.open))) { listener in
        let answer = try await listener.send("DELETE", "/v1/notifications/5")
        #expect(answer.status == 503 && answer.body.contains(#""code":"unavailable""#))
    }
}

@Test func `unknown and foreign notifications get the same answer`() async throws {
    try await withListener(.development(server.services(.open))) { listener in
        let unknown = try await listener.send("GET", "/v1/notifications/6")
        #expect(unknown.status == 404)
        #expect(unknown.body.hasPrefix(#"{"code":"notFound","detail":"#))
        #expect(try await listener.send("GET", "/v1/nowhere").body == unknown.body)
        #expect(try await listener.send("GET", "/nowhere").body.hasPrefix(#"{"error":{"code":"notFound","message":"#))
    }
}

@Test func `a plain listener answers to loopback names and its own origin only`() async throws {
    try await withListener(.development(server.services(.open))) { listener in
        #expect(try await listener.send("GET", "/health").status == 200)
        let own = ["Host": "localhost:\(listener.port)", "Origin": "http://localhost:\(listener.port)"]
        #expect(try await listener.send("GET", "/health", headers: own).status == 200)
        for headers in [["Host": "evil.example:\(listener.port)"], ["Origin": "http://evil.example"]] {
            let answer = try await listener.send("GET", "/health", headers: headers)
            #expect(answer.status == 403)
            #expect(answer.body.contains(#""code":"forbidden""#))
        }
    }
}

@Test(arguments: [("/health", 200), ("/v1/notifications/5", 200), ("/v1/notifications/6", 404), ("/checkin", 404)])
func `HEAD is answered by header fields alone, and the next request by its own answer`(
    path: String, status: Int
) async throws {
    try await withListener(.development(server.services(.open))) { listener in
        let host = "Host: 127.0.0.1:\(listener.port)\r\n"
        let text = try await RawExchange.answer(
            to: "HEAD \(path) HTTP/1.1\r\n\(host)\r\nGET /health HTTP/1.1\r\n\(host)Connection: close\r\n\r\n",
            port: listener.port)
        let answers = text.split(separator: "HTTP/1.1 ")
        #expect(answers.count == 2)
        #expect(answers.first?.hasPrefix("\(status) ") == true)
        #expect(answers.first?.hasSuffix("\r\n\r\n") == true)
        #expect(answers.last?.hasPrefix("200 ") == true)
        #expect(answers.last?.hasSuffix(#"{"status":"ok"}"#) == true)
    }
}

@Test func `metrics are Prometheus text`() async throws {
    let registry = PrometheusRegistry()
    registry.makeCounter(label: "c", dimensions: []).increment(by: 3)
    try await withListener(.metrics(registry, ServerStatus(failure: { nil }))) { listener in
        let answer = try await listener.send("GET", "/metrics")
        #expect(answer.status == 200)
        #expect(answer.body.contains("c_total 3\n"))
        #expect(try await listener.send("GET", "/checkin").status == 404)
    }
}

@Test(arguments: [true, false])
func `health says since when and why the store fails, with a status that says so too`(isMetrics: Bool) async throws {
    struct Full: StoreFailure { let reason = "database or disk is full" }
    let health = StoreHealth()
    let interface: ControlListener.Interface =
        isMetrics
        ? .metrics(PrometheusRegistry(), ServerStatus(failure: { health.failure }))
        : .development(server.services(.open, health: health))
    try await withListener(interface) { listener in
        #expect(try await listener.send("GET", "/health").body == #"{"status":"ok"}"#)
        health.failed(Full(), at: Timestamp(rawValue: 1_800_000_000_123))
        let failing = try await listener.send("GET", "/health")
        #expect(failing.status == 503 && failing.retryAfter == "5")
        #expect(
            failing.body
                == #"{"reason":"database or disk is full","since":"2027-01-15T08:00:00.123Z","status":"failing"}"#)
        health.committed(at: Timestamp(rawValue: 1_800_000_005_123))
        #expect(try await listener.send("GET", "/health").status == 200)
    }
}
