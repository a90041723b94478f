import PushModel

extension MailboxService: DeviceGateway {
    nonisolated public func open(
        _ login: DeviceLogin, connection: any DeviceConnection,
        then complete: @escaping @Sendable (DeviceLoginVerdict) -> Void
    ) {
        _ = submit(.open(login, connection, complete))
    }

    nonisolated public func page(
        _ session: DeviceSessionID, after: NotificationID?, limit: Int,
        then complete: @escaping @Sendable (Result<[OutgoingNotification], any Error>) -> Void
    ) {
        store.page(device: session.device, after: after, limit: limit, now: clock(), then: complete)
    }

    nonisolated public func sent(_ session: DeviceSessionID, _ ids: [NotificationID]) {
        _ = submit(.sent(session, ids, clock()))
    }

    nonisolated public func notSent(_ session: DeviceSessionID, _ ids: [NotificationID]) {
        _ = submit(.notDelivered(session, ids, note: nil, clock()))
    }

    nonisolated public func unacknowledged(_ session: DeviceSessionID, _ ids: [NotificationID]) {
        let note = "the connection ended before the device acknowledged it; it may have arrived"
        _ = submit(.notDelivered(session, ids, note: note, clock()))
    }

    nonisolated public func acknowledged(
        _ session: DeviceSessionID, _ ids: [NotificationID], then complete: @escaping @Sendable (Bool) -> Void
    ) {
        _ = submit(.acknowledged(session, ids, complete))
    }

    nonisolated public func record(
        _ receipts: [Receipt], of session: DeviceSessionID, then complete: @escaping @Sendable (Bool) -> Void
    ) {
        _ = submit(.record(receipts, session, complete))
    }

    nonisolated public func close(_ session: DeviceSessionID) { _ = submit(.close(session)) }
}
