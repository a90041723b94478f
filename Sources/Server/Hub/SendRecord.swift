import Audience
import HubWire
import PushModel

/// Whom a send is for.
package enum SendTarget: Hashable, Sendable {
    /// Those of an expression, as it was written; `nil` for everyone.
    case audience(String?)
    /// Channels of the push service itself, which the hub need not know.
    case channels([String])
}

/// What somebody asks to be sent.
package struct SendRequest: Hashable, Sendable {
    /// What the body is.
    package var format: SendFormat
    /// The body: a payload, or properties.
    package var body: [UInt8]
    /// The header fields for the push service, by their names in lower case.
    package var headers: [String: String]
    /// Whom it is for.
    package var target: SendTarget
    /// When it is to be sent; `nil` for now.
    package var dueAt: Timestamp?
    /// The caller's key for the request: a repetition with the same key starts no second send. `nil` for none.
    package var idempotencyKey: String?
    /// The campaign that it is a part of.
    package var campaign: String?
    /// Whether comparisons of the hub's own fields may stand in the expression.
    package var readsFields: Bool
    /// How many installations it goes to in a second, at most; `nil` for as many as there are.
    package var rate: Int?
    /// A campaign's local times, quiet hours, frequency cap and experiment; empty for other sends.
    package var plan: CampaignPlan

    /// Brings the parts together.
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
    /// Its number in the store.
    package var number: Int64
    /// Its id, as its caller knows it.
    package var id: String
    /// Its hub's number.
    package var hub: Int64
    /// What was asked.
    package var request: SendRequest
    /// Where it is on its way.
    package var state: SendState
    /// When it was accepted.
    package var enqueuedAt: Timestamp
    /// When it began; `nil` before.
    package var startedAt: Timestamp?
    /// When it ended; `nil` before.
    package var endedAt: Timestamp?
    /// How many installations or channels are meant; 0 before it begins.
    package var targeted: Int
    /// From which number of an installation, or place of a channel, it goes on.
    package var cursor: UInt32
    /// Why it was given up, or what is wrong with it as a whole; `nil` where nothing is.
    package var reason: String?

    /// What of the request cannot be read in the store; `nil` where all can. Such a send is not run: ``request`` has the rest.
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

/// The store has something of a send that cannot be read: the send is given up, so that nobody gets what is not for them.
package struct UnreadableSend: Error, Hashable, CustomStringConvertible {
    /// What cannot be read.
    package var what: String
    package var description: String { "what is stored of its \(what) cannot be read; nothing more is sent" }

    /// Names what cannot be read.
    package init(_ what: String) { self.what = what }
}

/// What was handed over of a send, to be noted in one transaction.
package struct SendProgress: Hashable, Sendable {
    /// Where the next slice begins.
    package var cursor: UInt32
    /// Whether that was all.
    package var isEnd: Bool
    /// How many had which outcome.
    package var counts: [OutcomeCount]
    /// What did not succeed, and of whom.
    package var faults: [SendFault]
    /// Whose channels are dead.
    package var deadChannels: [DeadChannel]
    /// What became of everyone whose turn it was.
    package var recipients: [SendRecipient] = []
    /// Recipients of a broadcast part that the gateway cannot reach. An existing row stays as it is.
    package var unreachable: [SendRecipient] = []
    /// When.
    package var at: Timestamp
    /// When the next slice may begin; `nil` for at once.
    package var nextAt: Timestamp?
    /// The wave it belongs to; `nil` for a send without waves.
    package var wave: SendWave?
    /// How many got which variant of an experiment.
    package var variants: [String: Int] = [:]
    /// What the answers say of the credential's environment, those of this slice alone.
    package var evidence = EnvironmentEvidence()
    /// What is wrong with the send as a whole; `nil` where nothing is.
    package var fault: String?

    /// Brings the parts together.
    package init(
        cursor: UInt32, isEnd: Bool, counts: [OutcomeCount], faults: [SendFault], deadChannels: [DeadChannel],
        at: Timestamp, nextAt: Timestamp? = nil
    ) {
        self.cursor = cursor
        self.isEnd = isEnd
        self.counts = counts
        self.faults = faults
        self.deadChannels = deadChannels
        self.at = at
        self.nextAt = nextAt
    }
}

extension SendProgress {
    /// Those who were handed over as one have a row when they have their copy, or where they cannot be reached.
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
    /// What became of it.
    package var outcome: SendOutcome
    /// When.
    package var at: Timestamp

    /// Brings the parts together.
    package init(number: Int64 = 0, installation: UInt32, name: String, outcome: SendOutcome, at: Timestamp) {
        self.number = number
        self.installation = installation
        self.name = name
        self.outcome = outcome
        self.at = at
    }
}

/// A channel of which a push service said that it is dead.
package struct DeadChannel: Hashable, Sendable {
    /// The installation's number.
    package var installation: UInt32
    /// The channel that is dead: a newer one lives on.
    package var channel: String
    /// The push service's word and its time.
    package var fault: ChannelFault
    /// When the channel died, by the push service; `nil` where it does not say so.
    package var diedAt: Timestamp?

    /// Brings the parts together.
    package init(installation: UInt32, channel: String, fault: ChannelFault, diedAt: Timestamp?) {
        self.installation = installation
        self.channel = channel
        self.fault = fault
        self.diedAt = diedAt
    }
}
