import AgentEngine
import AgentProtocol
import PushCore

/// States of one notification that were committed together, and what a person knows the notification by.
package struct ReportedStates: Sendable, Hashable {
    /// The id of the notification.
    package var notification: NotificationID
    /// The app; `nil` for a message that is not kept here any more.
    package var app: BundleID?
    /// The title, or the body of a notification without one; empty where it shows nothing.
    package var title: String
    /// The states in their order.
    package var states: [TimelineEntry]
}

extension Agent {
    /// Reports the states of each notification to the program that started the agent, where it asked for them.
    package nonisolated func reporting(_ receipts: [Receipt]) {
        guard configuration.reportsStates else { return }
        assumeIsolated { agent in
            var order: [NotificationID] = []
            let states = receipts.reduce(into: [NotificationID: [TimelineEntry]]()) { found, receipt in
                if found[receipt.id] == nil { order.append(receipt.id) }
                found[receipt.id, default: []].append(receipt.entry)
            }
            for id in order {
                let kept = (try? agent.store.notification(id)) ?? nil
                let content = kept?.says
                let title = content.map { $0.title.isEmpty ? $0.body : $0.title } ?? ""
                events(
                    .reported(
                        ReportedStates(notification: id, app: kept?.app, title: title, states: states[id] ?? [])))
            }
        }
    }
}
