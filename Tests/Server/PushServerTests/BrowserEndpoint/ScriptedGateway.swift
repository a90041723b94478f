import PushCore

@testable import PushServer

/// The fake gateway with a script: it knows every device, and a test sets its verdicts, holds its answers back or lets them fail.
final class ScriptedGateway: DeviceGateway {
    typealias Page = Result<[OutgoingNotification], any Error>

    struct Failure: Error {}

    struct Script: Sendable {
        /// The verdict on every login in place of the fake's.
        var verdict: DeviceLoginVerdict?
        /// Verdicts that wait; `nil` where they are given at once.
        var heldVerdicts: [@Sendable () -> Void]?
        /// Pages that wait; `nil` where they are read at once.
        var heldPages: [@Sendable () -> Void]?
        var isMailboxReadable = true
        var isAcknowledgementDurable = true

        var logins: [DeviceLogin] = []
        var pages: [NotificationID?] = []
    }

    let base = FakeGateway()
    let script = Watched(Script())

    /// What the connections have told.
    var told: FakeGateway.State { base.state.value }

    func open(
        _ login: DeviceLogin, connection: any DeviceConnection,
        then complete: @escaping @Sendable (DeviceLoginVerdict) -> Void
    ) {
        base.enrol(login.device, secret: login.secret)
        let decide: @Sendable () -> Void = { [self] in
            if let verdict = script.value.verdict { return complete(verdict) }
            base.open(login, connection: connection, then: complete)
        }
        let isHeld = script.change { script in
            script.logins.append(login)
            script.heldVerdicts?.append(decide)
            return script.heldVerdicts != nil
        }
        if !isHeld { decide() }
    }

    /// Gives the verdicts that wait, and later ones at once.
    func releaseVerdicts() {
        let due = script.change { script in
            defer { script.heldVerdicts = nil }
            return script.heldVerdicts ?? []
        }
        for decide in due { decide() }
    }

    func page(
        _ session: DeviceSessionID, after: NotificationID?, limit: Int,
        then complete: @escaping @Sendable (Page) -> Void
    ) {
        let read: @Sendable () -> Void = { [self] in
            guard script.value.isMailboxReadable else { return complete(.failure(Failure())) }
            base.page(session, after: after, limit: limit, then: complete)
        }
        let isHeld = script.change { script in
            script.pages.append(after)
            script.heldPages?.append(read)
            return script.heldPages != nil
        }
        if !isHeld { read() }
    }

    /// Reads the pages that wait, and later ones at once.
    func releasePages() {
        let due = script.change { script in
            defer { script.heldPages = nil }
            return script.heldPages ?? []
        }
        for read in due { read() }
    }

    func sent(_ session: DeviceSessionID, _ ids: [NotificationID]) { base.sent(session, ids) }

    func acknowledged(
        _ session: DeviceSessionID, _ ids: [NotificationID], then complete: @escaping @Sendable (Bool) -> Void
    ) {
        guard script.value.isAcknowledgementDurable else { return complete(false) }
        base.acknowledged(session, ids, then: complete)
    }

    func record(
        _ receipts: [Receipt], of session: DeviceSessionID, then complete: @escaping @Sendable (ReceiptOutcome) -> Void
    ) { base.record(receipts, of: session, then: complete) }

    func attempts(_ ids: [NotificationID], became event: AttemptEvent) { base.attempts(ids, became: event) }

    func close(_ session: DeviceSessionID) { base.close(session) }
}

/// Notes what is withdrawn.
final class RecordedWithdrawals: NotificationWithdrawal {
    struct Entry: Hashable, Sendable {
        var id: NotificationID
        var device: DeviceID
    }

    let entries = Watched<[Entry]>([])

    func withdraw(
        _ id: NotificationID, of device: DeviceID, then complete: @escaping @Sendable (WithdrawalOutcome) -> Void
    ) {
        entries.change { $0.append(Entry(id: id, device: device)) }
        complete(.withdrawn)
    }
}

/// Notes which sessions were opened and closed.
final class RecordedSessions: SessionListener {
    struct State: Sendable {
        var opened: [DeviceSessionID] = []
        var closed: [DeviceSessionID] = []
    }

    let state = Watched(State())

    func opened(_ session: DeviceSessionID, _ connection: any DeviceConnection) {
        state.change { $0.opened.append(session) }
    }

    func closed(_ session: DeviceSessionID) { state.change { $0.closed.append(session) } }
}
