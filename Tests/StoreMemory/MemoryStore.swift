import Dispatch
import PushCore
import PushServer
import Synchronization

/// The server's store in memory. Thread-safe; its contents end with the process.
///
/// It is the smallest example of a store. `NotificationRows` and `Register` are values: a list of changes is applied to a
/// copy, which takes the place of the original when all of them could be made, so that a transaction that fails changes
/// nothing. The cost of a change grows with what is stored.
package final class MemoryStore: Sendable {
    struct State: Sendable {
        var rows = NotificationRows()
        var register = Register()
        var deviceGroups: [String: DeviceGroup] = [:]
        var messages = MessageShelf()
        var topics = TopicTable()
        var counted = CountedNotifications()
        var people = PeopleTable()
        var audit: [AuditEntry] = []
    }

    let state = Mutex(State())
    /// The queue that calls completions of reads.
    private let answers = DispatchQueue(label: "aldaba.store.memory")

    /// Creates an empty store.
    package init() {}
}

extension MemoryStore: NotificationStore {
    /// Reads all rows under one lock.
    package func prefetch(_ request: PrefetchRequest) throws -> Prefetched {
        state.withLock { state in
            var found = state.rows.prefetched(request)
            for device in request.secretHashes {
                found.secretHashes[device] = state.register.secretHash(of: device, evenBlocked: true)
                if state.register.isBlocked(device) { found.blocked.insert(device) }
                guard found.secretHashes[device] != nil else { continue }
                found.lastSeen[device] = state.register.lastSeen(device)
                found.missed[device] = state.rows.missed[device]
            }
            for device in request.locks.keys { found.rows[device] = state.rows.locked[device] }
            for device in request.audiences {
                state.read(device, known: request.known[device], since: request.away[device], into: &found)
            }
            return found
        }
    }

    /// Makes the changes, all or none; nothing is durable.
    ///
    /// - Throws: ``MemoryStoreError``; then none of the changes has happened.
    package func apply(_ changes: [RowChange]) throws {
        try state.withLock { state in
            var rows = state.rows
            for change in changes { try rows.apply(change) }
            state.rows = rows
            for case .noteSeen(let device, let at) in changes { state.register.noteSeen(device, at: at) }
        }
    }

    /// Deletes at most `limit` notifications. Every call checks all payloads, whatever the limit.
    package func prune(
        timelinesBefore: Timestamp, payloadsBefore: Timestamp, now: Timestamp, limit: Int
    ) throws -> Bool {
        state.withLock { state in
            let isMore = state.rows.deleteNotifications(before: timelinesBefore, limit: limit)
            state.rows.clearPayloads(before: payloadsBefore, keeping: state.topics.openPayloads)
            return isMore
        }
    }

    /// Reads the queued notifications; completes on a queue of the store's, never with an error.
    package func page(
        device: DeviceID, after: NotificationID?, limit: Int, now: Timestamp,
        then complete: @escaping @Sendable (Result<[OutgoingNotification], any Error>) -> Void
    ) {
        answers.async { [self] in
            let page = state.withLock { $0.page(device: device, after: after, limit: limit, now: now) }
            complete(.success(page))
        }
    }

    /// Finds the device's own ids; completes on a queue of the store's, never with an error.
    package func notifications(
        of device: DeviceID, among ids: [NotificationID],
        then complete: @escaping @Sendable (Result<Set<NotificationID>, any Error>) -> Void
    ) {
        answers.async { [self] in
            let own = state.withLock { state in ids.filter { state.rows.record($0)?.subject.device == device } }
            complete(.success(Set(own)))
        }
    }

    /// Reads the next rows by device and id.
    package func expired(
        at now: Timestamp, awaySince: Timestamp, from position: SweepPosition?, limit: Int
    ) throws -> ExpiredSlice {
        state.withLock { state in
            let records = state.rows.waiting(from: position, limit: limit)
            var slice = ExpiredSlice(devices: [], next: nil)
            (slice.count, slice.oldest) = (records.count, records.lazy.map(\.id).min())
            for record in records {
                let subject = record.subject
                if let expiresAt = record.expiresAt, expiresAt <= now { slice.devices.insert(subject.device) }
                if let seen = state.register.lastSeen(subject.device), seen <= awaySince {
                    slice.away.insert(subject.device)
                }
                guard state.register.isRevoked(subject.device) || state.register.isRemoved(subject.app) else {
                    continue
                }
                slice.ended.insert(
                    RegistrationKey(device: subject.device, app: subject.app, environment: subject.environment))
            }
            if records.count == limit, let last = records.last {
                slice.next = SweepPosition(device: last.subject.device, id: last.id)
            }
            return slice
        }
    }

    /// Reads the timelines, in the order of their ids.
    package func timelines(
        id: NotificationID?, apnsID: APNsID?, team: TeamID?
    ) async throws -> [NotificationTimeline] {
        state.withLock { state in
            let found = Set(id.map { [$0] } ?? []).union(apnsID.map { state.ids(forAPNsID: $0, team: team) } ?? [])
            return found.sorted().compactMap { state.timeline($0) }.filter { team == nil || $0.team == team }
        }
    }

    /// The team of a recorded span that contains the id; checks each of them.
    package func isUnrecorded(_ id: NotificationID, team: TeamID?) async throws -> TeamID? {
        state.withLock { state in
            state.rows.unrecorded.first { $0.first <= id && id <= $0.last && (team == nil || $0.team == team) }?.team
        }
    }

    /// The ceiling of ids, or the highest id that is stored where that is greater.
    package func highWater() throws -> Int64 { state.withLock { $0.rows.highWater } }
}
