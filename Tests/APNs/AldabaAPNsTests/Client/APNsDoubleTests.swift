import Foundation
import Logging
import Testing

@testable import AldabaAPNs

@Suite(.timeLimit(.minutes(1))) struct APNsDoubleTests {
    private let notification = APNsNotification(
        pushType: .alert, bundleID: "com.example.app", payload: Array(#"{"aps":{"alert":"Hello"}}"#.utf8))

    private func double(_ change: (inout APNsOptions) -> Void = { _ in }) -> APNsDouble {
        var options = APNsOptions()
        options.logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        change(&options)
        return APNsDouble(options: options)
    }

    @Test func `a notification is accepted and recorded`() async throws {
        let double = double()
        guard case .accepted(let id, _) = try await double.send(notification, to: "aa") else {
            Issue.record("not accepted")
            return
        }
        let request = try #require(double.requests.first)
        #expect(request.target == "aa" && request.payload == notification.payload)
        #expect(request.fields["apns-id"] == id.uuidString.lowercased())
    }

    @Test(arguments: [
        (
            APNsDouble.Fault.answer(status: 429, reason: "TooManyRequests"),
            APNsResult.retryAfter(.seconds(60), .tooManyRequests)
        ),
        (.tokenDead(since: Date(timeIntervalSince1970: 5)), .tokenDead(since: Date(timeIntervalSince1970: 5))),
    ])
    func `a refusal is for one device alone`(fault: APNsDouble.Fault, result: APNsResult) async throws {
        let double = double()
        double.add(fault, for: "bb")
        let other = try await double.send(notification, to: "aa")
        let first = try await double.send(notification, to: "bb")
        let second = try await double.send(notification, to: "bb")
        #expect(first == result)
        for accepted in [other, second] {
            if case .accepted = accepted { continue } else { Issue.record("\(accepted)") }
        }
    }

    @Test(arguments: [(APNsDouble.Fault.goAway, [1, 2]), (.refuseStream, [1, 1])])
    func `what was not processed is sent again`(fault: APNsDouble.Fault, connections: [Int]) async throws {
        let double = double()
        double.add(fault)
        guard case .accepted = try await double.send(notification, to: "aa") else {
            Issue.record("not accepted")
            return
        }
        #expect(double.requests.map(\.connection) == connections)
        #expect(Set(double.requests.map { $0.fields["apns-id"] }).count == 1)
    }

    @Test func `a cut connection is not knowing`() async throws {
        let double = double()
        double.add(.cut)
        let error = await #expect(throws: APNsSendError.self) { try await double.send(notification, to: "aa") }
        #expect(error?.cause == .connectionLost && error?.mayHaveBeenProcessed == true)
    }

    @Test func `silence ends at the deadline, and a delay before it`() async throws {
        let double = double { $0.deadline = .milliseconds(300) }
        double.add(.silence, for: "aa")
        double.add(.delay(.milliseconds(1)), for: "bb")
        let error = await #expect(throws: APNsSendError.self) { try await double.send(notification, to: "aa") }
        #expect(error?.cause == .deadline)
        guard case .accepted = try await double.send(notification, to: "bb") else {
            Issue.record("not accepted")
            return
        }
    }

    @Test func `one stream at a time still sends everything`() async throws {
        let double = double { $0.maximumConnections = 1 }
        double.add(.oneStream)
        try await withThrowingTaskGroup(of: APNsResult.self) { group in
            for number in 0..<100 { group.addTask { try await double.send(notification, to: "0\(number)") } }
            for try await result in group { if case .accepted = result { continue } else { Issue.record("\(result)") } }
        }
        #expect(double.requests.count == 100)
    }

    @Test func `a broadcast has a channel and no topic`() async throws {
        let double = double()
        let activity = APNsNotification.liveActivity(try .update(state: ["score": 2]), bundleID: "com.example.app")
        _ = try await double.publish(activity, on: "Y2hhbm5lbA==")
        let fields = try #require(double.requests.first).fields
        #expect(fields[":path"] == "/4/broadcasts/apps/com.example.app")
        #expect(fields["apns-channel-id"] == "Y2hhbm5lbA==" && fields["apns-expiration"] == "0")
        #expect(fields["apns-topic"] == nil && fields["apns-push-type"] == "liveactivity")
        #expect(try await double.publish(activity, on: "") == .fixConfiguration(.init(rawValue: "MissingChannelId")))
    }
}
