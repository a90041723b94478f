import HubWire

/// How many recipients of a send have something in common.
package struct RecipientCount: Hashable, Sendable {
    /// The platform of their installations.
    package var platform: HubPlatform
    /// Their locale.
    package var locale: String?
    /// The version of their app.
    package var appVersion: String?
    /// The variant of an experiment that they got or are to get.
    package var variant: String?
    /// What the push service said; `nil` where it was not asked, or is asked again.
    package var outcome: SendOutcome?
    /// The push service's own word, or why it was not asked.
    package var reason: String?
    /// How it ended, or how far it is.
    package var end: SendReport.End
    /// What is known to have happened.
    package var reached: RecipientReached
    /// Whether it was handed over at least once.
    package var isTried: Bool
    /// How many they are.
    package var count: Int

    /// Brings the parts together.
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
        /// They were there when their turn came.
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
        /// Their time was over before they arrived.
        case expired

        /// Who says so.
        package var source: String {
            switch self {
            case .targeted, .eligible, .attempted: "hub"
            case .accepted: "push service"
            case .delivered, .presented: "device"
            case .opened, .action, .dismissed: "person"
            case .expired: "server"
            }
        }

        /// Whether it is about what a person did, not about the way to the screen.
        package var isEngagement: Bool { source == "person" }
    }

    /// The counts by step; a step that is missing has none.
    package private(set) var counts: [Step: Int] = [:]

    /// A funnel of nobody.
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

    /// Adds some whose turn has not come.
    mutating func add(waiting count: Int) { counts[.targeted, default: 0] += count }
}

/// What became of a send or campaign on the way to people.
///
/// Of templates each notification counts; of everything else each installation. The ends add up to those who were targeted.
package struct SendReport: Hashable, Sendable {
    /// How it ended for one, or how far it is.
    package enum End: String, Sendable, CaseIterable {
        /// Its turn has not come, or it is tried again.
        case pending
        /// It was gone, dead or over before its turn, or nothing was to be sent to it.
        case ineligible
        /// The push service did not take it.
        case refused
        /// Another push service took it, which tells no more.
        case accepted
        /// It waits for the device.
        case waiting
        /// The device has it.
        case delivered
        /// It was shown.
        case presented
        /// A person opened it.
        case opened
        /// A person chose an action.
        case action
        /// A person dismissed it.
        case dismissed
        /// Its time was over before it arrived.
        case expired
        /// It was given up, replaced, taken back or not shown.
        case ended

        /// Whether no more can become known.
        package var isFinal: Bool {
            switch self {
            case .pending, .waiting, .delivered, .presented: false
            case .ineligible, .refused, .accepted, .opened, .action, .dismissed, .expired, .ended: true
            }
        }
    }

    /// By what a report is broken down.
    package enum Dimension: String, Sendable, CaseIterable {
        /// The push service.
        case platform
        /// The installation's language and region.
        case locale
        /// The version of the app.
        case version
        /// The variant of an experiment.
        case variant
        /// The push service's own word, or why nothing was sent.
        case reason

        /// Whether everybody who was targeted has a value, if only an unknown one.
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
        /// What is known of them; their platform is known anyway.
        package var traits: Traits

        fileprivate var isGone: Bool { end == .ineligible }

        /// Brings the parts together.
        package init(end: End, count: Int, traits: Traits = [:]) {
            self.end = end
            self.count = count
            self.traits = traits
        }
    }

    /// Where the send is on its way.
    package var state: SendState
    /// All together.
    package var funnel = SendFunnel()
    /// How each ended; the counts add up to those who were targeted.
    package var ends: [End: Int] = [:]
    /// The funnel of each value of a dimension; unknown values have an empty name.
    /// The targeted of each dimension but the variant and the reason add up to those of ``funnel``.
    package var parts: [Dimension: [String: SendFunnel]] = [:]

    /// Adds up what is known.
    ///
    /// - Parameters:
    ///   - targeted: How many were meant.
    ///   - seen: How many of them have a row.
    ///   - leftOut: How many of them get nothing by the send's own wish, and why.
    ///   - unreached: Counts of members of broadcast parts that have no row, by their end.
    ///   - others: The traits of those who are left out and of those whose turn has not come.
    package init(
        _ state: SendState, targeted: Int, _ counts: [RecipientCount], seen: Int, leftOut: [LeftOut: Int],
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

    /// Adds those without a row to the parts, each once in every dimension that is of everybody. Whose value is not known has the
    /// empty name there; of more values than there are members the last ones are left out.
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

/// What is known to have happened to a notification, by the device's word or a person's.
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
    /// Its time was over before it arrived.
    package static let expired = RecipientReached(rawValue: 32)
}
