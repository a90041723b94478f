import NIOCore
import PushCore
import Synchronization

/// The calls to all connections of one event loop, in order. Thread-safe.
///
/// One batch of the mailbox service concerns many connections; its calls share one task on the loop and one wake-up of
/// the loop's thread.
final class DeviceCallQueue: Sendable {
    /// A call that is made on the loop.
    enum Call: Sendable {
        case deliver(DeviceConnectionPort, [OutgoingNotification])
        case relay(DeviceConnectionPort, RelayedFrame)
        case other(@Sendable () -> Void)
    }

    let eventLoop: any EventLoop
    private let calls = Mutex<[Call]>([])

    init(eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// The number of queued calls.
    var count: Int { calls.withLock { $0.count } }

    /// Adds a call after those that were added before.
    func add(_ call: Call) {
        let isFirst = calls.withLock { calls in
            calls.append(call)
            return calls.count == 1
        }
        if isFirst { eventLoop.execute { self.run() } }
    }

    private func run() {
        let due = calls.withLock { calls in
            defer { calls = [] }
            return calls
        }
        // Frames that are relayed to a connection are written together.
        var relaying: [DeviceConnectionPort] = []
        for call in due {
            switch call {
            case .deliver(let port, let notifications): port.deliverOnLoop(notifications)
            case .relay(let port, let frame):
                frame.complete(port.relayOnLoop(frame))
                if relaying.last !== port { relaying.append(port) }
            case .other(let body): body()
            }
        }
        for port in relaying { port.settleOnLoop() }
    }
}

/// A frame that another device sends to the device of a connection.
struct RelayedFrame: Sendable {
    var bytes: [UInt8]
    var isBulk: Bool
    /// Called with the outcome, on the connection's event loop.
    var complete: @Sendable (RelayWriteResult) -> Void
}

/// The call queues of an endpoint's event loops, made when a loop has its first connection. Thread-safe.
final class DeviceCallQueues: Sendable {
    private let queues = Mutex<[ObjectIdentifier: DeviceCallQueue]>([:])

    func queue(of eventLoop: any EventLoop) -> DeviceCallQueue {
        queues.withLock { queues in
            if let queue = queues[ObjectIdentifier(eventLoop)] { return queue }
            let queue = DeviceCallQueue(eventLoop: eventLoop)
            queues[ObjectIdentifier(eventLoop)] = queue
            return queue
        }
    }
}
