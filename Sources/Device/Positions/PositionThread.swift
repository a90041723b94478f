import DevicePorts
import Foundation
import Machine
import Synchronization

/// What a source does while it looks; made, used and ended on the source's thread.
protocol PositionWork: AnyObject {
    /// What to wait for.
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
/// counts. Of positions at most ten are told a second: who brings more has to wait.
final class PositionThread: Sendable {
    private enum Order {
        case rest, stop
        /// Begin; the number tells orders apart.
        case look(Int, @Sendable (PositionEvent) -> Void)
    }

    private struct State {
        var order = Order.rest
        var count = 0
        var hasThread = false
    }

    private let name: String
    private let begin: @Sendable (PositionTeller) -> any PositionWork
    /// `nil` where the system has no descriptor left.
    private let wakeUp = try? WakeUp()
    private let state = Mutex(State())

    /// - Parameters:
    ///   - name: What the system shows of the thread; at most fifteen bytes.
    ///   - begin: Makes what looks; called on the thread.
    init(name: String, begin: @escaping @Sendable (PositionTeller) -> any PositionWork) {
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
        // A new thread looks for its order by itself; a signal would cut its first rest short.
        guard needsThread else { return wakeUp.signal() }
        // It has this object until it is told to stop.
        OwnThread.begin(name) { [self] in run() }
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
        var teller: PositionTeller?
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
                let made = PositionTeller { [self] in if isLooking(number) { events($0) } }
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

    private func sleep(_ work: (any PositionWork)?, _ teller: PositionTeller?) {
        let own = pollfd(fd: wakeUp?.descriptor ?? -1, events: Int16(POLLIN), revents: 0)
        var descriptors = [own] + (work?.descriptors ?? [])
        Pause.poll(&descriptors, until: work?.deadline)
        guard let teller, let end = teller.endOfQuiet, end > .now, descriptors[0].revents == 0 else { return }
        var alone = [own]
        Pause.poll(&alone, until: end)
    }
}

/// The thread's own: tells what a source finds; what is wrong only once, as long as it is the same.
final class PositionTeller {
    private let events: (PositionEvent) -> Void
    private var fault: String?
    /// Until when nothing new is read; `nil` before anything was told.
    private(set) var endOfQuiet: ContinuousClock.Instant?

    init(events: @escaping (PositionEvent) -> Void) { self.events = events }

    func tell(_ position: Position) {
        fault = nil
        endOfQuiet = .now + .milliseconds(100)
        events(.position(position))
    }

    /// - Parameter reason: Without where anybody is.
    func fail(_ reason: String) {
        endOfQuiet = .now + .milliseconds(100)
        guard reason != fault else { return }
        fault = reason
        events(.unavailable(reason: reason))
    }

    /// Tells what was read, with what it stands in.
    func tell(_ read: Result<Position, PositionLine.Fault>, of place: String) {
        switch read {
        case .success(let position): tell(position)
        case .failure(let fault): fail("\(place) holds no position: \(fault)")
        }
    }
}
