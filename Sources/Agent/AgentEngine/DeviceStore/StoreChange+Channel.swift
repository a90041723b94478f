import AgentProtocol
import PushCore

// MARK: Data messages

extension StoreChange {
    /// A data message came over the device channel.
    package static func dataArrived(_ arrived: ArrivedData) -> StoreChange {
        StoreChange(.storeArrival, .dataArrived(arrived), arriving: arrived.message.id)
    }

    /// The app had a data message.
    package static func dataTaken(_ id: NotificationID, app: BundleID, at: Timestamp) -> StoreChange {
        StoreChange(.storeHandled, .dataTaken(id, app: app, at: at))
    }

    /// Data messages whose time is over end.
    package static func dataExpired(at: Timestamp) -> StoreChange {
        StoreChange(.storeLeftUnhandled, .dataExpired(at: at))
    }
}

// MARK: Messages and topics of apps

extension StoreChange {
    /// An app sends a message to its provider. `waiter` comes back in the result.
    package static func upstreamQueued(
        _ draft: UpstreamDraft, app: BundleID, waiter: Int64, at: Timestamp
    ) -> StoreChange {
        StoreChange(.storeFired, .upstreamQueued(draft, app: app, waiter: waiter, at: at))
    }

    /// The server has a message of the outbox, or refused it.
    package static func upstreamEnded(_ sequence: QueuedUpstream.Place, code: String?) -> StoreChange {
        StoreChange(.storeReceiptsConfirmed, .upstreamEnded(sequence, code: code))
    }

    /// Messages of the outbox are about to be sent: from now on the server may have them, until it has confirmed or
    /// refused them.
    package static func upstreamUnderWay(_ messages: [QueuedUpstream.Place]) -> StoreChange {
        StoreChange(.storeUnderWay, .upstreamUnderWay(messages))
    }

    /// Messages of the outbox whose time is over end; those that were sent wait for the server's answer.
    package static func upstreamExpired(at: Timestamp) -> StoreChange {
        StoreChange(.storeLeftUnhandled, .upstreamExpired(at: at))
    }

    /// The app has received the outcome of the message of this place.
    package static func upstreamEndTaken(_ sequence: QueuedUpstream.Place, app: BundleID) -> StoreChange {
        StoreChange(.storeHandled, .upstreamEndTaken(sequence, app: app))
    }

    /// An app wants to join a topic or leave it. `waiter` comes back in the result.
    package static func topicChangeRequested(_ topic: String, joins: Bool, app: BundleID, waiter: Int64) -> StoreChange
    {
        StoreChange(.storeStanding, .topicChangeRequested(topic, joins: joins, app: app, waiter: waiter))
    }

    /// The server has answered a request about a topic.
    package static func topicSettled(_ request: TopicChangeRequest) -> StoreChange {
        StoreChange(.storeStanding, .topicSettled(request), isKeptAfterFailure: true)
    }
}

// MARK: Live Activities

extension StoreChange {
    /// A Live Activity has begun or changed.
    package static func liveActivity(_ record: LiveActivityRecord) -> StoreChange {
        StoreChange(.storeStanding, .liveActivity(record), isKeptAfterFailure: true)
    }

    /// A Live Activity is dismissed.
    package static func liveActivityDismissed(_ record: LiveActivityRecord) -> StoreChange {
        StoreChange(.storeStanding, .liveActivityDismissed(record), isKeptAfterFailure: true)
    }
}

// MARK: UnifiedPush

extension StoreChange {
    /// A change that concerns UnifiedPush.
    package static func unifiedPush(_ change: UnifiedPushChange, at: Timestamp) -> StoreChange {
        switch change {
        case .arrived(let arrived):
            StoreChange(.storeArrival, .unifiedPush(change, at: at), arriving: arrived.carrier.id)
        // No app would repeat these.
        case .ended: StoreChange(.storeHandled, .unifiedPush(change, at: at), isKeptAfterFailure: true)
        case .registered, .unregistered:
            StoreChange(.storeStanding, .unifiedPush(change, at: at), isKeptAfterFailure: true)
        case .unreachable: StoreChange(.storeHandled, .unifiedPush(change, at: at))
        case .endpoint, .addressChanged, .channelEnded: StoreChange(.storeStanding, .unifiedPush(change, at: at))
        }
    }
}

// MARK: Notices of the server

extension StoreChange {
    /// A notice came over the device channel.
    package static func noticed(_ arrived: ArrivedNotice) -> StoreChange {
        StoreChange(.storeArrival, .noticed(arrived))
    }

    /// The app has received the deletion of this notice.
    package static func deletionTaken(_ id: NotificationID, app: BundleID) -> StoreChange {
        StoreChange(.storeHandled, .deletionTaken(id, app: app))
    }
}

// MARK: Service extensions

extension StoreChange {
    /// A service extension has answered, or will not: the notification is stored as it appears.
    ///
    /// - Parameters:
    ///   - content: The content to show; `nil` for that of the payload.
    ///   - disposition: The action on the notification, by its plan.
    ///   - outcome: The text of the state `extended` in the timeline: the outcome, and the time that it took.
    ///   - note: Why it was not changed, for people.
    package static func extended(
        _ id: NotificationID, content: NotificationContent?, _ disposition: PlannedNotification.Disposition,
        outcome: String, note: String?, at: Timestamp
    ) -> StoreChange {
        StoreChange(
            .storeExtended, .extended(id, content: content, disposition, outcome: outcome, note: note, at: at),
            copiedFiles: content?.attachments ?? [])
    }
}
