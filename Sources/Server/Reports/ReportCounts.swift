import PushModel

/// How many notifications came how far.
package struct ReportCounts: Hashable, Sendable {
    /// How many were accepted.
    package var accepted = 0
    /// How many of them have an alert.
    package var notifications = 0
    private var stages = [Int](repeating: 0, count: DeliveryOutcome.Stage.allCases.count)
    private var ends = [Int](repeating: 0, count: DeliveryOutcome.End.allCases.count)

    /// Counts of nothing.
    package init() {}

    /// How many have reached a stage.
    package subscript(stage: DeliveryOutcome.Stage) -> Int {
        get { stages[Int(stage.rawValue)] }
        set { stages[Int(stage.rawValue)] = newValue }
    }

    /// How many have an end.
    package subscript(end: DeliveryOutcome.End) -> Int {
        get { ends[Int(end.rawValue)] }
        set { ends[Int(end.rawValue)] = newValue }
    }

    /// The sum over all ends; it is ``accepted``.
    package var ended: Int { ends.reduce(0, +) }

    /// Counts a notification that was accepted.
    package mutating func accept(hasAlert: Bool) {
        accepted += 1
        if hasAlert { notifications += 1 }
    }

    /// Counts an outcome; with `-1` takes back what was counted before.
    package mutating func count(_ outcome: DeliveryOutcome, by amount: Int = 1) {
        for stage in DeliveryOutcome.Stage.allCases where outcome.has(stage) { self[stage] += amount }
        self[outcome.end] += amount
    }

    /// Adds other counts.
    package static func += (left: inout ReportCounts, right: ReportCounts) {
        left.accepted += right.accepted
        left.notifications += right.notifications
        for stage in DeliveryOutcome.Stage.allCases { left[stage] += right[stage] }
        for end in DeliveryOutcome.End.allCases { left[end] += right[end] }
    }

    /// The names of the counts, as stores and the API write them: a closed set.
    package static let names =
        ["accepted", "notifications"] + DeliveryOutcome.Stage.allCases.map(\.name)
        + DeliveryOutcome.End.allCases.map(\.name)

    /// The counts in the order of ``names``.
    package var values: [Int] { [accepted, notifications] + stages + ends }

    /// Reads the counts in the order of ``names``; those that are missing are 0.
    package init(values: [Int]) {
        for (place, value) in values.enumerated() {
            switch place {
            case 0: accepted = value
            case 1: notifications = value
            case ..<(2 + stages.count): stages[place - 2] = value
            case ..<(2 + stages.count + ends.count): ends[place - 2 - stages.count] = value
            default: break
            }
        }
    }
}

extension DeliveryOutcome.Stage {
    /// The stage as stores and the API write it.
    package var name: String {
        switch self {
        case .sent: "sent"
        case .received: "received"
        case .presented: "presented"
        case .opened: "opened"
        case .dismissed: "dismissed"
        case .suppressed: "suppressed"
        case .prompt: "prompt"
        }
    }
}

extension DeliveryOutcome.End {
    /// The end as stores and the API write it.
    package var name: String {
        switch self {
        case .pending: "pending"
        case .delivered: "delivered"
        case .expired: "expired"
        case .replaced: "replaced"
        case .withdrawn: "withdrawn"
        case .droppedOverflow: "droppedOverflow"
        case .droppedInactive: "droppedInactive"
        case .droppedUnregistered: "droppedUnregistered"
        case .droppedOffline: "droppedOffline"
        case .failed: "failed"
        }
    }
}
