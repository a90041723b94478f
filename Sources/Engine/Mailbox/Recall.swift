import PushModel

extension Mailbox {
    /// A word to the device that a notification was withdrawn which it may have: it is to take it off its screen.
    public struct Recall: Hashable, Sendable {
        /// Its place in the device's order, and the name under which the device acknowledges it.
        public var id: NotificationID
        /// The notification that was withdrawn.
        public var notification: NotificationID
        /// When it was withdrawn.
        public var at: Timestamp

        /// Makes the word of one withdrawal.
        public init(id: NotificationID, notification: NotificationID, at: Timestamp) {
            self.id = id
            self.notification = notification
            self.at = at
        }
    }

    /// How many recalls wait at most; of more the oldest leave, and the device goes on showing what they name.
    public static var recallLimit: Int { 1000 }

    /// The device is to be told of a withdrawal. One recall waits at most for each notification.
    ///
    /// - Precondition: `recall.id` is greater than every id that was given before.
    public mutating func recalled(_ recall: Recall) -> [Directive] {
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
