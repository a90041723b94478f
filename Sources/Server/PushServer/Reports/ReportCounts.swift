import PushCore

/// Counts of notifications by the stages and the end that they have reached.
package struct ReportCounts: Hashable, Sendable {
    /// The number of accepted notifications.
    package var accepted = 0
    /// The number of these with an alert.
    package var notifications = 0
    private var stages = [Int](repeating: 0, count: DeliveryOutcome.Stage.allCases.count)
    private var ends = [Int](repeating: 0, count: DeliveryOutcome.End.allCases.count)

    /// Creates counts of 0.
    package init() {}

    /// The number that has reached a stage.
    package subscript(stage: DeliveryOutcome.Stage) -> Int {
        get { stages[Int(stage.rawValue)] }
        set { stages[Int(stage.rawValue)] = newValue }
    }

    /// The number with an end.
    package subscript(end: DeliveryOutcome.End) -> Int {
        get { ends[Int(end.rawValue)] }
        set { ends[Int(end.rawValue)] = newValue }
    }

    /// The sum over all ends, which equals ``accepted``.
    package var ended: Int { ends.reduce(0, +) }

    /// Counts an accepted notification.
    package mutating func accept(hasAlert: Bool) {
        accepted += 1
        if hasAlert { notifications += 1 }
    }

    /// Counts an outcome; with `-1` subtracts one that was counted before.
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

    /// The names of the counts in stores and the API: a closed set.
    package static let names =
        ["accepted", "notifications"] + DeliveryOutcome.Stage.allCases.map(\.name)
        + DeliveryOutcome.End.allCases.map(\.name)

    /// The counts in the order of ``names``.
    package var values: [Int] { [accepted, notifications] + stages + ends }

    /// Creates counts from values in the order of ``names``; missing ones are 0.
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
    /// The name of the stage in stores and the API.
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
    /// The name of the end in stores and the API.
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
