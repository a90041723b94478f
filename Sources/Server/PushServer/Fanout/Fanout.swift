import PushCore

/// The selection of the broadcasts that a device is to receive, from what is stored.
package enum Fanout {
    /// The next broadcast that is looked at for a device, with the registrations that get a copy of it.
    package struct ReplayStep: Hashable, Sendable {
        /// The broadcast's id.
        package var broadcast: NotificationID
        /// The device's cursor once the copies are stored.
        package var cursor: Int64
        /// The registrations that get a copy; empty where it does not concern the device, or has expired.
        package var registrations: [FanoutRegistration]
    }

    /// The broadcasts that a device is to receive, in order.
    ///
    /// A broadcast that is not among `broadcasts` has ended. The result ends before a broadcast for a list where
    /// membership of lists is not known.
    ///
    /// - Parameter isConnected: Whether notifications that are delivered once or never may be delivered now.
    package static func replay(
        _ device: DeviceAudience, of broadcasts: [NotificationID: Broadcast], isConnected: Bool, now: Timestamp
    ) -> [ReplayStep] {
        func step(_ broadcast: Broadcast) -> ReplayStep {
            let isDue = now < broadcast.expiresAt && (isConnected || !broadcast.isAttempt)
            return ReplayStep(
                broadcast: broadcast.id, cursor: broadcast.sequence,
                registrations: isDue
                    ? device.registrations.filter { isIn(broadcast, registration: $0, device: device) } : [])
        }
        func isKnown(_ broadcast: Broadcast) -> Bool {
            if case .list = broadcast.audience { device.lists != nil } else { true }
        }
        // A connected device most often has one.
        if device.broadcasts.count == 1 {
            guard let broadcast = broadcasts[device.broadcasts[0]], broadcast.sequence > device.cursor,
                isKnown(broadcast)
            else { return [] }
            return [step(broadcast)]
        }
        return device.broadcasts.compactMap { broadcasts[$0] }.filter { $0.sequence > device.cursor }
            .sorted { $0.sequence < $1.sequence }.prefix(while: isKnown).map(step)
    }

    /// The counts of expired broadcasts that a device would have received.
    package static func missed(_ broadcasts: [ExpiredBroadcast], by device: DeviceAudience) -> [MissedNotifications] {
        var counts: [MissedNotifications] = []
        for expired in broadcasts {
            let broadcast = expired.broadcast
            for registration in device.registrations
            where isIn(broadcast, registration: registration, device: device) {
                counts.add(
                    MissedNotifications(
                        app: registration.place.app, environment: registration.place.environment, lane: expired.lane,
                        count: 1, since: broadcast.expiresAt))
            }
        }
        return counts
    }

    /// Whether a registration was in the audience when the broadcast was accepted, and still is after its later
    /// leavings.
    ///
    /// A registration that joins a topic later does not receive this broadcast, and neither does one that leaves a
    /// topic.
    package static func isIn(
        _ broadcast: Broadcast, registration: FanoutRegistration, device: DeviceAudience
    ) -> Bool {
        guard registration.team == broadcast.team, registration.registeredAt <= broadcast.acceptedAt else {
            return false
        }
        let memberships = device.memberships
        switch broadcast.audience {
        case .list(let list):
            return registration.place == list.place && device.lists?.contains(list.number) == true
        case .topics(let condition, let app):
            if let app, registration.place.app != app { return false }
            if let topic = condition.single {
                return memberships.contains { membership in
                    membership.topic == topic && membership.left == nil && membership.joined < broadcast.sequence
                        && membership.place == registration.place && membership.generation == registration.generation
                }
            }
            let then = memberships.filter { membership in
                membership.place == registration.place && membership.generation == registration.generation
                    && membership.joined < broadcast.sequence && membership.left.map { $0 > broadcast.sequence } ?? true
            }
            return condition.matches { topic in then.contains { $0.topic == topic } }
                && condition.matches { topic in then.contains { $0.topic == topic && $0.left == nil } }
        }
    }
}
