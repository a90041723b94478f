import Foundation
import RelayProtocol

/// The outcomes of queued messages, as they are reported to the senders. A value.
struct OutcomeReports {
    /// The outcome of a queued message, to be reported to its sender.
    struct Report {
        var key: QueuedMessageKey
        var outcome: RelayOutcome
        var attempts = 0
    }

    /// The outcomes that could not be reported yet.
    private var pending: [Report] = []
    /// The outcomes reported last, by the ids of their reports, the oldest first.
    private var sent: [UUID: Report] = [:]
    private var order: [UUID] = []

    /// The most outcomes that are kept for senders that are unreachable.
    static var limit: Int { 256 }

    /// Reports an outcome, now or when its sender is reachable.
    mutating func report(_ report: Report, isReachable: Bool) -> [RelayHost.Directive] {
        guard isReachable,
            let body = try? RelayContent.outcome(command: report.key.id, report.outcome).encoded()
        else {
            if pending.count >= Self.limit { pending.removeFirst() }
            pending.append(report)
            return []
        }
        let id = UUID.random()
        if order.count >= Self.limit { sent[order.removeFirst()] = nil }
        order.append(id)
        sent[id] = report
        let route = RelayRoute(peer: report.key.sender, id: id, deadline: nil, body: body)
        return [.send(.route(route))]
    }

    /// A report was not delivered: it is repeated when its device is back, or at once where the device could not read
    /// it.
    ///
    /// - Returns: The directives; `nil` where the id names no report.
    mutating func undelivered(
        _ id: UUID, reason: RelayUndelivered, isReachable: (String) -> Bool
    ) -> [RelayHost.Directive]? {
        guard var report = sent.removeValue(forKey: id) else { return nil }
        order.removeAll { $0 == id }
        report.attempts += 1
        switch reason {
        case .unavailable: pending.append(report)
        case .begunAnew where report.attempts < ReceivedMessages.attemptLimit:
            return self.report(report, isReachable: isReachable(report.key.sender))
        default: break
        }
        return []
    }

    /// Removes the outcomes that are to be reported to a device, or to any.
    mutating func takePending(for device: String?) -> [Report] {
        let all = pending
        pending = all.filter { device != nil && $0.key.sender != device }
        return all.filter { device == nil || $0.key.sender == device }
    }
}
