import PushCore
import PushServer

/// A server in memory that keeps the promises of `DeviceGateway`, and notes what it was told.
final class FakeGateway: DeviceGateway {
    struct State: Sendable {
        var secrets: [DeviceID: UInt64] = [:]
        var mailboxes: [DeviceID: [OutgoingNotification]] = [:]
        var sessions: [DeviceID: DeviceSessionID] = [:]
        var connections: [DeviceID: any DeviceConnection] = [:]
        var epoch: UInt64 = 0
        var isAvailable = true
        var recordsDurably = true
        /// Completions of `record` that the test lets go itself.
        var heldRecords: [@Sendable (ReceiptOutcome) -> Void]?

        var acknowledged: [NotificationID] = []
        var sent: [NotificationID] = []
        var notSent: [NotificationID] = []
        var unacknowledged: [NotificationID] = []
        var receipts: [Receipt] = []
        var closed: [DeviceSessionID] = []
    }

    let state = Watched(State())

    func enrol(_ device: DeviceID, secret: UInt64) {
        state.change { $0.secrets[device] = secret }
    }

    /// Accepts a notification for a device, as the server does: stored ones are in the mailbox before they go out.
    func accept(_ notifications: [OutgoingNotification], for device: DeviceID) {
        let connection = state.change { state in
            state.mailboxes[device, default: []] += notifications.filter { $0.expiresAt != nil }
            return state.connections[device]
        }
        connection?.deliver(notifications)
    }

    func open(
        _ login: DeviceLogin, connection: any DeviceConnection,
        then complete: @escaping @Sendable (DeviceLoginVerdict) -> Void
    ) {
        let (verdict, older) = state.change { state -> (DeviceLoginVerdict, (any DeviceConnection)?) in
            guard state.isAvailable else { return (.unavailable, nil) }
            guard state.secrets[login.device] == login.secret else { return (.refused, nil) }
            state.delete(login.received, of: login.device)
            state.epoch += 1
            let session = DeviceSessionID(device: login.device, epoch: state.epoch)
            state.sessions[login.device] = session
            let older = state.connections.updateValue(connection, forKey: login.device)
            return (.welcome(session, hasWaiting: true), older)
        }
        older?.superseded()
        complete(verdict)
    }

    func page(
        _ session: DeviceSessionID, after: NotificationID?, limit: Int,
        then complete: @escaping @Sendable (Result<[OutgoingNotification], any Error>) -> Void
    ) {
        let waiting = state.value.mailboxes[session.device] ?? []
        complete(.success(Array(waiting.filter { $0.id.rawValue > (after?.rawValue ?? 0) }.prefix(limit))))
    }

    func sent(_ session: DeviceSessionID, _ ids: [NotificationID]) {
        state.change { $0.sent += ids }
    }

    func acknowledged(
        _ session: DeviceSessionID, _ ids: [NotificationID], then complete: @escaping @Sendable (Bool) -> Void
    ) {
        state.change { $0.delete(ids, of: session.device) }
        complete(true)
    }

    func record(
        _ receipts: [Receipt], of session: DeviceSessionID, then complete: @escaping @Sendable (ReceiptOutcome) -> Void
    ) {
        let answer = state.change { state -> Bool? in
            if state.heldRecords != nil {
                state.heldRecords?.append(complete)
                return nil
            }
            if state.recordsDurably { state.receipts += receipts }
            return state.recordsDurably
        }
        if let answer { complete(answer ? .durable(ignored: 0) : .failed) }
    }

    func attempts(_ ids: [NotificationID], became event: AttemptEvent) {
        state.change { state in
            switch event {
            case .sent: state.sent += ids
            case .acknowledged: state.acknowledged += ids
            case .notSent: state.notSent += ids
            case .unacknowledged: state.unacknowledged += ids
            }
        }
    }

    func close(_ session: DeviceSessionID) {
        state.change { state in
            state.closed.append(session)
            guard state.sessions[session.device] == session else { return }
            state.sessions[session.device] = nil
            state.connections[session.device] = nil
        }
    }
}

extension FakeGateway.State {
    fileprivate mutating func delete(_ ids: [NotificationID], of device: DeviceID) {
        let ids = Set(ids)
        acknowledged += ids.sorted()
        mailboxes[device]?.removeAll { ids.contains($0.id) }
    }
}
