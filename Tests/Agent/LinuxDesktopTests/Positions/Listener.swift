import AgentEngine
import Foundation

@testable import LinuxDesktop

/// What a source tells, one thing after the other.
struct Listener {
    private var events: AsyncStream<PositionEvent>.Iterator
    private var last: PositionEvent?

    init(_ source: any PositionSource) {
        let (stream, continuation) = AsyncStream.makeStream(of: PositionEvent.self)
        source.start { continuation.yield($0) }
        events = stream.makeAsyncIterator()
    }

    mutating func next() async -> PositionEvent? {
        last = await events.next()
        return last
    }

    /// The next that is another than the last: what changes in several ways, such as its name and then its times, may be told
    /// of again.
    mutating func change() async -> PositionEvent? {
        let known = last
        while let event = await next() { if event != known { return event } }
        return nil
    }

    /// The next position.
    mutating func position() async -> Position? {
        if case .position(let position)? = await next() { position } else { nil }
    }

    /// Why there is none, next.
    mutating func fault() async -> String {
        if case .unavailable(let reason)? = await next() { reason } else { "" }
    }
}

extension Position {
    init(_ latitude: Double, _ longitude: Double, _ accuracy: Double = 0) {
        self.init(latitude: latitude, longitude: longitude, accuracy: accuracy)
    }
}

func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(fileURLWithPath: path))
}
