import PushCore

extension Mailbox {
    /// A request to the device to remove a withdrawn notification, which it may have, from its screen.
    package struct Recall: Hashable, Sendable {
        /// The recall's position in the device's queue, and the id under which the device acknowledges it.
        package var id: NotificationID
        /// The notification that was withdrawn.
        package var notification: NotificationID
        /// When it was withdrawn.
        package var at: Timestamp

        /// Makes the recall of one withdrawal.
        package init(id: NotificationID, notification: NotificationID, at: Timestamp) {
            self.id = id
            self.notification = notification
            self.at = at
        }
    }

    /// How many recalls wait at most; of more the oldest leave, and the device goes on showing what they name.
    package static var recallLimit: Int { 1000 }

    /// Queues a recall for the device. At most one is queued for each notification.
    ///
    /// - Precondition: `recall.id` is greater than every id that was given before.
    package mutating func recalled(_ recall: Recall) -> [Directive] {
        guard !recalls.contains(where: { $0.notification == recall.notification }) else { return [] }
        var directives: [Directive] = []
        while recalls.count >= Self.recallLimit { directives.append(.removeRecall(recalls.removeFirst().id)) }
        recalls.append(recall)
        return directives + [.recall(recall)]
    }

    mutating func removeRecall(_ id: NotificationID, _ directives: inout [Directive]) {
        guard let index = recalls.firstIndex(where: { $0.id == id }) else { return }
        recalls.remove(at: index)
        directives.append(.removeRecall(id))
    }
}
