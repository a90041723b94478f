import AgentProtocol
import DeviceTestSupport
import Foundation
import PushCore
import Testing

@testable import AgentEngine
@testable import AgentRuntime

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

extension AgentStore {
    /// The receipts of the outbox, `id state`.
    func outbox() throws -> [String] {
        try read { try $0.receipts(after: 0, limit: 1000) }
            .map { "\($0.receipt.id) \($0.receipt.entry.state.text)" }
    }
}
