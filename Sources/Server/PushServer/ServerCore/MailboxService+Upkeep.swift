import Metrics
import NIOCore
import Networking
import PushCore

/// Periodic tasks of the service: ids, expiry, retention, and the final writes before it stops.
extension MailboxService {
    /// Starts the periodic tasks: expiry, pruning and the ceiling of ids. Call it once.
    nonisolated package func start() {
        loop.execute { self.assumeIsolated { $0.upkeep(sweepFrom: nil) } }
        loop.execute { self.assumeIsolated { $0.pruneRound() } }
        guard let nodes else { return }
        nodes.carrier.receive(at: nodes.store.node, receive)
        arrivals.forward { [weak self] in
            guard let self else { return }
            loop.execute { self.assumeIsolated { $0.sendHeartbeatEverywhere() } }
        }
        loop.execute { self.assumeIsolated { $0.runHeartbeatRound() } }
    }

    /// Sweeps the first 2,000 queued notifications at once, since the clock was advanced; the periodic task sweeps the others.
    nonisolated package func clockAdvanced() { loop.execute { self.assumeIsolated { $0.sweepOnce() } } }

    /// Runs a slice of the sweep over queued notifications. The next follows soon when there is more, otherwise after a
    /// pause.
    private func upkeep(sweepFrom position: SweepPosition?) {
        guard !upkeep.isStopped else { return }
        var next: SweepPosition?
        let begun = NIODeadline.now()
        do {
            try renewIDs()
            noteConnectedDevices()
            if hasDuties {
                next = try sweep(from: position)
            } else {
                // Another node counts what is queued.
                metrics.swept(WaitingCount(), at: clock())
            }
        } catch {
            logger.warning("the store could not be swept", metadata: [LogKey.error: "\(error)"])
        }
        let after = next
        // The sweep has a tenth of the writer's time at most: nobody waits for it.
        let pause = max(.milliseconds(100), TimeAmount.nanoseconds(9 * (NIODeadline.now() - begun).nanoseconds))
        loop.scheduleTask(in: next == nil ? .seconds(5) : pause) {
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
        if position == nil { counts.waiting = WaitingCount() }
        counts.waiting.add(slice)
        if slice.next == nil { metrics.swept(counts.waiting, at: clock()) }
        return slice.next
    }

    /// Sweeps the first queued notifications at once; `flushNotes` waits for the results.
    func sweepOnce() {
        noteConnectedDevices()
        _ = try? sweep(from: nil)
    }

    /// The threshold of absence: devices not seen after this instant were away for too long.
    private var awaySince: Timestamp {
        let now = clock()
        guard now.duration(since: upkeep.startedAt) >= settings.timeToReturn else {
            return Timestamp(rawValue: .min)
        }
        return now + (.zero - settings.longestAbsence - MailboxBatch.seenInterval)
    }

    /// Records the presence of devices that stay connected, some thousand at a time.
    private func noteConnectedDevices() {
        if clock().duration(since: upkeep.devicesNotedAt) >= MailboxBatch.seenInterval {
            upkeep.devicesNotedAt = clock()
            upkeep.devicesToNote = Array(connections.sessions.keys)
        }
        for device in upkeep.devicesToNote.suffix(2000) { _ = submit(.expire(device, isAway: false)) }
        upkeep.devicesToNote.removeLast(min(2000, upkeep.devicesToNote.count))
    }

    /// Prunes the next slice of a round after a pause, so that the writer is never delayed by it.
    func pruneSoon() {
        guard !upkeep.isStopped else { return }
        loop.scheduleTask(in: TimeAmount(upkeep.pruningPace.pause)) { _ = self.submit(.prune) }
    }

    /// Prunes the next slice; the pause before the next depends on how long it took. A failure ends the round.
    func prune() {
        let now = clock()
        let began = NIODeadline.now()
        upkeep.isPruning = false
        do {
            try withHealthTracking {
                upkeep.isPruning = try store.prune(
                    timelinesBefore: now - settings.timelineRetention,
                    payloadsBefore: now - settings.payloadRetention, now: now,
                    limit: upkeep.pruningPace.limit)
            }
        } catch {
            retries.failures += 1
            logger.error("the store could not be pruned", metadata: [LogKey.error: "\(error)"])
            return
        }
        upkeep.pruningPace.recordSlice(taking: .nanoseconds((NIODeadline.now() - began).nanoseconds))
        if upkeep.isPruning { pruneSoon() }
    }

    /// Ends the sessions of revoked devices; devices without a session are ignored.
    nonisolated package func endSessions(of devices: [DeviceID]) {
        loop.execute {
            self.assumeIsolated { service in
                for device in devices { service.connections.sessions[device]?.connection.revoked() }
            }
        }
    }

    /// Notifies a connected device's wire that the browser registrations of the device have changed.
    nonisolated package func registrationsChanged(of device: DeviceID) {
        if nodes != nil, presence.connection(of: device) == nil { return wakeElsewhere([device]) }
        loop.execute {
            self.assumeIsolated { $0.connections.sessions[device]?.connection.registrationsChanged() }
        }
    }

    /// Begins a round of pruning once a minute, unless the last one is still under way.
    private func pruneRound() {
        guard !upkeep.isStopped else { return }
        if !upkeep.isPruning, hasDuties {
            upkeep.isPruning = true
            _ = submit(.prune)
        }
        loop.scheduleTask(in: .minutes(1)) { self.assumeIsolated { $0.pruneRound() } }
    }

    /// Writes the queued commands and stops the periodic tasks. Call it after every endpoint has stopped.
    ///
    /// A store that keeps failing is tried three times; notes that it did not take are counted in the log.
    package func stop() {
        upkeep.isStopped = true
        queue.endBulk()
        let failuresBefore = retries.failures
        while retries.failures < failuresBefore + 3,
            !queue.isEmpty || !retries.deferred.isEmpty || !counts.sentLines.isEmpty
        {
            if queue.isEmpty, retries.deferred.isEmpty { _ = queue.enqueue(.writeSent(counts.sentLines.ids)) }
            drainOnce()
            writeNotes()
        }
        guard !queue.isEmpty || !retries.deferred.isEmpty else { return }
        let counts = queue.counts
        logger.error(
            "stopped without writing everything",
            metadata: [
                LogKey.count: "\(counts.commands + retries.deferred.count) commands, \(counts.notes) notes"
            ])
    }
}

/// Messages of a service that may come with every batch while its store fails.
struct MailboxFailureMessages: Sendable {
    let commit = RepeatedMessage("a batch could not be committed")
    let lostLines = RepeatedMessage("timelines will lack lines")
    let lists = RepeatedMessage("who is in a list is asked again")
    let heartbeats = RepeatedMessage("the state of the nodes could not be read", level: .warning)
}

/// Commits, and what becomes of commands whose batch could not be committed.
extension MailboxService {
    /// Keeps the ceiling of ids ahead of them. This also detects that a store that failed works again, since providers
    /// that were notified of the failure may send nothing more.
    func renewIDs() throws {
        try withHealthTracking { try ids.renew() }
    }

