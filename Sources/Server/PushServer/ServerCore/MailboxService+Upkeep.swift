import NIOCore
import Networking
import PushCore

/// Periodic tasks of the service: ids, expiry, retention, and the final writes before it stops.
extension MailboxService {
    /// Starts the periodic tasks: expiry, pruning and the ceiling of ids. Call it once.
    nonisolated package func start() {
        loop.execute { self.assumeIsolated { $0.upkeep(sweepFrom: nil) } }
        loop.execute { self.assumeIsolated { $0.pruneRound() } }
    }

    /// Runs a slice of the sweep over queued notifications. The next follows soon when there is more, otherwise after a
    /// pause.
    private func upkeep(sweepFrom position: SweepPosition?) {
        guard !isStopped else { return }
        var next: SweepPosition?
        do {
            try renewIDs()
            noteConnectedDevices()
            next = try sweep(from: position)
        } catch {
            logger.warning("the store could not be swept", metadata: [LogKey.error: "\(error)"])
        }
        let after = next
        loop.scheduleTask(in: next == nil ? .seconds(5) : .milliseconds(100)) {
            self.assumeIsolated { $0.upkeep(sweepFrom: after) }
        }
    }

    /// Ends the notifications that one slice found; returns the position at which the next begins.
    private func sweep(from position: SweepPosition?) throws -> SweepPosition? {
        let slice = try store.expired(at: clock(), awaySince: awaySince, from: position, limit: 2000)
        for device in slice.devices.union(slice.away) {
            _ = submit(.expire(device, isAway: slice.away.contains(device)))
        }
        for place in slice.ended { _ = submit(.unregister(place.device, place.app, place.environment)) }
        if position == nil { waiting = WaitingCount() }
        waiting.add(slice)
        if slice.next == nil { metrics.swept(waiting, at: clock()) }
        return slice.next
    }

    /// Sweeps all queued notifications once, for tests; `flushNotes` waits for the results.
    func sweepOnce() {
        noteConnectedDevices()
        _ = try? sweep(from: nil)
    }

    /// The threshold of absence: devices not seen after this instant were away for too long.
    private var awaySince: Timestamp {
        let now = clock()
        guard now.duration(since: startedAt) >= settings.timeToReturn else {
            return Timestamp(rawValue: .min)
        }
        return now + (.zero - settings.longestAbsence - MailboxBatch.seenInterval)
    }

    /// Records the presence of devices that stay connected, some thousand at a time.
    private func noteConnectedDevices() {
        if clock().duration(since: devicesNotedAt) >= MailboxBatch.seenInterval {
            devicesNotedAt = clock()
            devicesToNote = Array(sessions.keys)
        }
        for device in devicesToNote.suffix(2000) { _ = submit(.expire(device, isAway: false)) }
        devicesToNote.removeLast(min(2000, devicesToNote.count))
    }

    /// Prunes the next slice of a round after a pause, so that the writer is never delayed by it.
    func pruneSoon() {
        guard !isStopped else { return }
        loop.scheduleTask(in: TimeAmount(pruningPace.pause)) { _ = self.submit(.prune) }
    }

    /// Prunes the next slice; the pause before the next depends on how long it took. A failure ends the round.
    func prune() {
        let now = clock()
        let began = NIODeadline.now()
        isPruning = false
        do {
            try noting {
                isPruning = try store.prune(
                    timelinesBefore: now - settings.timelineRetention,
                    payloadsBefore: now - settings.payloadRetention, now: now,
                    limit: pruningPace.limit)
            }
        } catch {
            failures += 1
            logger.error("the store could not be pruned", metadata: [LogKey.error: "\(error)"])
            return
        }
        pruningPace.tookSlice(.nanoseconds((NIODeadline.now() - began).nanoseconds))
        if isPruning { pruneSoon() }
    }

    /// Ends the sessions of revoked devices; devices without a session are ignored.
    nonisolated package func endSessions(of devices: [DeviceID]) {
        loop.execute {
            self.assumeIsolated { service in
                for device in devices { service.sessions[device]?.connection.revoked() }
            }
        }
    }

    /// Notifies a connected device's wire that the browser registrations of the device have changed.
    nonisolated package func registrationsChanged(of device: DeviceID) {
        loop.execute {
            self.assumeIsolated { $0.sessions[device]?.connection.registrationsChanged() }
        }
    }

    /// Begins a round of pruning once a minute, unless the last one is still under way.
    private func pruneRound() {
        guard !isStopped else { return }
        if !isPruning {
            isPruning = true
            _ = submit(.prune)
        }
        loop.scheduleTask(in: .minutes(1)) { self.assumeIsolated { $0.pruneRound() } }
    }

    /// Writes the queued commands and stops the periodic tasks. Call it after every endpoint has stopped.
    ///
    /// A store that keeps failing is tried three times; notes that it did not take are counted in the log.
    package func stop() {
        isStopped = true
        queue.endBulk()
        let failuresBefore = failures
        while failures < failuresBefore + 3, !queue.isEmpty || !deferred.isEmpty || !sentLines.isEmpty {
            if queue.isEmpty, deferred.isEmpty { _ = queue.push(.writeSent(sentLines.ids)) }
            drainOnce()
            writeNotes()
        }
        guard !queue.isEmpty || !deferred.isEmpty else { return }
        let counts = queue.counts
        logger.error(
            "stopped without writing everything",
            metadata: [
                LogKey.count: "\(counts.commands + deferred.count) commands, \(counts.notes) notes"
            ])
    }
}
