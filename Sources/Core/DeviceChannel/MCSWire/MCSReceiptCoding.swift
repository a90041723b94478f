import Foundation
import PushCore
import SwiftProtobuf

/// The contents of an upstream stanza of receipts.
package struct MCSReceiptReading: Hashable, Sendable {
    /// The receipts that the device reports, in its order.
    package var receipts: [Receipt]
    /// How many receipts were passed over: an unknown state or source, or a state that only the server can see.
    package var ignoredCount: Int

    /// Makes the result of a reading.
    package init(receipts: [Receipt], ignoredCount: Int = 0) {
        self.receipts = receipts
        self.ignoredCount = ignoredCount
    }

    /// Reads the content of an upstream stanza of receipts; `nil` when it is no batch.
    ///
    /// Receipts that a device cannot truly give (`accepted`, `stored`, `sent`, `acked`, or with the server as
    /// their source) are passed over and counted.
    package init?(batch bytes: [UInt8]) {
        guard let batch = try? MCSReceiptBatch(serializedBytes: bytes) else { return nil }
        receipts = batch.receipts.compactMap(\.receipt)
        ignoredCount = batch.receipts.count - receipts.count
    }
}

extension MCSDataMessageStanza {
    /// The longest note and state text that is read, in bytes of UTF-8; a longer note is left out.
    static var longestReceiptText: Int { 1024 }

    /// The upstream stanza of a batch of receipts.
    ///
    /// - Parameters:
    ///   - persistentID: The device's own name for the batch, by which it learns that the batch is durable.
    ///   - timeToLive: Seconds, more than 0, so that the stanza counts as one to be delivered reliably.
    /// - Throws: `MCSFrameError.tooLarge` when no packet could hold the batch.
    package init(
        receipts: [Receipt], persistentID: String, now: Timestamp, timeToLive: Int32 = 86_400
    ) throws(MCSFrameError) {
        var batch = MCSReceiptBatch()
        batch.receipts = receipts.map(MCSDeviceReceipt.init)
        guard let data = try? batch.serializedData() as Data, data.count <= MCSFrame.defaultMaximumSize / 2 else {
            throw .tooLarge(size: UInt32(Int32.max), limit: MCSFrame.defaultMaximumSize / 2)
        }
        self.init()
        id = persistentID
        self.persistentID = persistentID
        to = MCSUpstream.serverAddress
        category = MCSUpstream.receiptsCategory
        ttl = timeToLive
        sent = now.rawValue
        rawData = data
    }

    /// Reads a batch of receipts, as ``MCSReceiptReading/init(batch:)``; `nil` when `raw_data` is no batch.
    package func receipts() -> MCSReceiptReading? { MCSReceiptReading(batch: [UInt8](rawData)) }
}

extension MCSDeviceReceipt {
    init(_ receipt: Receipt) {
        self.init()
        notificationID = receipt.id.rawValue
        state = receipt.entry.state.text
        atMs = receipt.entry.at.rawValue
        source = receipt.entry.source.rawValue
        if let note = receipt.entry.note { self.note = note }
    }

    var receipt: Receipt? {
        let limit = MCSDataMessageStanza.longestReceiptText
        guard notificationID > 0, state.utf8.count <= limit,
            let state = NotificationState(text: state), state.canBeSeenByDevice,
            let source = TimelineSource(rawValue: source), source != .server
        else { return nil }
        return Receipt(
            id: NotificationID(rawValue: notificationID),
            entry: TimelineEntry(
                at: Timestamp(rawValue: atMs), state: state, source: source,
                note: hasNote && note.utf8.count <= limit ? note : nil))
    }
}

extension NotificationState {
    fileprivate var canBeSeenByDevice: Bool {
        switch self {
        case .accepted, .stored, .sent, .acked: false
        case .decrypted, .undecryptable, .extended, .presented, .unanswered, .handed, .opened, .action, .dismissed,
            .expired,
            .replaced, .withdrawn, .suppressed, .dropped, .failed:
            true
        }
    }
}
