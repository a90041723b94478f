import Synchronization

/// Something that happens once, and that tests wait for.
package final class Latch: Sendable {
    private struct State {
        var isOpen = false
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var waits = 0
    }

    private let state = Mutex(State())

    package init() {}

    package var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Lets everyone go on who waits, now or later.
    package func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [:] }
            return state.waiting.values
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Suspends until the latch is open, or the test's time limit has passed.
    package func wait() async {
        let number = state.withLock { state in
            state.waits += 1
            return state.waits
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { wait(number, $0) }
        } onCancel: {
            state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
        }
    }

    private func wait(_ number: Int, _ continuation: CheckedContinuation<Void, Never>) {
        let goesOn = state.withLock { state in
            // A task that is cancelled later finds its continuation here.
            guard !state.isOpen, !Task.isCancelled else { return true }
            state.waiting[number] = continuation
            return false
        }
        if goesOn { continuation.resume() }
    }
}
