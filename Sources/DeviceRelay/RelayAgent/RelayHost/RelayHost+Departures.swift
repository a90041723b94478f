import Foundation
import RelayProtocol

/// Commands that leave, at once or when others have ended.
extension RelayHost {
    /// The frame by which a command is sent.
    enum Departure {
        case route(RelayRoute)
        /// To be kept until its deadline.
        case queuedMessage(QueuedMessage)
    }

    /// A command leaves.
    mutating func send(_ departure: Departure, _ now: Int64) {
        switch departure {
        case .queuedMessage(let queuedMessage):
            mail.sentQueuedMessages[queuedMessage.id] = queuedMessage.deadline
            directives.append(.send(.queuedMessage(queuedMessage)))
            ledger.sent(queuedMessage.id)
        case .route(let route):
            if let connection = ledger[route.id]?.connection {
                if ask(route, over: connection, now) { return }
                if calls.lines[connection].map({ $0.lostAt != nil }) ?? true {
                    let detail = "too much waits for the device to come back"
                    return end(route.id, RelayOutcome(.resourceLimits, detail: detail), now)
                }
            }
            // It is offered when the device is back.
            if streams.outgoing[route.id]?.isAway == true { return }
            streams.appStreams[route.id]?.heardAt = now
            directives.append(.send(.route(route)))
            ledger.sent(route.id)
        }
    }

    /// Sends queued commands as far as the limits allow.
    mutating func sendWaiting(_ now: Int64) {
        for id in calls.unaskable {
            end(id, RelayOutcome(.connectionClosed, detail: "the connection was closed before it was asked"), now)
        }
        calls.unaskable = []
        while let id = ledger.next() {
            guard let departure = departures.removeValue(forKey: id) else { continue }
            send(departure, now)
        }
    }
}
