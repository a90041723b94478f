import AgentProtocol
import Foundation
import PushCore
import Scheduling

/// A request that waits for its time or its place, as the store keeps it.
package struct PendingRequest: Sendable, Hashable {
    /// The request's key in the schedule; never used twice.
    package var key: RequestKey
    /// The bundle id of the app that asked.
    package var app: BundleID
    /// The request of the app, with its trigger.
    package var request: NotificationRequest
    /// When it was added, by all clocks; what the clocks being set made of that.
    package var added: ClockReading
    /// How many seconds east of UTC the machine was then.
    package var addedOffset: Int?
    /// The last occurrence that fired or was skipped.
    package var lastFired: Timestamp?
    /// The side of a region's circle on which the machine was last seen.
    package var side = RegionWatch.State.unknown
    /// How often it has fired.
    package var fired: Int64 = 0

    /// A request that was just added, unless told otherwise.
    package init(
        key: RequestKey, app: BundleID, request: NotificationRequest, added: ClockReading, addedOffset: Int? = nil,
        lastFired: Timestamp? = nil, side: RegionWatch.State = .unknown
    ) {
        self.key = key
        self.app = app
        self.request = request
        self.added = added
        self.addedOffset = addedOffset
        self.lastFired = lastFired
        self.side = side
    }
}

/// An occurrence of a scheduled request that is due.
package struct DueRequest: Sendable, Hashable {
    /// The key of the ``PendingRequest`` that is due.
    package var key: RequestKey
    /// The bundle id of the app that asked.
    package var app: BundleID
    /// The request of the app.
    package var request: NotificationRequest
    /// When it should fire; `nil` where a place made it.
    package var occurrence: Timestamp?
    /// Whether it waits no longer afterwards.
    package var isLast: Bool

    /// Without an occurrence it is a place that made it due.
    package init(
        key: RequestKey, app: BundleID, request: NotificationRequest, occurrence: Timestamp? = nil, isLast: Bool
    ) {
        self.key = key
        self.app = app
        self.request = request
        self.occurrence = occurrence
        self.isLast = isLast
    }
}
