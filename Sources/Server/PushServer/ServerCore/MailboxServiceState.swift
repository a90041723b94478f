import PushCore

/// The state of the delivery of broadcasts to connected devices.
struct BroadcastState {
    /// The connected devices by topic, and which of them are due for their broadcasts.
    var live = LiveAudience()
    /// The audiences of connected devices, as read when they were last processed.
    var known = KnownAudiences()
    /// Whether a slice of connected devices is being processed.
    var isVisiting = false
    var isVisitScheduled = false
    /// Whether the members of a list could not be read: devices are processed again after a pause.
    var isUnsureOfLists = false
    /// The lists cannot be read until the server starts again.
    var areListsDamaged = false
}

/// The mailboxes in memory.
struct ResidentMailboxes {
    var mailboxes: [DeviceID: ResidentMailbox] = [:]
    /// The mailboxes that the batch under way concerns.
    var batchMailboxes: [ResidentMailbox] = []
    /// The number of notifications in the mailboxes in memory.
    var residentEntries = 0
    /// The time before which no mailboxes to remove from memory are searched: the last search found none.
    var nothingToForgetUntil = Timestamp(rawValue: .min)
}

/// The commands that are retried after a failed commit.
struct CommandRetries {
    let messages = MailboxFailureMessages()
    /// Commands of failed batches that no caller would repeat; they precede all others.
    var deferred: [MailboxCommand] = []
    var isRetryScheduled = false
    /// The number of failed transactions since the start.
    var failures = 0
}

/// The state of the periodic tasks.
struct UpkeepState {
    /// Whether the service has ended; then nothing is begun any more.
    var isStopped = false
    /// The time at which this run of the server began.
    var startedAt = Timestamp(rawValue: .min)
    /// Connected devices whose presence may have to be recorded; all of them, once a day.
    var devicesToNote: [DeviceID] = []
    var devicesNotedAt = Timestamp(rawValue: .min)
    /// Whether a round of pruning has begun and is not finished.
    var isPruning = false
    var pruningPace = PruningPace()
}

/// Counts that the service keeps for metrics and timelines.
struct MailboxCounts {
    var extensionCounts = ExtensionCounts()
    /// The notifications that the sweep under way has passed.
    var waiting = WaitingCount()
    var sentLines = SentLines()
}

/// The live connections of devices.
struct LiveConnections {
    var sessions: [DeviceID: MailboxService.LiveSession] = [:]
    var lastEpoch: UInt64 = 0
}
