import PushCore
import PushServer

/// The net effect of a batch of row changes, table by table, so that one statement a table makes it.
///
/// The changes of a batch are ordered, and one statement a table reorders them across tables. What cancels out is therefore
/// left out: no row is changed twice, and ``changes`` has the rest in the order of the statements.
package struct FoldedBatch: Sendable {
    /// A row by its device and id.
    package struct OwnedID: Hashable, Sendable {
        /// The device that the row belongs to.
        package var device: DeviceID
        /// The row's id.
        package var id: NotificationID
    }

    /// The session of a device; `node` is `nil` after its end.
    package struct SessionRow: Hashable, Sendable {
        var node: UInt16?
        var epoch: UInt64
    }

    /// A line of a notification's timeline.
    package struct OwnedLine: Hashable, Sendable {
        /// The notification.
        package var id: NotificationID
        /// The line.
        package var line: TimelineEntry
    }

    /// The key of a span of ids without timelines.
    package struct SpanKey: Hashable, Sendable {
        var team: TeamID
        var first: NotificationID
    }

    /// The key of a line; a timeline has each once.
    private struct LineKey: Hashable {
        var id: NotificationID
        var at: Timestamp
        var state: NotificationState
    }

    /// Shared payloads to insert.
    package private(set) var payloads: [PayloadRecord] = []
    /// Notifications to insert.
    package private(set) var notifications: [NotificationRecord] = []
    /// Refused requests to insert.
    package private(set) var refusals: [RefusalRecord] = []
    /// Waiting rows to insert and to delete.
    package private(set) var waiting = WaitingChanges()
    /// Tombstones to keep and to delete.
    package private(set) var tombstones = TombstoneChanges()
    /// Recalls to insert.
    package private(set) var recalls: [OwnedID: Mailbox.Recall] = [:]
    /// Recalls to delete.
    package private(set) var removedRecalls: Set<OwnedID> = []
    /// Counts of missed notifications to delete and to add to.
    package private(set) var missed = MissedChanges()
    /// Lines to add to timelines.
    package private(set) var lines: [OwnedLine] = []
    /// The last presence of devices.
    package private(set) var seen: [DeviceID: Timestamp] = [:]
    /// The positions of devices in the sequence of broadcasts.
    package private(set) var cursors: [DeviceID: Int64] = [:]
    /// The sessions that were opened and closed, by their devices.
    package private(set) var sessions: [DeviceID: SessionRow] = [:]
    /// The ceiling of ids; `nil` where it stays.
    package private(set) var highWater: Int64?
    /// Spans of ids without timelines to add, by their keys.
    package private(set) var unrecorded: [SpanKey: UnrecordedSpan] = [:]
    private var known: Set<LineKey> = []

    /// Folds the changes of a batch.
    package init(_ changes: [RowChange]) {
        for change in changes { fold(change) }
    }

    private mutating func fold(_ change: RowChange) {
        switch change {
        case .insertPayload(let payload): payloads.append(payload)
        case .insertNotification(let record):
            notifications.append(record)
            if record.waits { waiting.insert(OwnedID(device: record.subject.device, id: record.id)) }
        case .insertRefusal(let refusal): refusals.append(refusal)
        case .removeWaiting(let id, let device): waiting.remove(OwnedID(device: device, id: id))
        case .keepTombstone(let tombstone, let device): tombstones.keep(tombstone, of: device)
        case .removeTombstone(let id, let device): tombstones.remove(OwnedID(device: device, id: id))
        case .insertRecall(let recall, let device): recalls[OwnedID(device: device, id: recall.id)] = recall
        case .removeRecall(let id, let device):
            let owned = OwnedID(device: device, id: id)
            if recalls.removeValue(forKey: owned) == nil { removedRecalls.insert(owned) }
        case .addMissed(let count, let device): missed.add(count, of: device)
        case .forgetMissed(let device, let place): missed.forget(place, of: device)
        case .noteSeen(let device, let at): seen[device] = at
        case .appendLine(let line, let id):
            guard known.insert(LineKey(id: id, at: line.at, state: line.state)).inserted else { return }
            lines.append(OwnedLine(id: id, line: line))
        case .moveCursor(let device, let sequence): cursors[device] = max(cursors[device] ?? 0, sequence)
        case .openSession(let device, let node, let epoch): sessions[device] = SessionRow(node: node, epoch: epoch)
        case .closeSession(let device, let epoch):
            if sessions[device].map({ $0.epoch <= epoch }) ?? true {
                sessions[device] = SessionRow(node: nil, epoch: epoch)
            }
        case .raiseHighWater(let mark): highWater = max(highWater ?? mark, mark)
        case .noteUnrecorded(let span): fold(span)
        }
    }

    private mutating func fold(_ span: UnrecordedSpan) {
        let key = SpanKey(team: span.team, first: span.first)
        guard let known = unrecorded[key] else { return unrecorded[key] = span }
        unrecorded[key] = UnrecordedSpan(
            team: span.team, first: span.first, last: max(known.last, span.last), count: known.count + span.count)
    }

    /// The net effect as row changes, in the order of the statements.
    package var changes: [RowChange] {
        var changes = waiting.removals + payloads.map(RowChange.insertPayload)
        changes += notifications.map(RowChange.insertNotification) + refusals.map(RowChange.insertRefusal)
        changes += waiting.skips + tombstones.changes
        changes += removedRecalls.map { .removeRecall($0.id, of: $0.device) }
        changes += recalls.map { .insertRecall($0.value, of: $0.key.device) }
        changes += missed.changes
        changes += seen.map { .noteSeen($0.key, at: $0.value) }
        changes += lines.map { .appendLine($0.line, to: $0.id) }
        changes += cursors.map { .moveCursor($0.key, to: $0.value) }
        changes += sessions.map { device, row in
            row.node.map { .openSession(device, node: $0, epoch: row.epoch) } ?? .closeSession(device, epoch: row.epoch)
        }
        if let highWater { changes.append(.raiseHighWater(to: highWater)) }
        return changes + unrecorded.values.map(RowChange.noteUnrecorded)
    }
}
