import DeviceModel
import PushModel

/// Decides which data messages one app is given over its direct channel, and when: a value, events in and directives out.
///
/// Guarantees: none is handed over while the channel is closed; they go in the order of arrival, at most ``window`` of them
/// unanswered; each once per connection, and again on the next one unless the app had it.
package struct ChannelDelivery: Sendable {
    /// How many may be in the app's hands at once.
    package static let window = 64

    /// What happened to the channel or its store.
    package enum Event: Sendable {
        /// The app's connection began or ended: the channel is closed, and what it did not take waits again.
        case reconnected
        /// The app takes data messages from now on.
        case opened
        /// The app takes none any more.
        case closed
        /// One was stored for the app.
        case stored
        /// The answer to ``Directive/read(after:limit:)``.
        case page([DataMessage], limit: Int)
        /// The app had this one.
        case taken(NotificationID)
    }

    /// What the agent is to do, in this order.
    package enum Directive: Sendable, Hashable {
        /// Read what waits after this place, and answer with ``Event/page(_:limit:)``.
        case read(after: DataMessage.Place, limit: Int)
        /// Give the app a message.
        case deliver(DataMessage)
        /// Store that the app had it, then confirm it.
        case record(NotificationID)
    }

    /// Whether data messages may come.
    package private(set) var isOpen = false
    private var inHand: Set<NotificationID> = []
    private var place: DataMessage.Place = 0
    private var mayHaveMore = true

    /// A closed channel.
    package init() {}

    /// Takes an event.
    ///
    /// - Returns: What is to be done about it.
    package mutating func handle(_ event: Event) -> [Directive] {
        switch event {
        case .reconnected:
            self = ChannelDelivery()
            return []
        case .opened:
            isOpen = true
            return next()
        case .closed:
            isOpen = false
            return []
        case .stored:
            mayHaveMore = true
            return next()
        case .page(let page, let limit):
            guard isOpen else { return [] }
            mayHaveMore = page.count >= limit
            place = page.last?.sequence ?? place
            inHand.formUnion(page.map(\.id))
            return page.map { .deliver($0) }
        case .taken(let id):
            inHand.remove(id)
            return [.record(id)] + next()
        }
    }

    /// Half a window at a time, so that a long queue is not read one by one.
    private func next() -> [Directive] {
        guard isOpen, mayHaveMore, inHand.count <= Self.window / 2 else { return [] }
        return [.read(after: place, limit: Self.window - inHand.count)]
    }
}
