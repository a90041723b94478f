import ActivityKit

/// A delivery: the number of the order never changes, driver and minutes do.
struct PizzaAttributes: ActivityAttributes {
    struct ContentState: Codable, Hashable {
        var driverName: String
        var minutes: Int
    }

    var orderNumber: String
}

/// Starts an activity for an order, and passes on the token to which a provider sends its updates.
func follow(order: String, token: @escaping @Sendable (String) -> Void) throws {
    let activity = try Activity.request(
        attributes: PizzaAttributes(orderNumber: order),
        content: ActivityContent(state: .init(driverName: "Ana", minutes: 20), staleDate: nil),
        pushType: .token)
    Task {
        for await bytes in activity.pushTokenUpdates { token(bytes.map { String(format: "%02x", $0) }.joined()) }
    }
}

/// Passes on the token for pushes that start an activity, and ends every delivery that is over.
func observeDeliveries(startToken: @escaping @Sendable (String) -> Void) {
    Task {
        for await bytes in Activity<PizzaAttributes>.pushToStartTokenUpdates {
            startToken(bytes.map { String(format: "%02x", $0) }.joined())
        }
    }
    Task {
        for await activity in Activity<PizzaAttributes>.activityUpdates {
            Task {
                for await content in activity.contentUpdates where content.state.minutes == 0 {
                    await activity.end(content, dismissalPolicy: .after(.now + 600))
                }
            }
        }
    }
}
