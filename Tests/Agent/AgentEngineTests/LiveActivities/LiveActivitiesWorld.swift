import AgentProtocol
import DeviceTestSupport
import PushCore

@testable import AgentEngine

/// An engine of Live Activities with a clock that a test moves.
struct LiveActivitiesWorld {
    static let app: BundleID = "com.example.todo"
    static let hour: Int64 = 3_600_000

    var engine = LiveActivitiesEngine()
    var now = noon

    /// The id of an activity of this number.
    static func id(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return String(repeating: "0", count: 32 - digits.count) + digits
    }

    static func activity(
        _ number: Int, attributes: String = "{}", state: String = #"{"stop":1}"#, staleDate: Int64? = nil
    ) -> LiveActivity {
        LiveActivity(
            id: id(number), attributesType: "Delivery", attributes: attributes,
            content: LiveActivityContent(state: state, staleDate: staleDate))
    }

    static func content(_ state: String, staleDate: Int64? = nil) -> LiveActivityContent {
        LiveActivityContent(state: state, staleDate: staleDate)
    }

    /// A push with the members of `aps` behind its event and its timestamp.
    static func push(
        _ event: String, at timestamp: Int64, _ members: String = ""
    ) throws(LiveActivityPush.Fault) -> LiveActivityPush {
        try LiveActivityPush(
            payload: Array(#"{"aps":{"event":"\#(event)","timestamp":\#(timestamp)\#(members)}}"#.utf8))
    }

    /// The code with which an event is refused; `nil` where it is not.
    static func code(_ event: () throws -> Void) -> String? {
        do { try event() } catch { return (error as? LiveActivitiesEngine.Refusal)?.code ?? "\(error)" }
        return nil
    }

    mutating func handle(
        _ event: LiveActivitiesEngine.Event
    ) throws(LiveActivitiesEngine.Refusal) -> [LiveActivitiesEngine.Directive] {
        try engine.handle(event, now: now)
    }

    @discardableResult
    mutating func start(
        _ number: Int, _ pushes: LiveActivityPushes = .none, staleDate: Int64? = nil
    ) throws(LiveActivitiesEngine.Refusal) -> [LiveActivitiesEngine.Directive] {
        try handle(.start(Self.activity(number, staleDate: staleDate), pushes, app: Self.app))
    }

    @discardableResult
    mutating func update(
        _ number: Int, _ state: String, staleDate: Int64? = nil
    ) throws(LiveActivitiesEngine.Refusal) -> [LiveActivitiesEngine.Directive] {
        try handle(.update(id: Self.id(number), Self.content(state, staleDate: staleDate), nil, app: Self.app))
    }

    @discardableResult
    mutating func end(
        _ number: Int, _ dismissal: LiveActivityDismissal = .standard
    ) throws(LiveActivitiesEngine.Refusal) -> [LiveActivitiesEngine.Directive] {
        try handle(.end(id: Self.id(number), nil, dismissal, app: Self.app))
    }

    mutating func receive(
        _ push: LiveActivityPush, for target: LiveActivityTarget, id number: Int = 99
    ) throws(LiveActivitiesEngine.Refusal) -> [LiveActivitiesEngine.Directive] {
        try handle(.push(push, target, app: Self.app, id: Self.id(number)))
    }

    /// Lets time pass, and tells the engine.
    mutating func pass(
        _ milliseconds: Int64
    ) throws(LiveActivitiesEngine.Refusal) -> [LiveActivitiesEngine.Directive] {
        now = now.adding(milliseconds: milliseconds)
        return try handle(.timePassed(now))
    }

    var states: [LiveActivity.State] { engine.activities(of: Self.app).map(\.activity.state) }
}

extension [LiveActivitiesEngine.Directive] {
    var stored: [LiveActivity.State] {
        compactMap { if case .store(let record) = $0 { record.activity.state } else { nil } }
    }
    var shown: [String] {
        compactMap { if case .show(let record, _) = $0 { record.activity.content.state } else { nil } }
    }
    var hidden: [String] {
        compactMap { if case .hide(let record) = $0 { record.activity.id } else { nil } }
    }
    var deleted: [String] {
        compactMap { if case .delete(let record) = $0 { record.activity.id } else { nil } }
    }
    /// The channels that are followed from now on (`+`), and no longer (`-`).
    var followed: [String] {
        compactMap { if case .follow(let channel, let joins, _) = $0 { (joins ? "+" : "-") + channel } else { nil } }
    }
    var waits: [Timestamp] {
        compactMap { if case .wait(let moment) = $0 { moment } else { nil } }
    }
    var launches: Int { count { if case .launch = $0 { true } else { false } } }
}
