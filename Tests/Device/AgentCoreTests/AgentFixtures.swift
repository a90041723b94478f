import AgentWire
import DeviceModel
import Foundation
import Machine
import PushModel
import Testing

@testable import AgentCore
@testable import DeviceStore

let noon = Timestamp(seconds: 1_800_000_000)

func outgoing(
    _ id: Int64, topic: String = "com.example.todo", collapseID: String? = nil,
    payload: String = #"{"aps":{"alert":{"title":"Milk","body":"Two litres"}}}"#
) -> OutgoingNotification {
    OutgoingNotification(
        id: NotificationID(rawValue: id), apnsID: "apns-\(id)", team: TeamID(rawValue: "TEAM000001"),
        topic: Topic(rawValue: topic), environment: .sandbox, lane: .apns, pushType: .alert, priority: .immediate,
        collapseID: collapseID, acceptedAt: noon, expiresAt: noon.adding(milliseconds: 1000),
        payload: Array(payload.utf8))
}

func arrival(
    _ id: Int64, _ disposition: PlannedNotification.Disposition = .waits, receivedAt: Timestamp = noon,
    collapseID: String? = nil,
    payload: String = #"{"aps":{"alert":{"title":"Milk","body":"Two litres"}}}"#
) -> StoreChange {
    .arrived(
        Arrival(
            notification: outgoing(id, collapseID: collapseID, payload: payload), session: 1, receivedAt: receivedAt,
            kind: PayloadDelivery(payload: payload).kind, disposition: disposition))
}

func waiting(_ sequence: Int64, payload: String = #"{"aps":{"alert":"Milk"}}"#) -> WaitingNotification {
    WaitingNotification(
        sequence: sequence, id: NotificationID(rawValue: sequence * 10), app: "com.example.todo",
        apnsID: "apns-\(sequence)", identifier: "apns-\(sequence)", payload: payload, acceptedAt: noon)
}

let todoManifest = AppManifest(
    id: "com.example.todo", name: "Todo", team: "TEAM000001", executable: "/opt/todo", authorization: .granted,
    lifecycle: .always)

extension AgentStore {
    /// The receipts of the outbox, `id state`.
    func outbox() throws -> [String] {
        try read { try $0.receipts(after: 0, limit: 1000) }
            .map { "\($0.receipt.id) \($0.receipt.entry.state.text)" }
    }
}

/// Makes a program of a shell script. Another process writes it: while this one has a file open for writing, what other
/// tests start may hold it too for a moment, and a program that is held so cannot be run (ETXTBSY).
func installScript(_ script: String, at path: String) throws {
    let writer = ChildProgram(
        path: "/bin/sh",
        arguments: ["-c", #"printf '#!/bin/sh\n%s\n' "$1" > "$2" && chmod 700 "$2""#, "sh", script, path],
        environment: ["PATH": "/usr/bin:/bin"])
    try #require(try writer.run(patience: .seconds(60)) != nil)
}
