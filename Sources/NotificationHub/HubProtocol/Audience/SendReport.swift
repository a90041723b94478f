/// How many recipients of a send have something in common.
package struct RecipientCount: Hashable, Sendable {
    /// The platform of their installations.
    package var platform: HubPlatform
    /// The recipients' locale.
    package var locale: String?
    /// The version of their app.
    package var appVersion: String?
    /// The variant of an experiment that they got or are to get.
    package var variant: String?
    /// The push service's answer; `nil` where no request was made, or it is to be repeated.
    package var outcome: SendOutcome?
    /// The push service's own reason, or why no request was made.
    package var reason: String?
    /// How it ended, or how far it is.
    package var end: SendReport.End
    /// The events that are known to have happened.
    package var reached: RecipientReached
    /// Whether it was handed over at least once.
    package var isTried: Bool
    /// How many they are.
    package var count: Int

    /// Creates an instance from its properties.
    package init(
        platform: HubPlatform, locale: String?, appVersion: String?, variant: String? = nil, outcome: SendOutcome?,
        reason: String?, end: SendReport.End, reached: RecipientReached, isTried: Bool, count: Int
    ) {
        self.platform = platform
        self.locale = locale
        self.appVersion = appVersion
        self.variant = variant
        self.outcome = outcome
        self.reason = reason
        self.end = end
        self.reached = reached
        self.isTried = isTried
        self.count = count
    }
}

/// How many came how far; each step is of those before it, but for what people did.
package struct SendFunnel: Hashable, Sendable {
    /// A step of the funnel.
    package enum Step: String, Sendable, CaseIterable {
        /// They were meant.
        case targeted
        /// The installations still existed when the send reached them.
        case eligible
        /// They were handed to the push service.
        case attempted
        /// The push service took them.
        case accepted
        /// The device has them.
        case delivered
        /// They were shown.
        case presented
        /// A person opened them.
        case opened
        /// A person chose an action.
        case action
        /// A person dismissed them.
        case dismissed
        /// They expired before they arrived.
        case expired

        /// The party that reports the step.
        package var source: String {
            switch self {
            case .targeted, .eligible, .attempted: "hub"
            case .accepted: "push service"
            case .delivered, .presented: "device"
            case .opened, .action, .dismissed: "person"
            case .expired: "server"
            }
        }

        /// Whether it is an action of the user, not a step of the delivery.
        package var isEngagement: Bool { source == "person" }
    }

    /// The counts by step; a step that is missing has none.
    package private(set) var counts: [Step: Int] = [:]

    /// An empty funnel.
    package init() {}

    /// How many came to a step.
    package subscript(step: Step) -> Int { counts[step, default: 0] }

    /// Adds some recipients.
    mutating func add(_ recipients: RecipientCount) {
        let steps: [(Step, Bool)] = [
            (.targeted, true), (.eligible, recipients.end != .ineligible), (.attempted, recipients.isTried),
            (.accepted, recipients.outcome == .success), (.delivered, recipients.reached.contains(.delivered)),
            (.presented, recipients.reached.contains(.presented)), (.opened, recipients.reached.contains(.opened)),
            (.action, recipients.reached.contains(.action)),
            (.dismissed, recipients.reached.contains(.dismissed)), (.expired, recipients.reached.contains(.expired)),
        ]
        for (step, holds) in steps where holds { counts[step, default: 0] += recipients.count }
    }

    /// Adds installations that the send has not reached yet.
    mutating func add(waiting count: Int) { counts[.targeted, default: 0] += count }
}

