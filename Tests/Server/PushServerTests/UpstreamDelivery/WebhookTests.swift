import AldabaTestSupport
import NIOCore
import Networking
import PushCore
import Testing

@testable import PushServer

private let now = Timestamp(seconds: 1_780_272_000)

private func waiting(_ number: Int64, device: UInt64) throws -> WaitingMessage {
    WaitingMessage(
        number: number,
        message: AppMessage(
            device: try #require(DeviceID(device)), app: AppID(rawValue: 1), team: TeamID(rawValue: "TEAM123456"),
            messageID: "m\(number)", data: [:], expiresAt: now + .seconds(60)),
        topic: Topic(rawValue: "com.example.todo"), environment: .production, generation: 0, receivedAt: now)
}

struct WebhookScheduleTests {
    @Test func `messages go in order, one after the other`() throws {
        var schedule = WebhookSchedule()
        let messages = [try waiting(1, device: 1), try waiting(2, device: 1)]
        #expect(schedule.next(of: messages, at: now) == messages[0])
        schedule.recordOutcome(.taken, of: messages[0], at: now, spread: 0)
        #expect(schedule.next(of: Array(messages.dropFirst()), at: now) == messages[1])
        #expect(schedule.rest(at: now) == nil)
    }

    @Test func `a message that is refused holds up its own device alone`() throws {
        var schedule = WebhookSchedule()
        let messages = [try waiting(1, device: 1), try waiting(2, device: 1), try waiting(3, device: 2)]
        schedule.recordOutcome(.refused, of: messages[0], at: now, spread: 0.5)
        #expect(schedule.next(of: messages, at: now) == messages[2])
        #expect(schedule.rest(at: now) == .seconds(1))
        #expect(schedule.next(of: messages, at: now + .seconds(1)) == messages[0])
        schedule.keep(only: [])
        #expect(schedule.rest(at: now) == nil)
    }

    @Test func `an endpoint that fails is left alone for longer and longer, five minutes at most`() throws {
        var schedule = WebhookSchedule()
        let message = try waiting(1, device: 1)
        var (at, rests): (Timestamp, [Duration]) = (now, [])
        for _ in 1...12 {
            schedule.recordOutcome(.failed, of: message, at: at, spread: 0.5)
            #expect(schedule.next(of: [message], at: at) == nil)
            let rest = try #require(schedule.rest(at: at))
            rests.append(rest)
            at = at + rest
            #expect(schedule.next(of: [message], at: at) == message)
        }
        #expect(rests.prefix(9).map(\.components.seconds) == [1, 2, 4, 8, 16, 32, 64, 128, 256])
        #expect(rests.suffix(3) == [.seconds(300), .seconds(300), .seconds(300)])
        schedule.recordOutcome(.taken, of: message, at: at, spread: 0)
        schedule.recordOutcome(.failed, of: message, at: at, spread: 1)
        #expect(schedule.rest(at: at) == .milliseconds(1250))
    }

    @Test(arguments: [
        (200, WebhookSchedule.Outcome.taken), (204, .taken), (299, .taken), (302, .failed), (400, .refused),
        (404, .refused), (410, .refused), (408, .failed), (425, .failed), (429, .failed), (500, .failed),
        (503, .failed),
        (100, .failed),
    ])
    func `statuses say what became of a message`(status: Int, outcome: WebhookSchedule.Outcome) {
        #expect(WebhookDispatcher.outcome(of: status) == outcome)
    }
}

struct WebhookSignatureTests {
    /// By `printf '1780272000.{"id":"m1"}' | openssl dgst -sha256 -hmac whsec_test`.
    @Test func `the signature is that of the time and the body`() {
        let value = WebhookSignature.value(secret: "whsec_test", body: Array(#"{"id":"m1"}"#.utf8), at: now)
        #expect(value == "t=1780272000,v1=ac181e9d0a963e6e79007e9578b7b056debbcfdfcc9b538c78968b1eda2221e3")
    }

    @Test func `secrets are long, and no two are alike`() {
        let secrets = (0..<100).map { _ in WebhookSignature.makeSecret() }
        #expect(Set(secrets).count == 100)
        #expect(secrets.allSatisfy { $0.hasPrefix("whsec_") && $0.count >= 40 })
    }
}

struct WebhookAddressTests {
    @Test(arguments: [
        ("https://example.com/hook?x=1", "example.com", 443), ("http://127.0.0.1:8080/", "127.0.0.1", 8080),
        ("https://[2001:db8::1]:8443/", "2001:db8::1", 8443), ("HTTPS://Example.COM", "example.com", 443),
    ])
    func `an address is read`(text: String, host: String, port: Int) throws {
        let address = try WebhookAddress(text)
        #expect(address.host == host)
        #expect(address.port == port)
    }

    @Test(arguments: [
        "", "example.com", "ftp://example.com/", "https://", "https:///path", "https://user:word@example.com/",
        "https://example.com/#part", "https://example.com:0/", "https://example.com:70000/", "https://exa mple.com/",
        "https://example.com/\r\nx: y", "https://ejemplo.españa/", "https://a%00b.example/", "https://a%20b.example/",
        "https://[]/", "https://[]:8/", "https://[a]/", "https://[1.2.3.4]/", "https://[::1%25eth0]/",
    ])
    func `what is no address is refused`(text: String) {
        #expect(throws: WebhookAddress.Fault.self) { try WebhookAddress(text) }
    }
}

/// Tells the addresses that a test gives it.
private struct FixedResolver: HostResolver {
    let found: [String]

    func addresses(of host: String, port: Int) async throws -> [SocketAddress] {
        try found.map { try SocketAddress(ipAddress: $0, port: port) }
    }
}

struct GuardedWebhookSenderTests {
    @Test(arguments: [
        ("https://a.example/", ["10.0.0.1"], "a private address"),
        ("https://a.example/", ["1.1.1.1", "127.0.0.1"], "an address of this machine"),
        ("https://a.example/", ["169.254.169.254"], "a link-local address"),
        ("https://a.example/", ["::ffff:192.168.0.1"], "a private address"),
        ("http://a.example/", ["1.1.1.1"], "https would be right"),
        ("https://a.example/", [], "has no address"),
    ])
    func `nothing is sent to where it must not go`(url: String, found: [String], words: String) async throws {
        let sender = GuardedWebhookSender(
            GuardedHTTP(allowing: [], resolver: FixedResolver(found: found)))
        let error = await #expect(throws: WebhookUnreachable.self) {
            try await sender.send([], signature: "", to: try WebhookAddress(url))
        }
        #expect(error?.description.contains(words) == true)
    }
}
