import AgentEngine
import AldabaTestSupport
import PushCore

/// When the tests' notifications were accepted.
package let noon = Timestamp(seconds: 1_800_000_000)

/// An app that its manifest lets show notifications, and that is active whenever it is connected.
package let todoManifest = AppManifest(
    id: "com.example.todo", name: "Todo", team: "TEAM000001", executable: "/opt/todo", authorization: .granted,
    lifecycle: .always)

/// A notification as the server sends it, accepted at ``noon``.
package func outgoing(
    _ id: Int64, topic: String = "com.example.todo", collapseID: String? = nil,
    payload: String = #"{"aps":{"alert":{"title":"Milk","body":"Two litres"}}}"#
) -> OutgoingNotification {
    OutgoingNotification(
        id: NotificationID(rawValue: id), apnsID: "apns-\(id)", team: TeamID(rawValue: "TEAM000001"),
        topic: Topic(rawValue: topic), environment: .sandbox, lane: .apns, pushType: .alert, priority: .immediate,
        collapseID: collapseID, acceptedAt: noon, expiresAt: noon.adding(milliseconds: 1000),
        payload: Array(payload.utf8))
}

/// An FCM message as the server sends it, with the provider's keys under `aps` and beside it.
package func fcmMessage(
    _ id: Int64, _ members: String, topic: String = "com.example.todo", collapseID: String? = nil,
    expiresAt: Timestamp? = noon.adding(milliseconds: 3_600_000)
) -> OutgoingNotification {
    let text = #"{"gcm.message_id":"m\#(id)","google.c.sender.id":"42","from":"42",\#(members)}"#
    return OutgoingNotification(
        id: NotificationID(rawValue: id), apnsID: "apns-\(id)", team: TeamID(rawValue: "TEAM000001"),
        topic: Topic(rawValue: topic), environment: .sandbox, lane: .fcm, pushType: nil, priority: .immediate,
        collapseID: collapseID, acceptedAt: noon, expiresAt: expiresAt, payload: Array(text.utf8))
}

/// A stored notification of ``todoManifest``, at this place in the order of arrival.
package func waiting(
    _ sequence: Int64, payload: String = #"{"aps":{"alert":"Milk"}}"#, pushType: PushType? = nil
) -> WaitingNotification {
    WaitingNotification(
        sequence: WaitingNotification.Place(rawValue: sequence), id: NotificationID(rawValue: sequence * 10),
        app: "com.example.todo",
        apnsID: "apns-\(sequence)", identifier: "apns-\(sequence)", payload: payload, acceptedAt: noon,
        pushType: pushType)
}
