import HubProtocol
import PushCore
import PushServer

/// Everything that a hub has of a person.
package struct PersonExport: Sendable {
    /// A notification that was sent to an installation of the person, or is to be sent.
    package struct Notification: Sendable {
        /// The send's id.
        package var send: String
        /// The campaign's name; `nil` for a send that is no campaign.
        package var campaign: String?
        /// The row in the send's report.
        package var recipient: SendRecipient
        /// The notification's id; `nil` where none was made.
        package var id: String?
        /// The timeline on a device of this server; empty for other push services.
        package var timeline: [TimelineEntry]
    }

    /// The installations.
    package var installations: [StoredInstallation] = []
    /// The notifications, by installation and send.
    package var notifications: [Notification] = []
    /// The events that wait for the webhook and name an installation.
    package var events: [HubEvent] = []
}

extension NotificationHubs {
    /// Reads everything of a person: every installation of a user id, the notifications of sends to them, and the events that
    /// name them.
    package func export(
        user: String, of hub: HubRecord, timelines: any TimelineService
    ) async throws -> PersonExport {
        var export = PersonExport()
        let numbers = try await store.numbers(ofUser: user.lowercased(), hub: hub.number)
        export.installations = try await store.installations(numbers, hub: hub.number)
        for each in export.installations {
            try await followCopies(of: each.number, hub)
            export.notifications += try await notifications(of: each.number, hub, by: timelines)
            export.events += try await store.events(of: hub.number, about: each.installation.id)
        }
        return export
    }

    private func notifications(
        of installation: UInt32, _ hub: HubRecord, by timelines: any TimelineService
    ) async throws -> [PersonExport.Notification] {
        let rows = try await store.recipients(for: installation)
        let records = Dictionary(
            try await store.sends(Array(Set(rows.map(\.send)))).map { ($0.number, $0) }, uniquingKeysWith: { $1 })
        var notifications: [PersonExport.Notification] = []
        for (send, row) in rows {
            guard let record = records[send] else { continue }
            var recipient = row
            let id = notificationID(of: recipient, in: record, hub: hub)
            var timeline: [TimelineEntry] = []
            if let id, let found = try await timelines.timelines(of: id, team: hub.team).first {
                if !recipient.end.isFinal { recipient.follow(found) }
                timeline = found.entries
            }
            notifications.append(
                PersonExport.Notification(
                    send: record.id, campaign: record.request.campaign, recipient: recipient, id: id,
                    timeline: timeline))
        }
        return notifications
    }
}