/// The delivery report of a send or campaign.
///
/// For templates each notification counts; for everything else each installation. The counts by end add up to the
/// number targeted.
package struct SendReport: Hashable, Sendable {
    /// How it ended for one, or how far it is.
    package enum End: String, Sendable, CaseIterable {
        /// The notification is queued, or is to be retried.
        case pending
        /// The installation was gone, dead or expired before the send reached it, or nothing was to be sent to it.
        case ineligible
        /// The push service did not take it.
        case refused
        /// Another push service took it, which reports nothing further.
        case accepted
        /// The notification waits for the device.
        case waiting
        /// The device has it.
        case delivered
        /// The notification was shown.
        case presented
        /// A person opened it.
        case opened
        /// A person chose an action.
        case action
        /// A person dismissed it.
        case dismissed
        /// The notification expired before it arrived.
        case expired
        /// The notification was given up, replaced, taken back or not shown.
        case ended

        /// Whether no more can become known.
        package var isFinal: Bool {
            switch self {
            case .pending, .waiting, .delivered, .presented: false
            case .ineligible, .refused, .accepted, .opened, .action, .dismissed, .expired, .ended: true
            }
        }
    }

    /// A dimension by which a report is broken down.
    package enum Dimension: String, Sendable, CaseIterable {
        /// The push service.
        case platform
        /// The installation's language and region.
        case locale
        /// The version of the app.
        case version
        /// The variant of an experiment.
        case variant
        /// The push service's own reason, or why nothing was sent.
        case reason

        /// Whether every targeted installation has a value, if only an unknown one.
        var isOfEverybody: Bool { self != .variant && self != .reason }
    }

    /// How many of some installations have which value of a dimension.
    package typealias Traits = [Dimension: [String: Int]]

    /// Members of a broadcast part that have no row. Those at the end `ineligible` are not there any more.
    package struct Unreached: Hashable, Sendable {
        /// How it ended for them, or how far it is.
        package var end: End
        /// How many they are.
        package var count: Int
        /// The known traits of these members; their platform is known anyway.
        package var traits: Traits

        fileprivate var isGone: Bool { end == .ineligible }

        /// Creates an instance from its properties.
        package init(end: End, count: Int, traits: Traits = [:]) {
            self.end = end
            self.count = count
            self.traits = traits
        }
    }

    /// The state of the send.
    package var state: SendState
    /// All together.
    package var funnel = SendFunnel()
    /// The counts by end, which add up to the number targeted.
    package var ends: [End: Int] = [:]
    /// The funnel of each value of a dimension; unknown values have an empty name.
    /// The targeted of each dimension but the variant and the reason add up to those of ``funnel``.
    package var parts: [Dimension: [String: SendFunnel]] = [:]

    /// Adds up the known counts.
    ///
    /// - Parameters:
    ///   - targeted: How many installations were targeted.
    ///   - seen: How many of them have a row.
    ///   - leftOut: How many of them receive nothing by the send's own plan, by reason.
    ///   - unreached: Counts of members of broadcast parts that have no row, by their end.
    ///   - others: The traits of installations that are left out or not reached yet.
    package init(
        _ state: SendState, targeted: Int, _ counts: [RecipientCount], seen: Int, leftOut: [ExclusionReason: Int],
        unreached: [Unreached] = [], others: Traits = [:]
    ) {
        self.state = state
        for count in counts {
            funnel.add(count)
            ends[count.end, default: 0] += count.count
            for dimension in Dimension.allCases {
                let value =
                    switch dimension {
                    case .platform: count.platform.text
                    case .locale: count.locale
                    case .version: count.appVersion
                    case .variant: count.variant
                    case .reason: count.outcome == .success ? nil : count.reason
                    }
                guard dimension.isOfEverybody || value != nil else { continue }
                parts[dimension, default: [:]][value ?? "", default: SendFunnel()].add(count)
            }
        }
        for (why, count) in leftOut where count > 0 {
            funnel.add(waiting: count)
            ends[.ineligible, default: 0] += count
            parts[.reason, default: [:]][why.rawValue, default: SendFunnel()].add(waiting: count)
        }
        for some in unreached { add(some) }
        let without = leftOut.values.reduce(0, +)
        let left = max(0, targeted - seen - without - unreached.reduce(0) { $0 + $1.count })
        divide(left + without, others) { $0.add(waiting: $1) }
        guard left > 0 else { return }
        funnel.add(waiting: left)
        ends[state.isFinal ? .ended : .pending, default: 0] += left
    }

    private mutating func add(_ some: Unreached) {
        var row = RecipientCount(
            platform: .aldaba, locale: nil, appVersion: nil, outcome: some.isGone ? nil : .success, reason: nil,
            end: some.end, reached: some.end == .expired ? .expired : [], isTried: !some.isGone, count: some.count)
        funnel.add(row)
        if some.isGone { parts[.reason, default: [:]]["Gone", default: SendFunnel()].add(row) }
        ends[some.end, default: 0] += some.count
        var traits = some.traits
        traits[.platform] = [HubPlatform.aldaba.text: some.count]
        divide(some.count, traits) { part, count in
            row.count = count
            part.add(row)
        }
    }

    /// Adds those without a row to the parts, each once in every dimension that is of everybody. Whose value is not
    /// known has the empty name there; of more values than there are members the last ones are left out.
    private mutating func divide(_ count: Int, _ traits: Traits, add: (inout SendFunnel, Int) -> Void) {
        for dimension in Dimension.allCases {
            var left = count
            for (value, number) in traits[dimension, default: [:]].sorted(by: { $0.key < $1.key }) {
                let some = min(number, left)
                guard some > 0 else { continue }
                add(&parts[dimension, default: [:]][value, default: SendFunnel()], some)
                left -= some
            }
            if left > 0, dimension.isOfEverybody {
                add(&parts[dimension, default: [:]]["", default: SendFunnel()], left)
            }
        }
    }
}

/// The events known to have happened to a notification, as reported by the device or caused by its user.
package struct RecipientReached: OptionSet, Hashable, Sendable {
    /// The bits.
    package let rawValue: Int
    /// Takes bits as they are.
    package init(rawValue: Int) { self.rawValue = rawValue }

    /// The device has it.
    package static let delivered = RecipientReached(rawValue: 1)
    /// It was shown.
    package static let presented = RecipientReached(rawValue: 2)
    /// A person opened it.
    package static let opened = RecipientReached(rawValue: 4)
    /// A person chose an action.
    package static let action = RecipientReached(rawValue: 8)
    /// A person dismissed it.
    package static let dismissed = RecipientReached(rawValue: 16)
    /// The notification expired before it arrived.
    package static let expired = RecipientReached(rawValue: 32)
}
