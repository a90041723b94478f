import AgentCore
import Foundation

@testable import Positions

/// What a source tells, one thing after the other.
struct Listener {
    private var events: AsyncStream<PositionEvent>.Iterator

    init(_ source: any PositionSource) {
        let (stream, continuation) = AsyncStream.makeStream(of: PositionEvent.self)
        source.start { continuation.yield($0) }
        events = stream.makeAsyncIterator()
    }

    mutating func next() async -> PositionEvent? { await events.next() }

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
