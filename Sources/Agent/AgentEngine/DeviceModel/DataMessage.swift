import AgentProtocol
import Foundation
import PushCore
import WebPushProtocol

/// A message that shows nothing and waits for its app's direct channel.
package struct DataMessage: Sendable, Hashable {
    /// The place of a data message in the order of arrival.
    package typealias Place = StoreKey<DataMessage>

    /// The message's place in the order of arrival.
    package var sequence: Place
    /// The internal id.
    package var id: NotificationID
    /// The bundle id of the app that it is for.
    package var app: BundleID
    /// The UUID by which the provider's side knows it.
    package var apnsID: String
    /// The payload's JSON text.
    package var payload: String
    /// When the server accepted it.
    package var acceptedAt: Timestamp

    /// A message of the store. Each parameter is the property of its name.
    package init(
        sequence: Place, id: NotificationID, app: BundleID, apnsID: String, payload: String, acceptedAt: Timestamp
    ) {
        self.sequence = sequence
        self.id = id
        self.app = app
        self.apnsID = apnsID
        self.payload = payload
        self.acceptedAt = acceptedAt
    }

    /// The form in which apps get it.
    package var delivered: DeliveredNotification {
        DeliveredNotification(
            id: id.rawValue, identifier: apnsID, apnsID: apnsID, topic: app, date: acceptedAt.rawValue,
            payload: payload)
    }
}

extension OutgoingNotification {
    /// Whether it goes to its app's direct channel: it came as an FCM message, and has no member `aps`, by which it
    /// would be shown or handled in the background.
    package var isDataMessage: Bool {
        guard lane == .fcm, notice == nil else { return false }
        guard let members = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any] else {
            return false
        }
        return members["aps"] == nil
    }

    /// The message that it carries for an app of UnifiedPush; `nil` for any other notification.
    var channelMessage: ChannelMessage? { notice == nil ? ChannelMessage(bytes: payload) : nil }

    /// The name under which a later notification of its app takes its place on the screen and in the list: its collapse
    /// id, the tag that FCM's senders gave it for the screen alone, or one that no other has.
    package var shownIdentifier: String {
        if let collapseID { return collapseID }
        guard lane == .fcm, payload.firstRange(of: Self.tagKey.utf8) != nil,
            let members = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any],
            let tag = members[Self.tagKey] as? String, !tag.isEmpty
        else { return apnsID.rawValue }
        return tag
    }

    private static var tagKey: String { "gcm.notification.tag" }

    /// The key with which a later data message replaces it; `nil` where there is none.
    package var collapseKey: String? {
        if let collapseID { return collapseID }
        let members = try? JSONSerialization.jsonObject(with: Data(payload)) as? [String: Any]
        return members?["collapse_key"] as? String
    }
}
