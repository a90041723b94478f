import PushCore

/// Decides which data messages one app gets over its direct channel, and when: a value, events in and directives out.
///
/// Guarantees: no message is handed over while the channel is closed. They go in the order of arrival, at most
/// ``window`` of them unanswered. Each goes once per connection, and again on the next one unless the app had it.
package struct ChannelDelivery: Sendable {
    /// The most messages that the app may handle at once.
    package static let window = 64

    /// An event of the channel or its store.
    package enum Event: Sendable {
        /// The app's connection began or ended: the channel is closed, and what it did not take waits again.
        case reconnected
        /// The app takes data messages from now on.
        case opened
        /// The app does not take data messages any more.
        case closed
        /// A message was stored for the app.
        case stored
        /// The answer to ``Directive/read(after:limit:)``.
        case page([DataMessage], limit: Int)
        /// The app had this one.
        case taken(NotificationID)
    }

    /// An action for the agent; directives are performed in order.
    package enum Directive: Sendable, Hashable {
        /// Read what waits after this place, and answer with ``Event/page(_:limit:)``.
        case read(after: DataMessage.Place, limit: Int)
        /// Give the app a message.
        case deliver(DataMessage)
        /// Store that the app has received it, then confirm it.
        case record(NotificationID)
    }

    /// Whether data messages may come.
    package private(set) var isOpen = false
    private var inHand: [NotificationID] = []
    private var place: DataMessage.Place = 0
    private var mayHaveMore = true

    /// The first message that the app has not confirmed.
    package var firstUnanswered: NotificationID? { inHand.first }

    /// A closed channel.
    package init() {}

    /// Takes an event.
    ///
    /// - Returns: The directives that follow.
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
            inHand += page.map(\.id)
            return page.map { .deliver($0) }
        case .taken(let id):
            inHand.removeAll { $0 == id }
            return [.record(id)] + next()
        }
    }

    /// Half a window at a time, so that a long queue is not read one by one.
    private func next() -> [Directive] {
        guard isOpen, mayHaveMore, inHand.count <= Self.window / 2 else { return [] }
        return [.read(after: place, limit: Self.window - inHand.count)]
    }
}
