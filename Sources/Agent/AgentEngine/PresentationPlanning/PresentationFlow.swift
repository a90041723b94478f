import PushCore

/// Decides what the presenter is asked to show and when: a value.
///
/// Guarantees: at most ``window`` intents wait for the presenter's answer; each is asked for once in a run of the
/// agent, unless the store fails.
package struct PresentationFlow: Sendable {
    /// How many intents wait for the presenter at the most.
    package static let window = 32

    private var open: Set<NotificationID> = []
    private var mayHaveMore = true
    /// Intents of an earlier run, which may have ended between showing one and storing that.
    private let inherited: Set<NotificationID>

    /// Begins with the intents of an earlier run.
    package init(inherited: Set<NotificationID>) { self.inherited = inherited }

    /// Intents were committed.
    package mutating func committed() { mayHaveMore = true }

    /// Whether it is time to read the ``window`` oldest intents. Open ones are read again and left out.
    package var wantsPage: Bool { mayHaveMore && open.count < Self.window }

    /// Takes the oldest intents; returns those to ask for now, and whether an earlier run may have shown them.
    package mutating func take(_ page: [WaitingNotification]) -> [(notification: WaitingNotification, again: Bool)] {
        let fresh = page.filter { !open.contains($0.id) }
        mayHaveMore = page.count >= Self.window
        open.formUnion(fresh.map(\.id))
        return fresh.map { ($0, inherited.contains($0.id)) }
    }

    /// The presentations without a committed answer, and those that an earlier run left.
    package var unanswered: Set<NotificationID> { open.union(inherited) }

    /// The answer is committed, and with it the intent is deleted.
    package mutating func answered(_ id: NotificationID) { open.remove(id) }
}
