import AgentProtocol

/// Notifications of the app that were deleted on the server before they could come: too many waited, or the device was
/// away for too long. The app has to ask its own server for what it missed.
package struct MessageDeletion: Hashable, Sendable {
    /// The id with which the app confirms the deletion to the agent.
    package var id: Int64
    /// How many were deleted.
    package var count: Int
    /// When the first of them were, in milliseconds since 1970.
    package var since: Int64

    /// Creates a deletion from a `messagesDeleted` message.
    package init(id: Int64, count: Int, since: Int64) {
        self.id = id
        self.count = count
        self.since = since
    }
}

extension AppSession {
    /// The number of reported deletions that are remembered, should the agent send them again.
    static let rememberedDeletions = 64

    mutating func deleted(_ deletion: MessageDeletion) {
        guard !takenDeletions.contains(deletion.id) else { return send(.deletionTaken(deletion: deletion.id)) }
        directives.append(.tellDeletion(deletion))
    }

    mutating func acknowledgeDeletion(_ id: Int64) {
        if !takenDeletions.contains(id) { takenDeletions.append(id) }
        if takenDeletions.count > Self.rememberedDeletions { takenDeletions.removeFirst() }
        send(.deletionTaken(deletion: id))
    }
}
