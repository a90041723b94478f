import PushCore

/// When, how often and as what a campaign reaches each recipient: members of a campaign's document beside its content.
///
/// ```
/// {"local":{"time":"2030-03-31T02:30:00","past":"skip","gap":"end","overlap":"first","unknownZone":"Europe/Vienna"},
///  "quiet":{"from":"22:00","to":"08:00","then":"wait","unknownZone":"skip"},
///  "cap":{"most":3,"hours":168},
///  "experiment":{"holdOut":10,"variants":[{"name":"a","share":45,"content":{…}},{"name":"b","share":45,"content":{…}}]}}
/// ```
package struct CampaignPlan: Hashable, Sendable {
    /// The recipients' own time; `nil` for the same instant for all.
    package var local: RecipientTime?
    /// The hours in which no recipient is disturbed; `nil` for none.
    package var quiet: QuietHours?
    /// How many campaigns an installation gets at most; `nil` for any number.
    package var cap: FrequencyCap?
    /// The experiment that assigns contents to recipients; `nil` for one content for all.
    package var experiment: CampaignExperiment?

    /// The members of a campaign's document that are of its plan.
    package static let members = ["local", "quiet", "cap", "experiment"]

    /// A plan without wishes.
    package init() {}

    /// Reads the plan's members of a campaign's document; other members are not looked at.
    ///
    /// - Throws: which member was wrong, and what would be right.
    package init(_ tree: JSONValue) throws(InstallationError) {
        if let value = tree["local"], value != .null { local = try RecipientTime(PlanReader(value, "/local")) }
        if let value = tree["quiet"], value != .null { quiet = try QuietHours(PlanReader(value, "/quiet")) }
        if let value = tree["cap"], value != .null { cap = try FrequencyCap(PlanReader(value, "/cap")) }
        if let value = tree["experiment"], value != .null {
            experiment = try CampaignExperiment(PlanReader(value, "/experiment"))
        }
    }

    /// Reads what ``tree`` wrote.
    package init(text: String) throws(InstallationError) {
        let tree: JSONValue
        do { tree = try JSONValue(text: text) } catch { throw InstallationError("", "the plan is no JSON: \(error)") }
        try self.init(tree)
    }

    /// Whether it has any wish.
    package var isEmpty: Bool { self == CampaignPlan() }

    /// The plan as a document, every choice spelled out.
    package var tree: JSONValue {
        var members: [JSONValue.Member] = []
        if let local { members.append(.init("local", local.tree)) }
        if let quiet { members.append(.init("quiet", quiet.tree)) }
        if let cap { members.append(.init("cap", cap.tree)) }
        if let experiment { members.append(.init("experiment", experiment.tree)) }
        return .object(members)
    }
}

/// A time of day and date by the recipient's own clock, with what is done where that is not one instant ahead.
package struct RecipientTime: Hashable, Sendable {
    /// The policy where the time has passed when the campaign begins.
    package enum PastTimePolicy: String, CaseIterable, Sendable {
        /// The notification comes at once.
        case now
        /// The notification does not come.
        case skip
        /// The notification comes at that time of the first day on which it is ahead.
        case nextDay = "next-day"
    }

    /// The policy where the clocks are set forward over the time.
    package enum Gap: String, CaseIterable, Sendable {
        /// At the first instant after the gap: 02:30 comes at 03:00.
        case end
        /// Later by the length of the gap: 02:30 comes at 03:30.
        case shift
        /// The notification does not come.
        case skip
    }

    /// The policy where the clocks are set back, so that the time occurs twice.
    package enum Overlap: String, CaseIterable, Sendable {
        /// The first time.
        case first
        /// The second time.
        case second
    }

    /// The local time as seconds since 1970, counted as if it were UTC.
    package var time: Int64
    /// The policy where the time has passed.
    package var past: PastTimePolicy
    /// The policy where the time does not exist.
    package var gap: Gap
    /// The occurrence that counts where the time occurs twice.
    package var overlap: Overlap
    /// The policy for recipients whose time zone is not known.
    package var unknownZone: UnknownZone

    init(_ reader: PlanReader) throws(InstallationError) {
        try reader.refuseOthers(["time", "past", "gap", "overlap", "unknownZone"])
        guard let text = reader.tree["time"]?.text, text.contains("T"), let read = WireTime.read(text + "Z") else {
            throw reader.fault("time", "expected a date and time without a zone, such as 2030-03-31T09:00")
        }
        time = read.rawValue / 1000
        past = try reader.choice("past")
        gap = try reader.choice("gap")
        overlap = try reader.choice("overlap")
        unknownZone = try reader.unknownZone()
    }

    var tree: JSONValue {
        .object([
            .init("time", .string(WireTime.write(Timestamp(rawValue: time * 1000)).replacing("Z", with: ""))),
            .init("past", .string(past.rawValue)), .init("gap", .string(gap.rawValue)),
            .init("overlap", .string(overlap.rawValue)), .init("unknownZone", .string(unknownZone.text)),
        ])
    }
}

