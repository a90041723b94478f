import PushCore

/// A send that can go on, with its hub.
package struct RunnableSend: Hashable, Sendable {
    /// The send's number.
    package var number: Int64
    /// The number of the send's hub.
    package var hub: Int64

    /// Creates an instance from its properties.
    package init(number: Int64, hub: Int64) {
        self.number = number
        self.hub = hub
    }
}

/// A round-robin scheduler of the runnable sends: first among hubs, then among the sends of a hub.
///
/// At most one slice of a send is in progress, and at most ``ofOneHub`` of a hub. In all, at most ``abreast`` slices
/// are in progress. The second half of them is for hubs that have none, so that a few hubs with slow push services
/// leave capacity for the others.
package struct SendScheduler {
    /// The most slices in progress at once.
    package static let abreast = 64
    /// The most slices of one hub in progress at once.
    package static let ofOneHub = 8

    private var running: [Int64: Int64] = [:]
    private var busy: [Int64: Int] = [:]
    /// Sends that could not go on, and when they are looked at again.
    private var resting: [Int64: Timestamp] = [:]
    /// The send of each hub that was scheduled last; of hubs that have something to send.
    private var last: [Int64: Int64] = [:]
    private var lastHub: Int64 = 0

    /// A scheduler without history.
    package init() {}

    /// Whether no slice is in progress.
    package var isIdle: Bool { running.isEmpty }

    /// When the first of those that could not go on is looked at again.
    package var nextRest: Timestamp? { resting.values.min() }

    /// Takes the sends that are due now; they are in progress from here on.
    ///
    /// - Parameter runnable: Every send that can go on now, by rising number.
    package mutating func next(_ runnable: [RunnableSend], now: Timestamp) -> [RunnableSend] {
        resting = resting.filter { $0.value > now }
        var waiting: [Int64: [Int64]] = [:]
        for send in runnable { waiting[send.hub, default: []].append(send.number) }
        last = last.filter { waiting[$0.key] != nil }
        for (hub, sends) in waiting {
            let free = sends.filter { running[$0] == nil && resting[$0] == nil }
            let place = free.firstIndex { $0 > last[hub] ?? 0 } ?? 0
            waiting[hub] = Array(free[place...] + free[..<place])
        }
        let hubs = waiting.keys.sorted()
        let place = hubs.firstIndex { $0 > lastHub } ?? 0
        let order = Array(hubs[place...] + hubs[..<place])
        var found: [RunnableSend] = []
        for round in 0..<Self.ofOneHub {
            for hub in order {
                guard running.count < Self.abreast else { return found }
                let isFirst = busy[hub, default: 0] == 0
                guard isFirst || running.count < Self.abreast / 2, busy[hub, default: 0] < Self.ofOneHub,
                    let sends = waiting[hub], round < sends.count
                else { continue }
                running[sends[round]] = hub
                busy[hub, default: 0] += 1
                last[hub] = sends[round]
                lastHub = hub
                found.append(RunnableSend(number: sends[round], hub: hub))
            }
        }
        return found
    }

    /// A slice was handed over, or could not be.
    ///
    /// - Parameter rest: Until when its send is not looked at; `nil` where it may go on.
    package mutating func end(_ send: Int64, restingUntil rest: Timestamp? = nil) {
        guard let hub = running.removeValue(forKey: send) else { return }
        busy[hub] = busy[hub].flatMap { $0 > 1 ? $0 - 1 : nil }
        resting[send] = rest
    }
}
