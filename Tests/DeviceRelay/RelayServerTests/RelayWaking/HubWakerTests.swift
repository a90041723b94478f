import HubProtocol
import HubServer
import PushCore
import RelayProtocol
import Synchronization
import Testing

@testable import RelayServer

@Suite struct HubWakerTests {
    final class Sender: PushSender {
        let verdicts: Mutex<[PushVerdict?]>
        let pushes = Mutex<[HubPush]>([])

        init(_ verdicts: [PushVerdict?]) { self.verdicts = Mutex(verdicts) }

        func deliver(_ pushes: [HubPush], of hub: HubRecord) async -> [PushVerdict?] {
            self.pushes.withLock { $0 += pushes }
            return pushes.map { _ in verdicts.withLock { $0.isEmpty ? PushVerdict(.success) : $0.removeFirst() } }
        }
    }

    final class Time: Sendable {
        let now = Mutex<Int64>(0)
        func pass(_ duration: Duration) {
            let (seconds, fraction) = duration.components
            now.withLock { $0 += seconds * 1000 + fraction / 1_000_000_000_000_000 }
        }
    }

    let time = Time()

    private func wake(
        _ channel: RelayWakeChannel, _ sender: Sender, until deadline: Int64 = 60_000, hub: String = "phones"
    ) async -> RelayWakeResult {
        let record = HubRecord(
            number: 1, name: "phones", team: TeamID(rawValue: "ALDABADEMO"), topic: Topic(rawValue: "com.example.todo"),
            isStrict: false, createdAt: Timestamp(rawValue: 0))
        let waker = HubWaker(
            hub: hub, of: { $0 == record.name ? record : nil }, senders: [channel.service: sender],
            clock: { [time] in Timestamp(rawValue: time.now.withLock { $0 }) }, sleep: { [time] in time.pass($0) })
        return await withCheckedContinuation { continuation in
            waker.wake(channel, until: Timestamp(rawValue: deadline)) { continuation.resume(returning: $0) }
        }
    }

    @Test("A push says that something waits, and until when, and shows nothing")
    func push() throws {
        let apns = HubWaker.push(
            RelayWakeChannel(service: .apns, token: "aa", environment: .sandbox), until: Timestamp(rawValue: 61_500))
        #expect(
            String(decoding: apns.body, as: UTF8.self)
                == #"{"aps":{"content-available":1},"aldaba":{"relay":"wake","until":"61500"}}"#)
        #expect(apns.headers["apns-push-type"] == "background" && apns.headers["apns-priority"] == "5")
        #expect(apns.headers["apns-expiration"] == "61" && apns.headers["apns-collapse-id"] == "aldaba.relay")
        #expect(apns.platform == .apns && apns.environment == .sandbox && apns.channel == .handle("aa"))
        let fcm = HubWaker.push(RelayWakeChannel(service: .fcm, token: "t"), until: Timestamp(rawValue: 61_500))
        #expect(
            String(decoding: fcm.body, as: UTF8.self)
                == #"{"message":{"data":{"aldaba.relay":"wake","aldaba.until":"61500"},"#
                + #""android":{"priority":"HIGH"}}}"#)
        #expect(fcm.platform == .fcmv1 && fcm.environment == nil)
    }

    @Test("A push is tried again as the push service says, and as long as it is of use")
    func again() async {
        let channel = RelayWakeChannel(service: .apns, token: "aa")
        let late = PushVerdict(.unavailable, reason: "TooManyRequests", retryAfter: 4_000)
        let patient = Sender([late, nil, PushVerdict(.success)])
        #expect(await wake(channel, patient) == .sent)
        #expect(time.now.withLock { $0 } == 5_000 && patient.pushes.withLock { $0.count } == 3)
        let hasty = Sender([late])
        #expect(await wake(channel, hasty, until: 8_000) == .failed(reason: "TooManyRequests"))
        #expect(hasty.pushes.withLock { $0.count } == 1)
        let endless = Sender([nil, nil, nil, nil, nil, nil])
        #expect(await wake(channel, endless) == .failed(reason: "the push service could not be asked"))
        #expect(endless.pushes.withLock { $0.count } == HubWaker.attempts)
    }

    @Test(
        "What the push service says of the channel is told",
        arguments: [
            (PushVerdict(.success), RelayWakeResult.sent),
            (
                PushVerdict(.expiredChannel, diedAt: Timestamp(rawValue: 1), reason: "Unregistered"),
                .dead(reason: "Unregistered")
            ),
            (PushVerdict(.wrongToken, reason: "BadEnvironment"), .failed(reason: "BadEnvironment")),
            (PushVerdict(.invalidCredentials), .failed(reason: "InvalidCredentials")),
        ])
    func verdicts(verdict: PushVerdict, outcome: RelayWakeResult) async {
        #expect(await wake(RelayWakeChannel(service: .fcm, token: "t"), Sender([verdict])) == outcome)
    }

    @Test("Without the hub nothing is sent")
    func noHub() async {
        let sender = Sender([])
        let outcome = await wake(RelayWakeChannel(service: .apns, token: "aa"), sender, hub: "other")
        #expect(outcome == .failed(reason: "there is no hub other") && sender.pushes.withLock { $0.isEmpty })
    }
}
