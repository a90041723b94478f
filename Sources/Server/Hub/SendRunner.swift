import Audience
import HubWire
import Logging
import PushModel

/// Runs the sends of all hubs: a slice of each in turn, so that a large one holds up none.
///
/// What was handed over is noted after each slice. After a sudden end the slice that was under way is handed over again, with the
/// same ids, which the gateway delivers once.
package struct SendRunner: Sendable {
    private let hubs: NotificationHubs
    private let logger: Logger
    /// Sends that take turns.
    private static let abreast = 64

    /// Runs the sends of some hubs.
    package init(_ hubs: NotificationHubs, logger: Logger) {
        self.hubs = hubs
        self.logger = logger
    }

    /// Runs until the task is cancelled.
    ///
    /// - Parameter sleep: Waits for so long, and throws when cancelled.
    package func run(sleep: @escaping @Sendable (Duration) async throws -> Void) async {
        for await _ in hubs.rings {
            do {
                let due = try await runAll()
                try await hubs.deleteExpired()
                // Whoever waits longer than an hour is looked for again then, should the clock be set.
                let wait = min(due.map { max(.zero, $0.duration(since: hubs.now)) } ?? .seconds(3600), .seconds(3600))
                ringLater(wait, sleep)
            } catch is CancellationError {
                return
            } catch {
                if Task.isCancelled { return }
                logger.error("the hub's sends wait five seconds: \(error)")
                ringLater(.seconds(5), sleep)
            }
            if Task.isCancelled { return }
        }
    }

    private func ringLater(_ wait: Duration, _ sleep: @escaping @Sendable (Duration) async throws -> Void) {
        let bell = hubs.bell
        hubs.alarm.set(
            Task {
                // An alarm that was set anew rings no more.
                do { try await sleep(wait) } catch { return }
                bell.yield()
            })
    }

    /// Begins with what an earlier run of the server left.
    package func ring() { hubs.bell.yield() }

    /// Stops ``run(sleep:)``.
    package func stop() {
        hubs.alarm.set(nil)
        hubs.bell.finish()
    }

    /// Hands over all that can go now.
    ///
    /// - Returns: When the next scheduled send is due.
    package func runAll() async throws -> Timestamp? {
        while !Task.isCancelled {
            let runnable = try await hubs.store.runnableSends(at: hubs.now, limit: Self.abreast)
            guard !runnable.isEmpty else { break }
            let all = Dictionary(try await hubs.store.hubs().map { ($0.number, $0) }, uniquingKeysWith: { $1 })
            for record in runnable {
                guard let hub = all[record.hub] else { continue }
                do { try await step(record, hub) } catch let fault as HubFault {
                    try await abandon(record, "\(fault)")
                } catch let fault as InstallationFault {
                    try await abandon(record, "\(fault)")
                }
            }
        }
        return try await hubs.store.nextDue()
    }

    /// Gives up a send that cannot be read any more, so that it holds up no other.
    private func abandon(_ record: SendRecord, _ why: String) async throws {
        logger.error("the send \(record.id) is given up: \(why)")
        try await hubs.store.abandon(record.number, reason: why, at: hubs.now)
    }

    /// Begins a send, or hands over its next slice.
    private func step(_ record: SendRecord, _ hub: HubRecord) async throws {
        guard record.startedAt != nil else { return try await begin(record, hub) }
        let slice = SendSlice(hubs: hubs, hub: hub, record: record)
        if record.isToBeChecked {
            let (cursor, isEnd) = try await slice.check(try await hubs.store.audience(ofSend: record.number))
            return try await hubs.store.noteCheck(record.number, cursor: cursor, isEnd: isEnd, at: hubs.now)
        }
        let due = try await hubs.store.dueRetries(of: record.number, at: hubs.now, limit: SendSlice.largest)
        if !due.isEmpty {
            let progress = try await slice.run(again: due)
            return try await hubs.store.advance(
                record.number, hub: hub.number, progress, committed: hubs.committed)
        }
        if let wave = try await hubs.store.nextWave(ofSend: record.number) {
            return try await step(wave, slice)
        }
        // After the last wave there is what is to be tried again, or nothing.
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

    /// Opens a wave, or hands over its next slice.
    private func step(_ wave: SendWave, _ slice: SendSlice) async throws {
        let record = slice.record
        guard wave.dueAt <= hubs.now else { return try await hubs.store.rest(record.number, until: wave.dueAt) }
        guard !hubs.isToBeOpened(wave, record.request.plan) else {
            return try await hubs.open(wave, of: record, slice.hub)
        }
        var (progress, _) = try await slice.run(try await hubs.store.audience(of: wave))
        progress.wave = wave
        try await hubs.store.advance(record.number, hub: slice.hub.number, progress, committed: hubs.committed)
    }

    private func begin(_ record: SendRecord, _ hub: HubRecord) async throws {
        switch record.request.target {
        case .channels(let channels):
            try await hubs.store.begin(
                record.number, audience: Bitmap(), targeted: channels.count, waves: nil, at: hubs.now)
        case .audience(let text):
            let audience = try await hubs.audience(
                text, of: hub, for: record.request.format, readsFields: record.request.readsFields)
            guard record.request.campaign != nil else {
                return try await hubs.store.begin(
                    record.number, audience: audience, targeted: audience.count, waves: nil, at: hubs.now)
            }
            let (meant, waves) = try await hubs.waves(of: record, hub, audience: audience)
            try await hubs.store.begin(
                record.number, audience: meant, targeted: meant.count, waves: waves, at: hubs.now)
        }
    }
}
