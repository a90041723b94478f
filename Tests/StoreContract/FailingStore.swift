import AldabaTestSupport
import Dispatch
import PushCore
import PushServer
import Synchronization

/// A store whose commits a test lets fail, or holds back.
package final class FailingStore<Base: NotificationStore>: NotificationStore {
    /// What a commit throws that is to fail.
    package struct Failure: Error {
        package init() {}
    }

    /// The next commit, held back until the test lets it go on.
    package struct HeldCommit: Sendable {
        /// Opened when the commit has been reached.
        package let reached = Latch()
        fileprivate let gate = DispatchSemaphore(value: 0)

        /// Lets the commit go on.
        package func release() { gate.signal() }
    }

    package let base: Base
    /// While it is set, every commit fails, and what is read for one.
    package let isFailing = Flag()
    private let held = Mutex<HeldCommit?>(nil)
    /// Called before what a batch has to know is read, on the writer's thread.
    package let beforePrefetch = Mutex<(@Sendable (PrefetchRequest) -> Void)?>(nil)

    package init(_ base: Base) { self.base = base }

    /// Holds the next commit back. The store's one writer blocks in it, as it would for a slow disk.
    package func holdNextCommit() -> HeldCommit {
        let commit = HeldCommit()
        held.withLock { $0 = commit }
        return commit
    }

    package func prefetch(_ request: PrefetchRequest) throws -> Prefetched {
        if isFailing.load() { throw Failure() }
        beforePrefetch.withLock { $0 }?(request)
        return try base.prefetch(request)
    }

    package func apply(_ changes: [RowChange]) throws {
        if let commit = held.withLock({ $0.take() }) {
            commit.reached.open()
            commit.gate.wait()
        }
        if isFailing.load() { throw Failure() }
        try base.apply(changes)
    }

    package func prune(
        timelinesBefore: Timestamp, payloadsBefore: Timestamp, now: Timestamp, limit: Int
    ) throws -> Bool {
        if isFailing.load() { throw Failure() }
        return try base.prune(
            timelinesBefore: timelinesBefore, payloadsBefore: payloadsBefore, now: now, limit: limit)
    }

    package func page(
        device: DeviceID, after: NotificationID?, limit: Int, now: Timestamp,
        then complete: @escaping @Sendable (Result<[OutgoingNotification], any Error>) -> Void
    ) {
        base.page(device: device, after: after, limit: limit, now: now, then: complete)
    }

    package func notifications(
        of device: DeviceID, among ids: [NotificationID],
        then complete: @escaping @Sendable (Result<Set<NotificationID>, any Error>) -> Void
    ) {
        base.notifications(of: device, among: ids, then: complete)
    }

    package func expired(
        at now: Timestamp, awaySince: Timestamp, from position: SweepPosition?, limit: Int
    ) throws -> ExpiredSlice {
        try base.expired(at: now, awaySince: awaySince, from: position, limit: limit)
    }

    package func timelines(
        id: NotificationID?, apnsID: APNsID?, team: TeamID?
    ) async throws -> [NotificationTimeline] {
        try await base.timelines(id: id, apnsID: apnsID, team: team)
    }

    package func isUnrecorded(_ id: NotificationID, team: TeamID?) async throws -> TeamID? {
        try await base.isUnrecorded(id, team: team)
    }

    package func highWater() throws -> Int64 { try base.highWater() }
}