    /// Runs work of the store, and records whether it succeeded.
    ///
    /// - Throws: The error of the work; ``DamagedStore`` without trying, once the store was found to be damaged.
    func withHealthTracking(_ work: () throws -> Void) throws {
        try health.requireSound()
        do { try work() } catch {
            if (error as? any StoreFailure)?.isConflict != true { health.failed(error, at: clock()) }
            throw error
        }
        guard health.failure != nil else { return }
        // The work may have written nothing, and then proves nothing about a disk that was full before. This writes a
        // row.
        do {
            try store.apply([.raiseHighWater(to: 0)])
            health.committed(at: clock())
        } catch { health.failed(error, at: clock()) }
    }

    /// Notifies every caller of the failure, and keeps the commands that no caller would repeat.
    func failed(_ commands: [MailboxCommand], _ error: any Error) {
        retries.failures += 1
        retries.messages.commit.log(error, to: logger)
        Counter(label: "aldaba_store_failures_total").increment()
        upkeep.isPruning = false
        for command in commands {
            // An event of a connection has happened even if the store fails.
            switch command {
            case .sent(let session, ids: let ids, at: let at): sent(session, ids: ids, at: at)
            case .close(let session): enter(.closed(session))
            case .deliverBroadcasts(let devices, _): deliveryFailed(devices)
            default: break
            }
            Self.refuse(command)
        }
        keep(commands.filter(\.isKeptAfterFailure))
    }

    private func keep(_ commands: [MailboxCommand]) {
        let capacity = max(0, settings.deferredLimit - retries.deferred.count)
        retries.deferred += commands.prefix(capacity)
        let lost = max(0, commands.count - capacity)
        if lost > 0 {
            retries.messages.lostLines.log(adding: lost, to: logger)
            Counter(label: "aldaba_commands_lost_total").increment(by: lost)
        }
        guard !retries.deferred.isEmpty, !retries.isRetryScheduled, !upkeep.isStopped else { return }
        retries.isRetryScheduled = true
        loop.scheduleTask(in: settings.retryPause) {
            self.assumeIsolated { service in
                service.retries.isRetryScheduled = false
                service.drain()
            }
        }
    }

    /// Notifies the caller of a command that it was not executed.
    private static func refuse(_ command: MailboxCommand) {
        switch command {
        case .accept(let queued):
            let acceptance = queued.acceptance
            queued.sink.completed([
                AcceptanceResult(ticket: acceptance.ticket, id: nil, apnsID: acceptance.notification.apnsID)
            ])
        case .open(_, _, let complete): complete(.unavailable)
        case .record(_, _, let complete): complete(false)
        case .acknowledged(_, _, let complete): complete(false)
        case .withdraw(_, _, let complete): complete(.failed)
        case .flush(let complete): complete(false)
        // The devices stay due.
        case .deliverBroadcasts(_, let complete): complete()
        case .sent, .close, .expire, .unregister, .prune, .writeSent: break
        }
    }
}
