import Foundation
import Glibc
import Platform
import Synchronization

/// Shows on a terminal how far something is, once it takes longer than ``ProgressMeter/timeout``. Where standard error
/// is no terminal it shows nothing.
package final class ProgressBar: Sendable {
    private struct State {
        var isShown = false
        var hasEnded = false
    }

    private let meter: ProgressMeter
    private let count: Atomic<Int64>
    private let begin = ContinuousClock.now
    private let state = Mutex(State())

    /// Begins to wait; ``end()`` must follow.
    ///
    /// - Parameter done: Returns the present count; `nil` where ``add(_:)`` counts.
    package init(_ meter: ProgressMeter, done: (@Sendable () -> Int64)? = nil) {
        self.meter = meter
        count = Atomic(0)
        guard isatty(STDERR_FILENO) == 1 else { return }
        NamedThread.begin("progress") { [weak self] in
            while self?.draw(done) == true {
                var none: [pollfd] = []
                Pause.poll(&none, until: ContinuousClock.now + .milliseconds(200))
            }
        }
    }

    /// So much more is done.
    package func add(_ number: Int64 = 1) { count.wrappingAdd(number, ordering: .relaxed) }

    /// Takes the line away. What is written afterwards begins a line of its own.
    package func end() {
        state.withLock { state in
            if state.isShown, !state.hasEnded { Self.write("\r\u{1b}[K") }
            state.hasEnded = true
        }
    }

    /// Does something that takes a while under a bar.
    package static func during<Result>(
        _ meter: ProgressMeter, done: (@Sendable () -> Int64)? = nil, _ body: (ProgressBar) throws -> Result
    ) rethrows -> Result {
        let bar = ProgressBar(meter, done: done)
        defer { bar.end() }
        return try body(bar)
    }

    /// - Returns: Whether there is more to draw.
    private func draw(_ done: (@Sendable () -> Int64)?) -> Bool {
        let number = done?() ?? count.load(ordering: .relaxed)
        return state.withLock { state in
            guard !state.hasEnded else { return false }
            if let line = meter.line(done: number, after: begin.duration(to: ContinuousClock.now)) {
                state.isShown = true
                Self.write("\r\(line)\u{1b}[K")
            }
            return true
        }
    }

    private static func write(_ text: String) {
        try? FileHandle.standardError.write(contentsOf: Data(text.utf8))
    }
}