/// The policy for recipients whose time zone is not known.
package enum UnknownZone: Hashable, Sendable {
    /// They get nothing.
    case skip
    /// They count as of this zone.
    case of(String)

    /// `skip`, or the zone's name.
    package var text: String {
        switch self {
        case .skip: "skip"
        case .of(let name): name
        }
    }
}

/// Hours by the recipient's own clock in which nothing is sent.
package struct QuietHours: Hashable, Sendable {
    /// The policy for a notification that is due in these hours.
    package enum QuietHoursPolicy: String, CaseIterable, Sendable {
        /// The notification waits for their end.
        case wait
        /// The notification does not come.
        case skip
    }

    /// The first minute of the day.
    package var from: Int64
    /// The first minute of the day after them; before `from` where they go over midnight.
    package var to: Int64
    /// The policy for a notification that is due in these hours.
    package var then: QuietHoursPolicy
    /// The policy for recipients whose time zone is not known.
    package var unknownZone: UnknownZone

    init(_ reader: PlanReader) throws(InstallationError) {
        try reader.refuseOthers(["from", "to", "then", "unknownZone"])
        from = try reader.minute("from")
        to = try reader.minute("to")
        guard from != to else { throw reader.fault("to", "these hours end when they begin; name another end") }
        then = try reader.choice("then")
        unknownZone = try reader.unknownZone()
    }

    var tree: JSONValue {
        func text(_ minute: Int64) -> JSONValue {
            let digits = [minute / 60, minute % 60].map { ($0 < 10 ? "0" : "") + String($0) }
            return .string(digits.joined(separator: ":"))
        }
        return .object([
            .init("from", text(from)), .init("to", text(to)), .init("then", .string(then.rawValue)),
            .init("unknownZone", .string(unknownZone.text)),
        ])
    }
}

/// How many campaigns an installation gets at most.
package struct FrequencyCap: Hashable, Sendable {
    /// So many campaigns, this one among them.
    package var most: Int
    /// The number of hours before this campaign in which they count.
    package var hours: Int64

    init(_ reader: PlanReader) throws(InstallationError) {
        try reader.refuseOthers(["most", "hours"])
        most = Int(try reader.number("most", 1...1000))
        // Sends are kept for 30 days.
        hours = try reader.number("hours", 1...720)
    }

    var tree: JSONValue {
        .object([.init("most", .number(String(most))), .init("hours", .number(String(hours)))])
    }
}

/// Reads one member of a plan.
struct PlanReader {
    let tree: JSONValue
    private let path: String

    init(_ tree: JSONValue, _ path: String) throws(InstallationError) {
        guard tree.members != nil else { throw InstallationError(path, "this is to be an object") }
        self.tree = tree
        self.path = path
    }

    func fault(_ name: String, _ message: String) -> InstallationError { InstallationError("\(path)/\(name)", message) }

    func refuseOthers(_ names: [String]) throws(InstallationError) {
        guard let other = tree.members?.first(where: { !names.contains($0.name) }) else { return }
        throw fault(other.name, "there is no such member; there are \(names.joined(separator: ", "))")
    }

    /// Reads a choice, which must be explicit: there are no defaults.
    func choice<Choice: RawRepresentable<String> & CaseIterable>(_ name: String) throws(InstallationError) -> Choice {
        guard let choice = tree[name]?.text.flatMap(Choice.init(rawValue:)) else {
            throw fault(name, "say one of \(Choice.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        return choice
    }

    func unknownZone() throws(InstallationError) -> UnknownZone {
        guard let text = tree["unknownZone"]?.text, (1...64).contains(text.utf8.count) else {
            throw fault("unknownZone", "say skip, or the zone in which those count whose zone is not known")
        }
        return text == "skip" ? .skip : .of(text)
    }

    func number(_ name: String, _ range: ClosedRange<Int64>) throws(InstallationError) -> Int64 {
        guard let number = tree[name]?.integer, range.contains(number) else {
            throw fault(name, "expected a whole number from \(range.lowerBound) to \(range.upperBound)")
        }
        return number
    }

    func minute(_ name: String) throws(InstallationError) -> Int64 {
        let parts = tree[name]?.text?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        guard parts.count == 2, parts.allSatisfy({ $0.utf8.count == 2 }), let hour = UInt8(parts[0]),
            let minute = UInt8(parts[1]), hour < 24, minute < 60
        else { throw fault(name, "expected a time of day such as 22:00") }
        return Int64(hour) * 60 + Int64(minute)
    }
}
