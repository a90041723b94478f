import PushCore

/// The receivers of upstream messages, by category.
package struct UpstreamRegistry: Sendable {
    private var receivers: [String: any UpstreamReceiver] = [:]
    private let others: any UpstreamReceiver

    /// Creates a registry without categories.
    ///
    /// - Parameter others: The receiver of all other categories; by default it refuses.
    package init(others: any UpstreamReceiver = UnservedCategory()) { self.others = others }

    /// A registry with a receiver for one more category; it replaces an earlier one for that category.
    package func adding(_ receiver: any UpstreamReceiver, for category: String) -> UpstreamRegistry {
        var registry = self
        registry.receivers[category] = receiver
        return registry
    }

    /// The receiver of a category; every category has one.
    package func receiver(of category: String) -> any UpstreamReceiver { receivers[category] ?? others }
}

/// A receiver that refuses categories without a receiver.
package struct UnservedCategory: UpstreamReceiver {
    /// Creates a receiver; it has no state.
    package init() {}

    /// Refuses the message with the code 404 and the first 100 characters of its category.
    package func receive(
        _ message: UpstreamMessage, of session: DeviceSessionID,
        then complete: @escaping @Sendable (UpstreamOutcome) -> Void
    ) {
        complete(
            .refused(
                UpstreamRejection(code: 404, reason: "nobody serves the category \"\(message.category.prefix(100))\"")))
    }
}
