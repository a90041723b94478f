import PushCore

/// Remembers the notifications that are made of the request that the current task serves; otherwise another acceptor.
package final class RecordingAcceptor: NotificationAcceptor {
    private let base: any NotificationAcceptor
    private let received: ReceivedRequests

    /// Makes an acceptor around another one.
    package init(_ base: any NotificationAcceptor, received: ReceivedRequests) {
        self.base = base
        self.received = received
    }

    /// The other acceptor's time.
    package var now: Timestamp { base.now }

    /// Accepts, and remembers the result.
    package func accept(_ acceptance: AcceptedNotification, sink: any AcceptanceSink) -> Bool {
        base.accept(acceptance, sink: recording([acceptance], sink))
    }

    /// Accepts, and remembers the results.
    package func acceptAll(_ acceptances: [AcceptedNotification], sink: any AcceptanceSink) async -> Int {
        await base.acceptAll(acceptances, sink: recording(acceptances, sink))
    }

    /// Records a refusal.
    package func recordRefusal(
        code: String, note: String?, team: TeamID, topic: String, apnsID: APNsID?
    ) -> NotificationID? {
        base.recordRefusal(code: code, note: note, team: team, topic: topic, apnsID: apnsID)
    }

    private func recording(_ acceptances: [AcceptedNotification], _ sink: any AcceptanceSink) -> any AcceptanceSink {
        guard let number = ReceivedRequests.current else { return sink }
        return Sink(sink, acceptances: acceptances, number: number, received: received)
    }

    /// Remembers results, and passes them to another sink.
    private final class Sink: AcceptanceSink {
        private let base: any AcceptanceSink
        private let acceptances: [Int32: AcceptedNotification]
        private let number: Int
        private let received: ReceivedRequests

        init(
            _ base: any AcceptanceSink, acceptances: [AcceptedNotification], number: Int,
            received: ReceivedRequests
        ) {
            self.base = base
            self.acceptances = Dictionary(acceptances.map { ($0.ticket, $0) }) { $1 }
            self.number = number
            self.received = received
        }

        func completed(_ results: [AcceptanceResult]) {
            for result in results {
                guard let id = result.id, let acceptance = acceptances[result.ticket] else { continue }
                received.add(acceptance.received(as: id), to: number)
            }
            base.completed(results)
        }
    }
}

extension AcceptedNotification {
    /// The notification as a request's remembered result.
    package func received(as id: NotificationID) -> ReceivedRequest.Accepted {
        ReceivedRequest.Accepted(id: id, app: app.topic.rawValue, payload: payload(as: id))
    }
}
