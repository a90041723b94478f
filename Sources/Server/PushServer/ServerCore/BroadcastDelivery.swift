import NIOCore
import PushCore

extension MailboxService {
    /// A new id for a broadcast, from the sequence of notifications; `nil` when none can be made now.
    nonisolated package func newID() -> NotificationID? { ids.next(now: clock()) }

    /// Delivers a broadcast for the members of these topics, which was made durable, to the connected devices, slice by
    /// slice.
    nonisolated package func published(_ topics: [TopicNumber]) {
        loop.execute {
            self.assumeIsolated { service in
                // A node reads from the store what was published, also by itself.
                guard service.nodes == nil else { return service.sendHeartbeatEverywhere() }
                service.broadcasts.live.published(topics)
                service.deliverNext()
            }
        }
    }

    /// Changes subscriptions of these devices. When this returns, no decision depends on the earlier ones any more.
    ///
    /// - Parameter change: Makes the change durable. Its result is not examined: the devices are processed in any case.
    /// - Throws: The error that the change throws.
    nonisolated package func changeSubscriptions<Value: Sendable>(
        of devices: [DeviceID], _ change: () async throws -> Value
    ) async throws -> Value {
        changing.beginChange(of: devices)
        do {
            let value = try await change()
            await lookAnew(at: devices)
            return value
        } catch {
            await lookAnew(at: devices)
            throw error
        }
    }

    private nonisolated func lookAnew(at devices: [DeviceID]) async {
        await withCheckedContinuation { continuation in
            _ = submit(
                .deliverBroadcasts(devices) {
                    self.changing.endChange(of: devices)
                    continuation.resume()
                })
        }
    }

    /// Changes a registration of a device. When this returns, no decision depends on the earlier ones any more.
    nonisolated func changeRegistration<Value: Sendable>(
        of device: DeviceID, _ change: () async throws -> Value
    ) async throws -> Value {
        changing.beginChange(of: [device])
        defer {
            // Until the device is processed, the cached audience is not used. A device without a connection has none.
            if nodes == nil, presence.connection(of: device) == nil {
                changing.endChange(of: [device])
            } else {
                _ = submit(.deliverBroadcasts([device]) { self.changing.endChange(of: [device]) })
            }
        }
        return try await change()
    }

    // MARK: Processing of connected devices

    /// Processes the next devices that are due, unless a slice is under way. While the store fails, they wait.
    func deliverNext() {
        guard !broadcasts.isVisiting, !upkeep.isStopped, broadcasts.live.hasDue else { return }
        guard health.failure == nil, !broadcasts.isUnsureOfLists else { return deliverLater() }
        let devices = broadcasts.live.next(settings.visitLimit).filter { connections.sessions[$0] != nil }
        broadcasts.isVisiting = true
        _ = submit(
            .deliverBroadcasts(devices) {
                self.assumeIsolated { service in
                    service.broadcasts.isVisiting = false
                    // The next slice is queued after the commands that were queued meanwhile.
                    service.deliverNext()
                }
            })
    }

    /// Processes the broadcasts of connected devices.
    func deliverBroadcasts(_ devices: [DeviceID], _ batch: inout MailboxBatch) {
        for device in devices {
            // The device's node looks at it after a change of this one.
            if case .elsewhere(let node) = sessionLocation(of: device, in: batch), !changing.among([device]).isEmpty {
                batch.effects.wake(device, at: node)
            }
            guard session(of: device, batch) != nil, let audience = batch.takeAudience(device) else { continue }
            let isKnown = broadcasts.known.audience(of: device) != nil
            if !isKnown { broadcasts.live.connected(device, topics: audience.topics) }
            let cursor = replay(audience, of: device, to: .here, &batch)
            // Other nodes change subscriptions too, and say so later. Registrations are read only together with broadcasts.
            guard nodes == nil, isKnown || !audience.broadcasts.isEmpty, changing.among([device]).isEmpty else {
                continue
            }
            broadcasts.known.learn(audience, of: device, cursor: cursor)
        }
    }

    /// The command could not be committed: the devices stay due.
    func deliveryFailed(_ devices: [DeviceID]) {
        for device in devices { broadcasts.known.forget(device) }
        broadcasts.live.due(devices.filter { connections.sessions[$0] != nil })
        deliverLater()
    }

    private func deliverLater() {
        guard !broadcasts.isVisitScheduled, !upkeep.isStopped else { return }
        broadcasts.isVisitScheduled = true
        loop.scheduleTask(in: settings.retryPause) {
            self.assumeIsolated { service in
                service.broadcasts.isVisitScheduled = false
                service.broadcasts.isUnsureOfLists = false
                service.deliverNext()
            }
        }
    }

    /// Makes a device's copies of the broadcasts after its cursor, and moves the cursor.
    ///
    /// - Parameter place: The place of the session: nowhere for a device that logs in, which reads its copies with its first
    ///   page.
    /// - Returns: The new position of the cursor.
    @discardableResult
    func replay(
        _ audience: DeviceAudience, of device: DeviceID, to place: SessionLocation, _ batch: inout MailboxBatch
    ) -> Int64 {
        guard !audience.broadcasts.isEmpty else { return audience.cursor }
        let steps = Fanout.replay(
            audience, of: batch.fanout, isConnected: place != .nowhere, now: clock())
        var cursor = audience.cursor
        for step in steps {
            guard let record = batch.broadcasts[step.broadcast],
                makeCopies(step, of: record, for: device, to: place, &batch)
            else {
                broadcasts.live.due([device])
                break
            }
            cursor = step.cursor
        }
        if cursor > audience.cursor { batch.add(.moveCursor(device, to: cursor)) }
        // What waits for the answer of a list is looked at again, where there can be one.
        if audience.lists == nil, !broadcasts.areListsDamaged { broadcasts.live.due([device]) }
        if audience.broadcasts.count >= DeviceAudience.broadcastLimit { broadcasts.live.due([device]) }
        return cursor
    }

    /// Makes the copies of one broadcast for a device; `false` when no id can be made now.
    private func makeCopies(
        _ step: Fanout.ReplayStep, of record: BroadcastRecord, for device: DeviceID, to place: SessionLocation,
        _ batch: inout MailboxBatch
    ) -> Bool {
        for registration in step.registrations {
            guard let app = batch.app(registration.place.app) else { continue }
            let copy = record.copy(for: registration, of: device, cell: settings.cell, app: app)
            if copy.isAttempt {
                batch.effects.answer { _ = self.attempt(copy) }
            } else if admit(copy, as: nil, of: record, to: place, &batch) == nil {
                return false
            }
        }
        return true
    }
}
