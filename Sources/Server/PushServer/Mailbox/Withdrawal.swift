import PushCore

extension Mailbox {
    /// The result of withdrawing notifications for their provider.
    package struct Withdrawal: Hashable, Sendable {
        /// The actions for the owner: queued notifications leave as `withdrawn`, those in flight too.
        package var directives: [Directive] = []
        /// The withdrawn notifications that were in flight: the device may have them, and is to remove them from its
        /// screen.
        package var inFlight: [NotificationID] = []
        /// The notifications that were not queued: the device has them, or they left otherwise, as the owner's store
        /// knows.
        package var absent: [NotificationID] = []

        /// A withdrawal that has taken back nothing yet.
        package init() {}
    }

    /// The provider takes these back.
    package mutating func withdrawn(_ ids: [NotificationID]) -> Withdrawal {
        var withdrawal = Withdrawal()
        for id in ids {
            if let place = queues.firstIndex(where: { $0.contains(id) }) {
                withdraw(id, from: place, &withdrawal)
            } else {
                withdrawal.absent.append(id)
            }
        }
        return withdrawal
    }

    /// The provider takes back what has a collapse id. Looks through all that waits of the app in the lane.
    package mutating func withdrawn(
        collapseID: String, app: AppID, environment: PushEnvironment, lane: Lane
    ) -> Withdrawal {
        var withdrawal = Withdrawal()
        let name = AppQueue.Name(app: app, environment: environment, lane: lane)
        guard let place = queues.firstIndex(where: { $0.name == name }) else { return withdrawal }
        for id in queues[place].ids(collapsing: collapseID) { withdraw(id, from: place, &withdrawal) }
        return withdrawal
    }

    private mutating func withdraw(_ id: NotificationID, from place: Int, _ withdrawal: inout Withdrawal) {
        if queues[place].isInFlight(id) { withdrawal.inFlight.append(id) }
        remove(id, from: place, state: .withdrawn, directives: &withdrawal.directives)
    }
}
