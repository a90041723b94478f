/// A device's report about one notification.
package struct Receipt: Hashable, Sendable {
    /// The id of the notification.
    package var id: NotificationID
    /// The line for its timeline.
    package var entry: TimelineEntry

    /// Creates the report of one state of one notification.
    package init(id: NotificationID, entry: TimelineEntry) {
        self.id = id
        self.entry = entry
    }
}
