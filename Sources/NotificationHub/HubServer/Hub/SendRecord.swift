import HubProtocol
import PushCore

/// The target of a send.
package enum SendTarget: Hashable, Sendable {
    /// The installations that match an expression, as it was written; `nil` for all.
    case audience(String?)
    /// Channels of the push service itself, which the hub may not know.
    case channels([String])
}

/// A request to send.
package struct SendRequest: Hashable, Sendable {
    /// The format of the body.
    package var format: SendFormat
    /// The body: a payload, or properties.
    package var body: [UInt8]
    /// The header fields for the push service, by their names in lower case.
    package var headers: [String: String]
    /// The target.
    package var target: SendTarget
    /// The time at which it is to be sent; `nil` for now.
    package var dueAt: Timestamp?
    /// The caller's key for the request: a repetition with the same key starts no second send. `nil` for none.
    package var idempotencyKey: String?
    /// The campaign that it is a part of.
    package var campaign: String?
    /// Whether the expression may contain comparisons of the hub's own fields.
    package var readsFields: Bool
    /// The maximum number of installations per second; `nil` for no limit.
    package var rate: Int?
    /// A campaign's local times, quiet hours, frequency cap and experiment; empty for other sends.
    package var plan: CampaignPlan

    /// Creates an instance from its properties.
    package init(
        format: SendFormat, body: [UInt8], headers: [String: String] = [:], target: SendTarget,
        dueAt: Timestamp? = nil, idempotencyKey: String? = nil, campaign: String? = nil, readsFields: Bool = false,
        rate: Int? = nil, plan: CampaignPlan = CampaignPlan()
    ) {
        self.format = format
        self.body = body
        self.headers = headers
        self.target = target
        self.dueAt = dueAt
        self.idempotencyKey = idempotencyKey
        self.campaign = campaign
        self.readsFields = readsFields
        self.rate = rate
        self.plan = plan
    }
}

/// A send as the store keeps it.
package struct SendRecord: Hashable, Sendable {
    /// The send's number in the store.
    package var number: Int64
    /// The send's id, as its caller knows it.
    package var id: String
    /// The number of the hub.
    package var hub: Int64
    /// The request.
    package var request: SendRequest
    /// The send's state.
    package var state: SendState
    /// The time at which it was accepted.
    package var enqueuedAt: Timestamp
    /// The time at which it began; `nil` before.
    package var startedAt: Timestamp?
    /// The time at which it ended; `nil` before.
    package var endedAt: Timestamp?
    /// The number of targeted installations or channels; 0 before it begins.
    package var targeted: Int
    /// The installation number, or the index of a channel, at which it continues.
    package var cursor: UInt32
    /// The number of the steps that were recorded.
    package var step: Int64 = 0
    /// Why it was given up, or what is wrong with it as a whole; `nil` where nothing is.
    package var reason: String?

    /// The part of the request that cannot be read in the store; `nil` where all can. Such a send is not run:
    /// ``request`` has the rest.
    package var unreadable: UnreadableSend?

    /// Brings the parts together.
    package init(
        number: Int64, id: String, hub: Int64, request: SendRequest, state: SendState, enqueuedAt: Timestamp,
        startedAt: Timestamp? = nil, endedAt: Timestamp? = nil, targeted: Int = 0, cursor: UInt32 = 0,
        reason: String? = nil
    ) {
        self.number = number
        self.id = id
        self.hub = hub
        self.request = request
        self.state = state
        self.enqueuedAt = enqueuedAt
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.targeted = targeted
        self.cursor = cursor
        self.reason = reason
    }
}

/// A stored send of which something cannot be read. The send is given up, so that no recipient gets a notification that
/// is not for it.
package struct UnreadableSend: Error, Hashable, CustomStringConvertible {
    /// The name of the unreadable part.
    package var what: String
    package var description: String { "what is stored of its \(what) cannot be read; nothing more is sent" }

    /// Creates an error for an unreadable part.
    package init(_ what: String) { self.what = what }
}

/// The progress of a send, to be recorded in one transaction.
package struct SendProgress: Hashable, Sendable {
    /// The installation number or channel index at which the next slice begins.
    package var cursor: UInt32
    /// The number of the steps that were recorded before this slice.
    package var step: Int64
    /// Whether this slice was the last.
    package var isEnd: Bool
    /// The counts of the outcomes.
    package var counts: [OutcomeCount]
    /// The notifications that failed.
    package var faults: [SendFault]
    /// The channels that the push service reported dead.
    package var deadChannels: [DeadChannel]
    /// The rows of all recipients of the slice.
    package var recipients: [SendRecipient] = []
    /// The recipients of a broadcast part that the gateway cannot reach. An existing row stays as it is.
    package var unreachable: [SendRecipient] = []
    /// The time of the slice.
    package var at: Timestamp
    /// The time at which the next slice may begin; `nil` for at once.
    package var nextAt: Timestamp?
    /// The wave it belongs to; `nil` for a send without waves.
    package var wave: SendWave?
    /// The number of recipients of each variant of an experiment.
    package var variants: [String: Int] = [:]
    /// The evidence of this slice's responses about the credential's environment.
    package var evidence = EnvironmentEvidence()
    /// The fault of the send as a whole; `nil` where there is none.
    package var fault: String?

    /// Creates an instance from its properties.
    package init(
        cursor: UInt32, step: Int64, isEnd: Bool, counts: [OutcomeCount], faults: [SendFault],
        deadChannels: [DeadChannel], at: Timestamp, nextAt: Timestamp? = nil
    ) {
        self.cursor = cursor
        self.step = step
        self.isEnd = isEnd
        self.counts = counts
        self.faults = faults
        self.deadChannels = deadChannels
        self.at = at
        self.nextAt = nextAt
    }
}

extension SendProgress {
    /// Separates members of broadcast parts from the other rows: they have a row when they have their copy, or cannot
    /// be reached.
    mutating func separateListed() {
        unreachable = recipients.filter { $0.list != nil && $0.outcome != .success }
        recipients.removeAll { $0.list != nil }
    }
}

/// A notification of a send that the push service did not take.
package struct SendFault: Hashable, Sendable {
    /// The fault's own number; 0 until it is stored.
    package var number: Int64
    /// The installation's number; 0 for a channel that no installation has.
    package var installation: UInt32
    /// The installation's id, or the channel.
    package var name: String
    /// The outcome of the notification.
    package var outcome: SendOutcome
    /// The time of the fault.
    package var at: Timestamp

    /// Creates an instance from its properties.
    package init(number: Int64 = 0, installation: UInt32, name: String, outcome: SendOutcome, at: Timestamp) {
        self.number = number
        self.installation = installation
        self.name = name
        self.outcome = outcome
        self.at = at
    }
}

/// A channel that a push service reported dead.
package struct DeadChannel: Hashable, Sendable {
    /// The installation's number.
    package var installation: UInt32
    /// The dead channel: a newer one of the installation stays alive.
    package var channel: String
    /// The push service's reason and its time.
    package var fault: ChannelFault
    /// The time at which the channel died according to the push service; `nil` where it is not reported.
    package var diedAt: Timestamp?

    /// Creates an instance from its properties.
    package init(installation: UInt32, channel: String, fault: ChannelFault, diedAt: Timestamp?) {
        self.installation = installation
        self.channel = channel
        self.fault = fault
        self.diedAt = diedAt
    }
}
