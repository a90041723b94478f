import Metrics
import Networking
import PushCore

/// Messages of a service that may come with every batch while its store fails.
struct MailboxFailureMessages: Sendable {
    let commit = RepeatedMessage("a batch could not be committed")
    let lostLines = RepeatedMessage("timelines will lack lines")
    let lists = RepeatedMessage("who is in a list is asked again")
}

/// Commits, and what becomes of commands whose batch could not be committed.
extension MailboxService {
    /// Keeps the ceiling of ids ahead of them. This also detects that a store that failed works again, since providers
    /// that were notified of the failure may send nothing more.
    func renewIDs() throws {
        try noting { try ids.renew() }
    }

    /// Runs work of the store, and records whether it succeeded.
    ///
    /// - Throws: The error of the work; ``DamagedStore`` without trying, once the store was found to be damaged.
    func noting(_ work: () throws -> Void) throws {
        try health.requireSound()
        do { try work() } catch {
            health.failed(error, at: clock())
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
        failures += 1
        messages.commit.log(error, to: logger)
        Counter(label: "aldaba_store_failures_total").increment()
        isPruning = false
        for command in commands {
            // An event of a connection has happened even if the store fails.
            switch command {
            case .sent(let session, let ids, let at): sent(session, ids, at)
            case .close(let session): enter(.closed(session))
            case .visit(let devices, _): deliveryFailed(devices)
            default: break
            }
            Self.refuse(command)
        }
        keep(commands.filter(\.isKeptAfterFailure))
    }

    private func keep(_ commands: [MailboxCommand]) {
        let capacity = max(0, settings.deferredLimit - deferred.count)
        deferred += commands.prefix(capacity)
        let lost = max(0, commands.count - capacity)
        if lost > 0 {
            messages.lostLines.log(adding: lost, to: logger)
            Counter(label: "aldaba_commands_lost_total").increment(by: lost)
        }
        guard !deferred.isEmpty, !isRetryScheduled, !isStopped else { return }
        isRetryScheduled = true
        loop.scheduleTask(in: settings.retryPause) {
            self.assumeIsolated { service in
                service.isRetryScheduled = false
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
        case .visit(_, let complete): complete()
        case .sent, .close, .expire, .unregister, .prune, .writeSent: break
        }
    }
}
