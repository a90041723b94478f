import PushCore
import Testing

@testable import LinuxDesktop

/// What waits for the thread of the bus connection.
struct CommandQueueTests {
    private func update(_ id: Int64, _ body: String = "") -> CommandQueue.Command {
        var changed = presentation(id)
        changed.body = body
        return .update(changed)
    }

    /// What waits, in words.
    private func take(_ queue: CommandQueue) -> [String] {
        queue.take().map { command in
            switch command {
            case .update(let presentation): "update \(presentation.notification.rawValue) \(presentation.body)"
            case .withdraw(let id): "withdraw \(id.rawValue)"
            case .stop: "stop"
            default: "another"
            }
        }
    }

    @Test func `what is asked for is taken in order, once`() throws {
        let queue = try #require(CommandQueue())
        #expect(queue.put(.withdraw(NotificationID(rawValue: 1))) && queue.put(update(2, "a")) && queue.put(.stop))
        #expect(take(queue) == ["withdraw 1", "update 2 a", "stop"])
        #expect(take(queue) == [])
    }

    @Test func `of the updates of one notification the newest waits, behind what was asked for before it`() throws {
        let queue = try #require(CommandQueue())
        #expect(queue.put(update(1, "a")) && queue.put(update(2, "b")))
        #expect(queue.put(.withdraw(NotificationID(rawValue: 3))) && queue.put(update(1, "c")))
        #expect(take(queue) == ["update 2 b", "withdraw 3", "update 1 c"])
    }

    @Test func `a full queue refuses all but updates and the stop, and updates fill none`() throws {
        let queue = try #require(CommandQueue())
        #expect(queue.put(update(1)))
        let withdrawal = CommandQueue.Command.withdraw(NotificationID(rawValue: 1))
        let beginning = CommandQueue.Command.start([], events: { _ in })
        for _ in 0..<CommandQueue.limit { #expect(queue.put(beginning)) }
        #expect(!queue.put(beginning))
        for _ in CommandQueue.limit..<CommandQueue.orderLimit { #expect(queue.put(withdrawal)) }
        #expect(!queue.put(withdrawal))
        #expect(queue.put(update(2)) && queue.put(.stop))
        #expect(take(queue).count == CommandQueue.orderLimit + 3)
        #expect(queue.put(withdrawal))
    }

    @Test func `beyond their limit the oldest update goes`() throws {
        let queue = try #require(CommandQueue())
        for number in 0...CommandQueue.updateLimit { #expect(queue.put(update(Int64(number)))) }
        let waiting = take(queue)
        #expect(waiting.count == CommandQueue.updateLimit)
        #expect(waiting.first == "update 1 " && waiting.last == "update \(CommandQueue.updateLimit) ")
    }
}
