import HubProtocol
import Logging
import PushCore
import PushServer
import Synchronization

/// Runs the sends of all hubs, a slice of each in turn, several at the same time (``SendScheduler``). Neither a large send
/// nor one with a slow push service delays the others.
///
/// The progress is recorded after each slice. After a crash, the slice that was under way is submitted again with the
/// same ids, which the gateway delivers once.
package struct SendRunner: Sendable {
    private let hubs: NotificationHubs
    private let logger: Logger
    /// The time for which a send rests that could not continue, in milliseconds.
    private static let rest: Int64 = 5000
    /// The size of a large send, in multiples of the smallest broadcast part. Connected devices get such a send first.
    private static let largeBroadcast = 200
    /// The time for which only connected devices get such a send, in milliseconds, before its members are processed one
    /// by one.
    private static let liveTime: Int64 = 1000
    /// The time after which work is looked at again that another server does, in milliseconds.
    private static let otherServerRest: Int64 = 100
    /// The period of the search for expired entities, in milliseconds.
    private static let sweepPeriod: Int64 = 60_000

    /// Creates a runner for the sends of some hubs.
    package init(_ hubs: NotificationHubs, logger: Logger) {
        self.hubs = hubs
        self.logger = logger
    }

    /// The state of a run: the sends under way.
    private final class RunState: Sendable {
        struct State {
            var turns = SendScheduler()
            /// The first fault.
            var fault: (any Error)?
            var sweptAt: Timestamp?
            var isSweeping = false
        }
        let state = Mutex(State())

        var nextRest: Timestamp? { state.withLock { $0.turns.nextRest } }
    }

    /// Runs until the task is cancelled.
    ///
    /// - Parameter sleep: Waits for a duration, and throws when cancelled.
    package func run(sleep: @escaping @Sendable (Duration) async throws -> Void) async {
        let runState = RunState()
        await withDiscardingTaskGroup { group in
            for await _ in hubs.wakeUpStream {
                do {
                    let begun = try await begin(runState)
                    for record in begun.sends {
                        group.addTask {
                            await work(record, all: begun.hubs, runState: runState)
                            hubs.wakeUps.yield()
                        }
                    }
                    if sweepsNow(runState) { group.addTask { await sweep(runState) } }
                    let due = [try await hubs.store.nextDue(after: begun.at), runState.nextRest].compactMap { $0 }.min()
                    // A wait longer than an hour is checked again after an hour, in case the clock was set. What other servers
                    // accept, and what a server leaves that ends, is found within a second.
                    let longest: Duration = hubs.store.isShared ? .seconds(1) : .seconds(3600)
                    let wait = due.map { max(.zero, $0.duration(since: hubs.now)) } ?? longest
                    wakeUpLater(min(wait, longest), sleep)
                } catch {
                    if Task.isCancelled || error is CancellationError { break }
                    logger.error("the hub's sends wait five seconds: \(error)")
                    wakeUpLater(.seconds(5), sleep)
                }
                if Task.isCancelled { break }
            }
            group.cancelAll()
        }
    }

    private func wakeUpLater(_ wait: Duration, _ sleep: @escaping @Sendable (Duration) async throws -> Void) {
        let wakeUps = hubs.wakeUps
        hubs.alarm.set(
            Task {
                // A replaced alarm must not wake the runner.
                do { try await sleep(wait) } catch { return }
                wakeUps.yield()
            })
    }

    /// Wakes the runner at the start, for sends that an earlier run of the server left.
    package func wakeUp() { hubs.wakeUps.yield() }

    /// Stops ``run(sleep:)``.
    package func stop() {
        hubs.alarm.set(nil)
        hubs.wakeUps.finish()
    }

    /// Submits everything that can be sent now.
    ///
    /// - Returns: The time at which the next scheduled send is due.
    /// - Throws: The first fault, after all other sends have continued.
    package func runAll() async throws -> Timestamp? {
        let runState = RunState()
        var last = hubs.now
        await withTaskGroup(of: Void.self) { group in
            repeat {
                do {
                    let begun = try await begin(runState)
                    last = begun.at
                    for record in begun.sends {
                        group.addTask { await work(record, all: begun.hubs, runState: runState) }
                    }
                } catch { recordFault(error, runState) }
            } while await group.next() != nil
        }
        if let fault = runState.state.withLock({ $0.fault }) { throw fault }
        return try await hubs.store.nextDue(after: last)
    }

    /// The sends whose next step begins now, with their hubs.
    private struct Begun {
        var sends: [SendRecord] = []
        var hubs: [Int64: HubRecord] = [:]
        /// The time of the search for them.
        var at: Timestamp
    }

    private func begin(_ runState: RunState) async throws -> Begun {
        let now = hubs.now
        guard !Task.isCancelled else { return Begun(at: now) }
        let runnable = try await hubs.store.runnableSends(at: now)
        let turns = runState.state.withLock { $0.turns.next(runnable, now: now) }
        guard !turns.isEmpty else { return Begun(at: now) }
        do {
            let all = Dictionary(try await hubs.store.hubs().map { ($0.number, $0) }, uniquingKeysWith: { $1 })
            let records = try await hubs.store.sends(turns.map(\.number)).filter { all[$0.hub] != nil }
            let found = Set(records.map(\.number))
            for turn in turns where !found.contains(turn.number) {
                runState.state.withLock { $0.turns.end(turn.number, restingUntil: now.adding(milliseconds: Self.rest)) }
            }
            return Begun(sends: records, hubs: all, at: now)
        } catch {
            for turn in turns { runState.state.withLock { $0.turns.end(turn.number) } }
            throw error
        }
    }

    private func recordFault(_ fault: any Error, _ runState: RunState) {
        runState.state.withLock { if $0.fault == nil { $0.fault = fault } }
    }

    /// Runs one step of a send. A send that cannot continue rests a while, and delays no other.
    private func work(_ record: SendRecord, all: [Int64: HubRecord], runState: RunState) async {
        guard let hub = all[record.hub] else { return runState.state.withLock { $0.turns.end(record.number) } }
        var rest: Timestamp?
        do {
            do {
                try await claiming(record) { record in
                    try await hubs.slices.run(of: hub.number) { try await step(record, hub) }
                }
            } catch is ClaimedElsewhereError {
                rest = hubs.now.adding(milliseconds: Self.otherServerRest)
            } catch let fault as HubError {
                try await abandon(record, "\(fault)")
            } catch let fault as InstallationError {
                try await abandon(record, "\(fault)")
            } catch let fault as UnreadableSend {
                try await abandon(record, "\(fault)")
            }
        } catch {
            rest = hubs.now.adding(milliseconds: Self.rest)
            recordFault(error, runState)
            if !Task.isCancelled { logger.error("the send \(record.id) rests five seconds: \(error)") }
        }
        runState.state.withLock { $0.turns.end(record.number, restingUntil: rest) }
    }

    /// Runs a step of a send while no other server runs one.
    ///
    /// - Throws: ``ClaimedElsewhereError`` where one does, or has done what was to be done.
    private func claiming(
        _ record: SendRecord, _ body: @Sendable (SendRecord) async throws -> Void
    ) async throws {
        guard hubs.store.isShared else { return try await body(record) }
        try await hubs.store.claiming(SQLClaim(.send, record.number)) {
            guard let record = try await hubs.store.runnableSend(record.number, at: hubs.now) else {
                throw ClaimedElsewhereError()
            }
            try await body(record)
        }
    }

    private func sweepsNow(_ runState: RunState) -> Bool {
        let now = hubs.now
        return runState.state.withLock { state in
            guard !state.isSweeping, state.sweptAt.map({ now.milliseconds(since: $0) >= Self.sweepPeriod }) ?? true
            else { return false }
            (state.isSweeping, state.sweptAt) = (true, now)
            return true
        }
    }

    private func sweep(_ runState: RunState) async {
        do { try await hubs.deleteExpired() } catch {
            if !Task.isCancelled { logger.error("what expired in the hubs is deleted later: \(error)") }
        }
        runState.state.withLock { $0.isSweeping = false }
    }

    /// Gives up a send that cannot be read any more, so that it delays no other.
    private func abandon(_ record: SendRecord, _ why: String) async throws {
        logger.error("the send \(record.id) is given up: \(why)")
        try await hubs.store.abandon(record.number, reason: why, at: hubs.now)
    }

    /// Begins a send, or submits its next slice.
    private func step(_ record: SendRecord, _ hub: HubRecord) async throws {
        if let fault = record.unreadable { throw fault }
        guard record.startedAt != nil else { return try await begin(record, hub) }
        var slice = SendSlice(hubs: hubs, hub: hub, record: record)
        if try await handOver(record, hub) { return }
        let due = try await hubs.store.dueRetries(of: record.number, at: hubs.now, limit: slice.size)
        if !due.isEmpty {
            let progress = try await slice.run(again: due)
            return try await hubs.store.advance(
                record.number, hub: hub.number, progress, committed: hubs.committed)
        }
        slice.parts = try await parts(of: record)
        if let wave = try await hubs.store.nextWave(ofSend: record.number) {
            return try await step(wave, slice)
        }
        // After the last wave only retries may remain.
        if record.request.campaign != nil, try await hubs.store.endWaves(ofSend: record.number, at: hubs.now) {
            return
        }
        let audience: Bitmap
        if case .channels = record.request.target {
            audience = Bitmap()
        } else {
            audience = try await hubs.store.audience(ofSend: record.number)
        }
        let (progress, _) = try await slice.run(audience)
        try await hubs.store.advance(record.number, hub: hub.number, progress, committed: hubs.committed)
    }

    /// Submits the next broadcast part, or makes a part of the members without a copy at a pause. Returns whether there
    /// was one.
    private func handOver(_ record: SendRecord, _ hub: HubRecord) async throws -> Bool {
        guard hubs.gateway != nil, record.request.format != .template,
            let part = try await hubs.store.nextPart(ofSend: record.number)
        else { return false }
        if part.closure == .closed, part.broadcast != nil {
            try await hubs.succeed(part, of: record, hub)
            return true
        }
        // The copies of a closed part are known once its broadcast is.
        try await hubs.handOver(part, of: record, hub)
        let isLarge = part.count / Self.largeBroadcast >= hubs.broadcastMinimum
        if isLarge, try await hubs.store.nextPart(ofSend: record.number) == nil {
            try await hubs.store.rest(record.number, until: hubs.now.adding(milliseconds: Self.liveTime))
        }
        return true
    }

    private func parts(of record: SendRecord) async throws -> [(number: Int64, audience: Bitmap)] {
        guard hubs.gateway != nil, record.request.format != .template else { return [] }
        var parts: [(number: Int64, audience: Bitmap)] = []
        for part in try await hubs.store.parts(ofSend: record.number) {
            parts.append((part.number, try await hubs.store.audience(of: part)))
        }
        return parts
    }

    /// Opens a wave, or submits its next slice.
    private func step(_ wave: SendWave, _ slice: SendSlice) async throws {
        let record = slice.record
        guard wave.dueAt <= hubs.now else { return try await hubs.store.rest(record.number, until: wave.dueAt) }
        guard !hubs.isToBeOpened(wave, record.request.plan) else {
            // A cap counts the waves of the hub's other campaigns, so waves are opened one after another.
            return try await hubs.mutexes.pass(slice.hub.number) {
                let unreadable = try await hubs.store.claiming(SQLClaim(.campaigns, slice.hub.number)) {
                    try await hubs.open(wave, of: record, slice.hub)
                }
                for other in unreadable {
                    logger.error(
                        "it cannot be read whom the send \(other) reached: all whom it meant count for the cap of \(record.id)"
                    )
                }
            }
        }
        var (progress, _) = try await slice.run(try await hubs.store.audience(of: wave))
        progress.wave = wave
        try await hubs.store.advance(record.number, hub: slice.hub.number, progress, committed: hubs.committed)
    }

    private func begin(_ record: SendRecord, _ hub: HubRecord) async throws {
        switch record.request.target {
        case .channels(let channels):
            try await hubs.store.begin(
                record.number, audience: Bitmap(), targeted: channels.count, waves: nil, parts: [], at: hubs.now)
        case .audience(let text):
            let audience = try await hubs.audience(
                text, of: hub, for: record.request.format, readsFields: record.request.readsFields)
            guard record.request.campaign != nil else {
                return try await hubs.store.begin(
                    record.number, audience: audience, targeted: audience.count, waves: nil,
                    parts: try await hubs.parts(of: audience, record, hub), at: hubs.now)
            }
            try await hubs.store.begin(
                record.number, audience: audience, targeted: audience.count,
                waves: try await hubs.waves(of: record, hub, audience: audience), parts: [], at: hubs.now)
        }
    }
}
