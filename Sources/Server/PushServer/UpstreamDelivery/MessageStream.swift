import Hummingbird
import Metrics
import NIOCore
import ServiceLifecycle
import Synchronization

/// A stream of server-sent events: reads queued messages, writes them, and waits for the signal. A slow reader delays
/// only its own stream: the next page is read when the last one was written.
struct MessageStream: Sendable {
    let feed: MessageFeed
    let scope: MessageScope
    /// The number of the last event that the reader has.
    var cursor: Int64
    let heartbeat: Duration
    /// Whether the reader may still read; called before each page, and with each heartbeat.
    let isAllowed: @Sendable () async -> Bool

    /// Writes until the reader disconnects, may no longer read, or the server stops.
    func write(to writer: inout any ResponseBodyWriter) async throws {
        try await writer.write(ByteBuffer(string: "retry: 2000\n: messages from apps\n\n"))
        var cursor = cursor
        // The stream listens before the first reading, so that no message is missed in between.
        let wakes = Wakes(feed.arrivalSignal, every: heartbeat)
        defer { wakes.end() }
        for await _ in wakes.stream.cancelOnGracefulShutdown() {
            let isHeartbeat = wakes.takeHeartbeat()
            var wrote = false
            while !Task.isShuttingDownGracefully {
                guard await isAllowed() else { return }
                let page = try await feed.page(scope, after: cursor)
                guard let last = page.last else { break }
                try await writer.write(Self.events(page))
                Counter(label: "aldaba_app_messages_streamed_total").increment(by: page.count)
                (cursor, wrote) = (last.number, true)
            }
            if isHeartbeat, !wrote { try await writer.write(ByteBuffer(string: ": still here\n\n")) }
        }
    }

    private static func events(_ page: [(number: Int64, body: [UInt8])]) -> ByteBuffer {
        var buffer = ByteBuffer()
        for (number, body) in page {
            buffer.writeString("id: \(number)\nevent: message\ndata: ")
            buffer.writeBytes(body)
            buffer.writeString("\n\n")
        }
        return buffer
    }
}

/// The wake-ups of a stream: the signal, and a heartbeat. Begins with one wake-up.
private struct Wakes {
    /// A heartbeat that was not handled yet. It is kept outside the stream, so that no signal replaces it.
    private final class Heartbeat: Sendable {
        let isDue = Mutex(false)
    }

    let stream: AsyncStream<Void>
    private let heartbeat = Heartbeat()
    private let tasks: [Task<Void, Never>]

    init(_ arrivalSignal: MessageArrivalSignal, every pause: Duration) {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
        self.stream = stream
        let signals = arrivalSignal.listen()
        continuation.yield()
        tasks = [
            Task { for await _ in signals { continuation.yield() } },
            Task { [heartbeat] in
                while (try? await Task.sleep(for: pause)) != nil {
                    heartbeat.isDue.withLock { $0 = true }
                    continuation.yield()
                }
            },
        ]
    }

    /// Whether the stream woke for a heartbeat; `true` once for each.
    func takeHeartbeat() -> Bool {
        heartbeat.isDue.withLock { isDue in
            defer { isDue = false }
            return isDue
        }
    }

    func end() { for task in tasks { task.cancel() } }
}
