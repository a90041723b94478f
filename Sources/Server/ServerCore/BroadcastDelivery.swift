import Fanout
import NIOCore
import PushModel

/// Gives connected devices what broadcasts have for them; the port of those who store broadcasts and subscriptions.
public protocol BroadcastDelivery: Sendable {
    /// A new id for a broadcast, of the sequence of notifications; `nil` when none can be made now.
    func newID() -> NotificationID?

    /// A broadcast for the members of these topics was made durable: those who are connected get it, slice by slice.
    func published(_ topics: [TopicNumber])

    /// Subscriptions of these devices were changed. Completes when nothing is decided by the earlier ones any more.
    func subscriptionsChanged(_ devices: [DeviceID], then complete: @escaping @Sendable () -> Void)
}

extension MailboxService: BroadcastDelivery {
    /// Makes an id on this thread.
    nonisolated public func newID() -> NotificationID? { ids.next(now: clock()) }

    /// Has the members that are connected looked at, one slice in a batch.
    nonisolated public func published(_ topics: [TopicNumber]) {
        loop.execute {
            self.assumeIsolated { service in
                service.live.published(topics)
                service.visitNext()
            }
        }
    }

    /// Queues a look at the devices; those that are not connected read anew when they connect.
    nonisolated public func subscriptionsChanged(
        _ devices: [DeviceID], then complete: @escaping @Sendable () -> Void
    ) {
        _ = submit(.visit(devices, complete))
    }

    // MARK: Turns of connected devices

    /// Has the next devices that are due looked at, unless that is under way. While the store fails, that waits.
    func visitNext() {
        guard !isVisiting, !isStopped, live.hasDue else { return }
        guard health.failure == nil else { return visitLater() }
        let devices = live.next(settings.visitLimit).filter { sessions[$0] != nil }
        isVisiting = true
        _ = submit(
            .visit(devices) {
                self.assumeIsolated { service in
                    service.isVisiting = false
                    // The next slice goes behind what was queued meanwhile.
                    service.visitNext()
                }
            })
    }

    /// Gives connected devices their turn.
    func visit(_ devices: [DeviceID], _ batch: inout MailboxBatch) {
        for device in devices {
            guard let session = sessions[device], let audience = batch.takeAudience(device) else { continue }
            live.connected(device, topics: audience.topics)
            replay(audience, of: device, to: session, &batch)
        }
    }

    /// The visit could not be committed: the devices stay due.
    func visitFailed(_ devices: [DeviceID]) {
        live.due(devices.filter { sessions[$0] != nil })
        visitLater()
    }

    private func visitLater() {
        guard !isVisitScheduled, !isStopped else { return }
        isVisitScheduled = true
        loop.scheduleTask(in: settings.retryPause) {
            self.assumeIsolated { service in
                service.isVisitScheduled = false
                service.visitNext()
            }
        }
    }

    /// Makes a device's copies of what it has not looked at yet, and moves its cursor.
    ///
    /// - Parameter session: `nil` for a device that logs in: it reads its copies with its first page.
    func replay(
        _ audience: DeviceAudience, of device: DeviceID, to session: LiveSession?, _ batch: inout MailboxBatch
    ) {
        guard !audience.broadcasts.isEmpty else { return }
        let turns = Fanout.replay(
            audience, of: batch.broadcasts.mapValues(\.broadcast), isConnected: session != nil, now: clock())
        var cursor = audience.cursor
        for turn in turns {
            guard let record = batch.broadcasts[turn.broadcast] else { continue }
            for registration in turn.registrations {
                guard let app = batch.app(registration.place.app) else { continue }
                let copy = record.copy(for: registration, of: device, cell: settings.cell, app: app)
                if copy.isAttempt {
                    batch.effects.answer { _ = self.attempt(copy) }
                } else if admit(copy, as: nil, of: record, to: session, &batch) == nil {
                    return live.due([device])
                }
            }
            cursor = turn.cursor
        }
        if cursor > audience.cursor { batch.add(.moveCursor(device, to: cursor)) }
        if audience.broadcasts.count >= DeviceAudience.broadcastLimit { live.due([device]) }
    }
}
