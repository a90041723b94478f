import PushModel

/// What a batch causes outside, held back until it is committed; dropped when it is not.
struct MailboxEffects {
    private var sinks: [ObjectIdentifier: Int] = [:]
    private var lastSink: Int?
    private var verdicts: [(sink: any AcceptanceSink, verdicts: [AcceptanceVerdict])] = []
    private var deliveries: [(connection: any DeviceConnection, notifications: [OutgoingNotification])] = []
    private var deliveryOf: [ObjectIdentifier: Int] = [:]
    private var answers: [@Sendable () -> Void] = []
    /// What became of sessions, in order.
    private(set) var sessionChanges: [SessionChange] = []

    enum SessionChange {
        case opened(MailboxService.LiveSession, @Sendable (DeviceLoginVerdict) -> Void)
        case closed(DeviceSessionID)
    }

    mutating func judge(_ verdict: AcceptanceVerdict, _ sink: any AcceptanceSink) {
        // Requests come in bursts of one connection: its place is most often that of the last one.
        if let lastSink, verdicts[lastSink].sink === sink {
            verdicts[lastSink].verdicts.append(verdict)
            return
        }
        let key = ObjectIdentifier(sink)
        lastSink = sinks[key] ?? verdicts.count
        if let index = sinks[key] {
            verdicts[index].verdicts.append(verdict)
        } else {
            sinks[key] = verdicts.count
            verdicts.append((sink, [verdict]))
        }
    }

    mutating func deliver(_ notification: OutgoingNotification, _ connection: any DeviceConnection) {
        let key = ObjectIdentifier(connection)
        if let index = deliveryOf[key] {
            deliveries[index].notifications.append(notification)
        } else {
            deliveryOf[key] = deliveries.count
            deliveries.append((connection, [notification]))
        }
    }

    mutating func answer(_ answer: @escaping @Sendable () -> Void) { answers.append(answer) }

    mutating func changeSession(_ change: SessionChange) { sessionChanges.append(change) }

    /// The batch is durable, and its sessions are entered: everything else happens.
    func release() {
        for answer in answers { answer() }
        for (sink, verdicts) in verdicts { sink.judged(verdicts) }
        for (connection, notifications) in deliveries { connection.deliver(notifications) }
    }
}
