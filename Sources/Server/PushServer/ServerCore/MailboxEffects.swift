import PushCore

/// The external effects of a batch, held until it is committed, and dropped when it is not.
struct MailboxEffects {
    private var sinks: [ObjectIdentifier: Int] = [:]
    private var lastSink: Int?
    private var results: [(sink: any AcceptanceSink, results: [AcceptanceResult])] = []
    private var deliveries: [(connection: any DeviceConnection, notifications: [OutgoingNotification])] = []
    private var deliveryOf: [ObjectIdentifier: Int] = [:]
    /// The connections whose devices have a queued entry that no delivery passes.
    private var changed: [ObjectIdentifier: any DeviceConnection] = [:]
    private var answers: [@Sendable () -> Void] = []
    /// The notifications for devices of other nodes, and the devices that look at everything again.
    private var elsewhere: [DeviceID: (node: UInt16, notifications: [OutgoingNotification])] = [:]
    private var wakes: [DeviceID: UInt16] = [:]
    /// The session changes of the batch, in order.
    private(set) var sessionChanges: [SessionChange] = []

    enum SessionChange {
        case opened(MailboxService.LiveSession, @Sendable (DeviceLoginVerdict) -> Void)
        case closed(DeviceSessionID)
        /// The device has logged in at another node.
        case superseded(DeviceSessionID)
    }

    mutating func complete(_ result: AcceptanceResult, _ sink: any AcceptanceSink) {
        // Requests come in bursts of one connection, so its index is most often the last one.
        if let lastSink, results[lastSink].sink === sink {
            results[lastSink].results.append(result)
            return
        }
        let key = ObjectIdentifier(sink)
        lastSink = sinks[key] ?? results.count
        if let index = sinks[key] {
            results[index].results.append(result)
        } else {
            sinks[key] = results.count
            results.append((sink, [result]))
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

    mutating func deliver(_ notification: OutgoingNotification, to device: DeviceID, at node: UInt16) {
        elsewhere[device, default: (node, [])].notifications.append(notification)
    }

    mutating func wake(_ device: DeviceID, at node: UInt16) { wakes[device] = node }

    /// The bytes of payloads that are sent to another node for one device; it reads more than that from the store.
    private static let largestDelivery = 64 * 1024

    /// The messages to other nodes, which are sent after the batch is durable.
    func messages(by rows: [DeviceID: MailboxRow]) -> [UInt16: [NodeMessage]] {
        var messages: [UInt16: [NodeMessage]] = [:]
        for (device, found) in elsewhere where wakes[device] == nil {
            guard let row = rows[device] else { continue }
            guard found.notifications.reduce(0, { $0 + $1.payload.count }) <= Self.largestDelivery else {
                messages[found.node, default: []].append(.wake(device))
                continue
            }
            messages[found.node, default: []].append(
                .deliver(found.notifications, to: device, epoch: row.epoch, revision: row.revision))
        }
        // A page has the notifications too.
        for (device, node) in wakes { messages[node, default: []].append(.wake(device)) }
        return messages
    }

    mutating func changeWaiting(of connection: any DeviceConnection) {
        changed[ObjectIdentifier(connection)] = connection
    }

    mutating func answer(_ answer: @escaping @Sendable () -> Void) { answers.append(answer) }

    mutating func changeSession(_ change: SessionChange) { sessionChanges.append(change) }

    /// Performs all other effects, after the batch is durable and its sessions are entered.
    func release() {
        for answer in answers { answer() }
        for (sink, results) in results { sink.completed(results) }
        for connection in changed.values { connection.waitingChanged() }
        for (connection, notifications) in deliveries { connection.deliver(notifications) }
    }
}
