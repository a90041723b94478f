import PushCore

/// The row of a device's mailbox, by which several nodes agree on its ids, its state and its session.
package struct MailboxRow: Hashable, Sendable {
    /// The highest id that was reserved for the device.
    package var lastID: Int64
    /// The number of batches that have concerned the mailbox, the present one included.
    package var revision: Int64
    /// The node that has the device's session; `nil` without one.
    package var node: UInt16?
    /// The number of the device's sessions so far.
    package var epoch: UInt64

    /// Creates a row.
    package init(lastID: Int64 = 0, revision: Int64 = 0, node: UInt16? = nil, epoch: UInt64 = 0) {
        self.lastID = lastID
        self.revision = revision
        self.node = node
        self.epoch = epoch
    }

    /// Reserves ids for a batch, as a store with rows does in one statement, and counts the batch.
    ///
    /// A device that has a later id than the block gets `count` ids after it.
    package mutating func reserve(_ count: Int, from block: NotificationIDBlock) {
        lastID = lastID <= block.lastBefore ? block.last : NotificationIDBlock.last(of: count, after: lastID)
        revision += 1
    }

    /// The place of a device's session, as a node sees it.
    ///
    /// - Parameters:
    ///   - node: The node's own number.
    ///   - epoch: The epoch of the session that the node has of the device; `nil` without one.
    ///   - isAlive: Whether another node runs.
    package func place(at node: UInt16, epoch: UInt64?, isAlive: (UInt16) -> Bool) -> SessionLocation {
        guard let holder = self.node else { return .nowhere }
        if holder == node { return epoch == self.epoch ? .here : .nowhere }
        return isAlive(holder) ? .elsewhere(holder) : .nowhere
    }
}

/// The place of a device's session.
package enum SessionLocation: Hashable, Sendable {
    /// The device is not connected.
    case nowhere
    /// This node has the session.
    case here
    /// Another node has the session.
    case elsewhere(UInt16)
}

/// The lock of a mailbox's row that a batch needs.
package struct MailboxLock: Hashable, Sendable {
    /// The number of ids that the batch gives to the device at most.
    package var ids: Int
    /// The revision of the mailbox in memory; `nil` where it is not in memory, and is read.
    package var revision: Int64?

    /// Creates the lock of a batch.
    package init(ids: Int = 0, revision: Int64? = nil) {
        self.ids = ids
        self.revision = revision
    }
}

/// The progress of a session among the batches of a mailbox, which several nodes commit.
package struct SessionBatchProgress: Hashable, Sendable {
    /// The last batch whose notifications the session has, or reads with its next page.
    package private(set) var revision: Int64

    /// Creates the progress of a session that was opened in a batch: it reads everything that was queued until then.
    package init(openedAt revision: Int64) { self.revision = revision }

    /// The meaning of a batch for a session.
    package enum Step: Hashable, Sendable {
        /// The batch follows the last one: its notifications can be written.
        case next
        /// Batches before it are not known: the session reads the next page.
        case gap
        /// The session has read everything up to it.
        case known
    }

    /// Records a batch that is committed.
    package mutating func receive(_ revision: Int64) -> Step {
        guard revision > self.revision else { return .known }
        defer { self.revision = revision }
        return revision == self.revision + 1 ? .next : .gap
    }
}
