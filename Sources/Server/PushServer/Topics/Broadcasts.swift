import PushCore
import Synchronization

/// An error: no id can be made at this moment; the send may be repeated.
package struct NoBroadcastIDError: Error {
    /// Creates an error without details.
    package init() {}
}

/// Stores broadcasts, delivers them to connected devices, and withdraws them.
package struct Broadcasts: Sendable {
    private let store: any TopicStore
    private let delivery: MailboxService
    private let withdrawal: any NotificationWithdrawal
    /// Waits until no decision of the mailboxes depends on what they read before.
    private let settled: @Sendable () async throws -> Void
    private let clock: @Sendable () -> Timestamp
    private let withdrawals = Withdrawals()

    /// The broadcasts whose copies are being withdrawn, one task each.
    private final class Withdrawals: Sendable {
        private let rounds = Mutex<[NotificationID: Task<Void, any Error>]>([:])

        /// The task that is under way, or a new one.
        func round(
            of id: NotificationID, _ withdraw: @escaping @Sendable () async throws -> Void
        ) -> Task<Void, any Error> {
            rounds.withLock { rounds in
                if let round = rounds[id] { return round }
                let round = Task {
                    defer { self.rounds.withLock { $0[id] = nil } }
                    try await withdraw()
                }
                rounds[id] = round
                return round
            }
        }
    }

    /// The longest time in which a broadcast is delivered to devices that connect later: FCM's four weeks.
    static let longestWait = Duration.seconds(28 * 86_400)
    /// The time for which an expired broadcast is counted for devices that were away. FCM's tokens expire on devices that are
    /// away for longer.
    static let countingTime = Duration.seconds(270 * 86_400)
    /// The time for delivery to connected devices, for a message that is delivered once or never.
    static let attemptTime = Duration.seconds(60)
    /// The number of copies withdrawn at a time.
    private static let slice = 256

    /// Creates broadcasts over a store and its mailbox service.
    package init(store: any TopicStore, mailboxes: MailboxService, clock: @escaping @Sendable () -> Timestamp) {
        self.store = store
        delivery = mailboxes
        withdrawal = mailboxes
        settled = { try await mailboxes.flushNotes() }
        self.clock = clock
    }

    /// Accepts a message for many recipients; it is stored once, whatever the number of subscribers.
    ///
    /// - Returns: The id under which the broadcast is durable.
    /// - Throws: The store's error when it does not take it: nothing was accepted.
    package func send(_ message: TopicMessage, from team: TeamID) async throws -> NotificationID {
        guard let id = delivery.newID() else { throw NoBroadcastIDError() }
        let now = clock()
        return try await publish(
            BroadcastDraft(
                id: id, team: team, to: .topics(message.target.condition, of: message.app),
                written: message.target.text, pushType: message.pushType, priority: message.priority,
                collapseID: message.collapseID, content: message.content(id), acceptedAt: now,
                expiresAt: expiration(message.expiry, at: now), isAttempt: message.expiry == .once)
        ).id
    }

    /// Sends a message to the registrations of a list: at once to connected ones, to the others when they connect.
    ///
    /// - Returns: The durable broadcast: the same one for the same ``ListMessage/name``, however often it is sent.
    /// - Throws: The store's error when it does not take it; the same message may be sent again.
    package func send(_ message: ListMessage, from team: TeamID) async throws -> Broadcast {
        guard let id = delivery.newID() else { throw NoBroadcastIDError() }
        let now = clock()
        return try await publish(
            BroadcastDraft(
                id: id, team: team, name: message.name, to: .list(message.list), written: message.audience,
                pushType: message.pushType, priority: message.priority, collapseID: message.collapseID,
                content: message.content, acceptedAt: now, expiresAt: expiration(message.expiry, at: now),
                isAttempt: message.expiry == .once))
    }

    private func expiration(_ expiry: Expiry, at now: Timestamp) -> Timestamp {
        let longest = now + Self.longestWait
        return switch expiry {
        case .until(let instant): min(instant, longest)
        case .policyDefault: longest
        case .once: now + Self.attemptTime
        }
    }

    private func publish(_ draft: BroadcastDraft) async throws -> Broadcast {
        let broadcast = try await store.insertBroadcast(draft)
        delivery.published(broadcast.audience.entries)
        return broadcast
    }

    /// The copies of a broadcast after one of them, in the order in which they were made.
    package func copies(
        of broadcast: NotificationID, after: NotificationID?, limit: Int
    ) async throws -> [BroadcastCopy] {
        try await store.copies(of: broadcast, after: after, limit: limit)
    }

    /// Waits until no decision of the mailboxes depends on what they read before.
    package func waitForPendingDecisions() async throws { try await settled() }

    /// Withdraws a broadcast: no more copies are made, and the copies are withdrawn one after the other.
    ///
    /// The caller has checked that it belongs to its team.
    /// - Returns: ``WithdrawalOutcome/withdrawn`` once no device receives it that does not have it yet; the copies may
    ///   follow later.
    /// - Throws: An error when the store cannot be read or written; the request may be repeated.
    package func withdrawBroadcast(_ id: NotificationID) async throws -> WithdrawalOutcome {
        guard try await store.withdrawBroadcast(id, at: clock()) else { return .ended }
        try await settled()
        _ = withdrawals.round(of: id) { try await withdrawCopies(of: id) }
        return .withdrawn
    }

    /// Continues withdrawals that an earlier run began, or that the store did not take.
    package func resume() async throws {
        for id in try await store.withdrawnBroadcasts() {
            try await withdrawals.round(of: id) { try await withdrawCopies(of: id) }.value
        }
    }

    private func withdrawCopies(of id: NotificationID) async throws {
        var after: NotificationID?
        while true {
            let copies = try await store.copies(of: id, after: after, limit: Self.slice)
            guard let last = copies.last else { break }
            let outcomes = await withTaskGroup(of: WithdrawalOutcome.self) { group in
                for copy in copies {
                    group.addTask {
                        await withCheckedContinuation { continuation in
                            withdrawal.withdraw(copy.id, of: copy.device) { continuation.resume(returning: $0) }
                        }
                    }
                }
                return await group.reduce(into: Set()) { $0.insert($1) }
            }
            // ``resume()`` begins again; copies that were withdrawn stay as they are.
            guard !outcomes.contains(.failed) else { return }
            after = last.id
        }
        try await store.endWithdrawnBroadcast(id, at: clock())
    }

    /// Continues withdrawals, ends expired broadcasts, and deletes rows that are no longer needed; call it about once a
    /// minute.
    package func sweep(keeping retention: Duration = .seconds(30 * 86_400)) async throws {
        try await resume()
        let now = clock()
        while try await store.endBroadcasts(
            at: now, keptSince: now - retention, countedSince: now - Self.countingTime, limit: 1000)
        {}
    }
}
