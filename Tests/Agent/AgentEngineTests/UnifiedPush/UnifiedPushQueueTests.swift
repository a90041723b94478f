import PushCore
import Testing

@testable import AgentEngine

struct UnifiedPushQueueTests {
    private static func message(_ id: Int64, isAttemptedOnce: Bool = false) -> UnifiedPushMessage {
        UnifiedPushMessage(
            id: NotificationID(rawValue: id), token: "token", service: "com.example.App", body: [1],
            isAttemptedOnce: isAttemptedOnce)
    }

    /// A queue whose first message is being delivered.
    private static func delivering(_ message: UnifiedPushMessage) -> UnifiedPushQueue {
        var queue = UnifiedPushQueue()
        #expect(queue.handle(.stored) == [.read])
        #expect(queue.handle(.read(message)) == [.deliver(message)])
        return queue
    }

    @Test func `messages go one after the other, each once its predecessor's end is stored`() {
        let (first, second) = (Self.message(1), Self.message(2))
        var queue = Self.delivering(first)
        #expect(queue.handle(.stored) == [])
        let end = queue.handle(.delivered(first.id, .taken))
        #expect(end == [.end(first.id, .handed, note: "to com.example.App by UnifiedPush")])
        #expect(queue.handle(.stored) == [])
        #expect(queue.handle(.ended) == [.read])
        #expect(queue.handle(.read(second)) == [.deliver(second)])
    }

    @Test func `an empty queue rests until something is stored`() {
        var queue = UnifiedPushQueue()
        #expect(queue.handle(.stored) == [.read])
        #expect(queue.handle(.read(nil)) == [])
        #expect(queue.handle(.stored) == [.read])
    }

    @Test(arguments: [UnifiedPushOutcome.refused(error: "org.example.Error"), .unanswered])
    func `a message that is not taken is attempted three times, after pauses that grow`(outcome: UnifiedPushOutcome) {
        let message = Self.message(1)
        var queue = Self.delivering(message)
        #expect(queue.handle(.delivered(message.id, outcome)) == [.rest(.seconds(2), 1)])
        #expect(queue.handle(.rested(1)) == [.read])
        #expect(queue.handle(.read(message)) == [.deliver(message)])
        #expect(queue.handle(.delivered(message.id, outcome)) == [.rest(.seconds(4), 2)])
        #expect(queue.handle(.rested(2)) == [.read])
        #expect(queue.handle(.read(message)) == [.deliver(message)])
        let end = queue.handle(.delivered(message.id, outcome))
        guard case .end(message.id, .failed("notTaken"), let note)? = end.first else {
            Issue.record("it did not end: \(end)")
            return
        }
        #expect(note.hasSuffix("3 attempts were made"))
    }

    @Test func `an app that cannot be reached is tried again after pauses that grow, up to ten minutes`() {
        let message = Self.message(1)
        var queue = Self.delivering(message)
        var pauses: [Duration] = []
        for number in 1...8 {
            guard
                case .rest(let pause, number)? = queue.handle(.delivered(message.id, .unreachable(reason: "gone")))
                    .last
            else {
                Issue.record("no pause \(number)")
                return
            }
            pauses.append(pause)
            #expect(queue.handle(.rested(number - 1)) == [], "an earlier pause is over")
            #expect(queue.handle(.rested(number)) == [.read])
            #expect(queue.handle(.read(message)) == [.deliver(message)])
        }
        #expect(pauses == [10, 20, 40, 80, 160, 320, 600, 600].map { .seconds($0) })
    }

    @Test func `an app that appears ends its pause`() {
        let message = Self.message(1)
        var queue = Self.delivering(message)
        _ = queue.handle(.delivered(message.id, .unreachable(reason: "gone")))
        #expect(queue.handle(.appeared) == [.read])
        #expect(queue.handle(.read(message)) == [.deliver(message)])
        #expect(queue.handle(.rested(1)) == [])
    }

    @Test func `messages for one attempt end while their app cannot be reached`() {
        let message = Self.message(1, isAttemptedOnce: true)
        var queue = Self.delivering(message)
        let pause = queue.handle(.delivered(message.id, .unreachable(reason: "it does not run")))
        #expect(pause == [.endAttemptedOnce(reason: "it does not run"), .rest(.seconds(10), 1)])
        #expect(queue.handle(.stored) == [.endAttemptedOnce(reason: "it does not run")])
    }

    @Test func `an end that is being stored is waited for when the store fails, and a reading is repeated`() {
        let message = Self.message(1)
        var queue = Self.delivering(message)
        _ = queue.handle(.delivered(message.id, .taken))
        #expect(queue.handle(.storeFailed) == [])
        #expect(queue.handle(.ended) == [.read])
        #expect(queue.handle(.storeFailed) == [.rest(.seconds(10), 1)])
        #expect(queue.handle(.rested(1)) == [.read])
    }
}
