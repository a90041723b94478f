import Hummingbird
import Metrics
import NIOCore
import ServiceLifecycle

/// One stream of server-sent events: reads what waits, writes it, and waits for the bell. A reader that is slow holds up
/// its own stream: the next page is read when the last one was written.
struct MessageStream: Sendable {
    let feed: MessageFeed
    let scope: MessageScope
    /// The last event that the reader has.
    var cursor: Int64
    let heartbeat: Duration
    /// Whether the reader may still read; asked with each heartbeat.
    let isAllowed: @Sendable () async -> Bool

    /// Writes until the reader is gone, may no longer read, or the server stops.
    func write(to writer: inout any ResponseBodyWriter) async throws {
        try await writer.write(ByteBuffer(string: "retry: 2000\n: messages from apps\n\n"))
        var cursor = cursor
        // Heard before the first reading, so that nothing comes in between.
        let wakes = Wakes(feed.bell, every: heartbeat)
        defer { wakes.end() }
        for await wake in wakes.stream.cancelOnGracefulShutdown() {
            if wake == .heartbeat, await !isAllowed() { break }
            var wrote = false
            while true {
                let page = try await feed.page(scope, after: cursor)
                guard let last = page.last else { break }
                try await writer.write(Self.events(page))
                Counter(label: "aldaba_app_messages_streamed_total").increment(by: page.count)
                (cursor, wrote) = (last.number, true)
            }
            if wake == .heartbeat, !wrote { try await writer.write(ByteBuffer(string: ": still here\n\n")) }
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

/// What wakes a stream: the bell, and a heartbeat. Begins with one waking.
private struct Wakes {
    enum Wake: Sendable {
        case bell
        case heartbeat
    }

    let stream: AsyncStream<Wake>
    private let tasks: [Task<Void, Never>]

    init(_ bell: MessageBell, every heartbeat: Duration) {
        let (stream, continuation) = AsyncStream.makeStream(of: Wake.self, bufferingPolicy: .bufferingNewest(2))
        self.stream = stream
        let rings = bell.listen()
        continuation.yield(.bell)
        tasks = [
            Task { for await _ in rings { continuation.yield(.bell) } },
            Task { while (try? await Task.sleep(for: heartbeat)) != nil { continuation.yield(.heartbeat) } },
        ]
    }

    func end() { for task in tasks { task.cancel() } }
}
