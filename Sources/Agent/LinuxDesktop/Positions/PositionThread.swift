import AgentEngine
import Foundation
import Platform
import Synchronization

/// The work of a source while it is active; made, used and ended on the source's thread.
protocol PositionWork: AnyObject {
    /// The descriptors to wait for.
    var descriptors: [pollfd] { get }
    /// When there is something to do in any case; `nil` for never.
    var deadline: ContinuousClock.Instant? { get }

    /// Does what is to be done, without waiting; also called when there is nothing.
    func work()
    /// Ends what was begun.
    func end()
}

/// The thread of a source: sleeps until there is something to read or an order has come.
///
/// Guarantees: `start`, `rest` and `stop` return at once; of orders that come faster than they are carried out the last
/// counts. At most ten positions are reported a second: a faster source has to wait.
final class PositionThread: Sendable {
    private enum Order {
        case rest, stop
        /// Start to look; the number identifies the order.
        case look(Int, @Sendable (PositionEvent) -> Void)
    }

    private struct State {
        var order = Order.rest
        var count = 0
        var hasThread = false
    }

    private let name: String
    private let begin: @Sendable (PositionReporter) -> any PositionWork
    /// `nil` where the system has no descriptor left.
    private let wakeUp = try? WakeUp()
    private let state = Mutex(State())

    /// - Parameters:
    ///   - name: The thread's name in the system; at most fifteen bytes.
    ///   - begin: Creates the source's work; called on the thread.
    init(name: String, begin: @escaping @Sendable (PositionReporter) -> any PositionWork) {
        self.name = name
        self.begin = begin
    }

    func start(events: @escaping @Sendable (PositionEvent) -> Void) {
        guard let wakeUp else {
            return events(.unavailable(reason: "the system has no descriptor left"))
        }
        let needsThread = state.withLock { state in
            if case .stop = state.order { return false }
            state.count += 1
            state.order = .look(state.count, events)
            defer { state.hasThread = true }
            return !state.hasThread
        }
        // A new thread reads its order by itself; a signal would cut its first sleep short.
        guard needsThread else { return wakeUp.signal() }
        // The thread keeps this object until it is stopped.
        NamedThread.begin(name) { [self] in run() }
    }

    func rest() {
        state.withLock { state in if case .look = state.order { state.order = .rest } }
        wakeUp?.signal()
    }

    func stop() {
        state.withLock { $0.order = .stop }
        wakeUp?.signal()
    }

    private func run() {
        var current = 0
        var teller: PositionReporter?
        var work: (any PositionWork)?
        while true {
            switch takeOrder() {
            case .stop:
                work?.end()
                return
            case .rest:
                work?.end()
                (work, teller) = (nil, nil)
            case .look(let number, let events):
                guard number != current else { break }
                work?.end()
                current = number
                let made = PositionReporter { [self] in if isLooking(number) { events($0) } }
                (teller, work) = (made, begin(made))
            }
            work?.work()
            sleep(work, teller)
        }
    }

    private func takeOrder() -> Order {
        wakeUp?.clear()
        return state.withLock { $0.order }
    }

    private func isLooking(_ number: Int) -> Bool {
        guard case .look(number, _) = state.withLock({ $0.order }) else { return false }
        return true
    }

    private func sleep(_ work: (any PositionWork)?, _ teller: PositionReporter?) {
        let own = pollfd(fd: wakeUp?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        var descriptors = [own] + (work?.descriptors ?? [])
        Pause.poll(&descriptors, until: work?.deadline)
        guard let teller, let end = teller.endOfQuiet, end > .now, descriptors[0].revents == 0 else { return }
        var alone = [own]
        Pause.poll(&alone, until: end)
    }
}

/// Reports the positions and faults of a source; a fault only once, as long as it is the same. Used on the source's
/// thread only.
final class PositionReporter {
    private let events: (PositionEvent) -> Void
    private var fault: String?
    /// The time until which nothing new is read; `nil` before the first report.
    private(set) var endOfQuiet: ContinuousClock.Instant?

    init(events: @escaping (PositionEvent) -> Void) { self.events = events }

    func report(_ position: Position) {
        fault = nil
        endOfQuiet = .now + .milliseconds(100)
        events(.position(position))
    }

    /// - Parameter reason: The reason, without any position.
    func fail(_ reason: String) {
        endOfQuiet = .now + .milliseconds(100)
        guard reason != fault else { return }
        fault = reason
        events(.unavailable(reason: reason))
    }

    /// Reports a position or fault that was read, with the name of its source.
    func report(_ read: Result<Position, PositionLine.Fault>, of place: String) {
        switch read {
        case .success(let position): report(position)
        case .failure(let fault): fail("\(place) holds no position: \(fault)")
        }
    }
}
