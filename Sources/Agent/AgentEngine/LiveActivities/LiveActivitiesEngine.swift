import AgentProtocol
import PushCore

/// Decides about the Live Activities of apps: a value, events in and directives out.
///
/// Guarantees: at most ``limit`` activities of an app are open, and as many have ended and are shown. A push with an older timestamp than the newest one changes
/// nothing. An activity ends ``longestLife`` after its start at the latest, and leaves the screen ``longestDisplay`` after
/// its end at the latest.
package struct LiveActivitiesEngine: Sendable {
    /// The maximum number of open activities of an app.
    package static let limit = 8
    /// The longest life of an activity, in milliseconds: eight hours.
    static let longestLife: Int64 = 8 * 3_600_000
    /// The longest time for which an ended activity is shown, in milliseconds: four hours.
    static let longestDisplay: Int64 = 4 * 3_600_000
    /// The maximum size of attributes and content together, in bytes.
    static let sizeLimit = 4096

    /// An event.
    package enum Event: Sendable {
        /// The agent has started, with the activities that are stored.
        case started([LiveActivityRecord])
        /// An app starts an activity.
        case start(LiveActivity, LiveActivityPushes, app: BundleID)
        /// An app updates an activity.
        case update(id: String, LiveActivityContent, LiveActivityAlert?, app: BundleID)
        /// An app ends an activity.
        case end(id: String, LiveActivityContent?, LiveActivityDismissal, app: BundleID)
        /// A push has arrived. `id`: the id of the activity that it may start.
        case push(LiveActivityPush, LiveActivityTarget, app: BundleID, id: String)
        /// A person has dismissed the notification of an activity.
        case dismissed(id: String, app: BundleID)
        /// The app was removed.
        case removed(app: BundleID)
        /// The timer of a moment of ``Directive/wait(until:)`` has come.
        case timePassed(Timestamp)
    }

    /// An action for the agent; directives are performed in order.
    package enum Directive: Sendable, Hashable {
        /// Store a record, and tell its app.
        case store(LiveActivityRecord)
        /// Delete a record, after telling its app that it is dismissed.
        case delete(LiveActivityRecord)
        /// Show an activity, in place of what is shown of it; with an alert it draws attention.
        case show(LiveActivityRecord, LiveActivityAlert?)
        /// Take an activity off the screen.
        case hide(LiveActivityRecord)
        /// Have the app follow a channel, or follow it no longer.
        case follow(channel: String, joins: Bool, app: BundleID)
        /// Start the app, since a push has begun an activity of it.
        case launch(BundleID)
        /// Report ``Event/timePassed(_:)`` at this moment.
        case wait(until: Timestamp)
    }

    /// The reason for which an event changes nothing: a code, and a sentence.
    package struct Refusal: Error, Hashable, Sendable {
        /// A code of ``ActivityFault``, or the code of a failed push.
        package var code: String
        /// The sentence.
        package var sentence: String
    }

    /// The records of activities that are not dismissed.
    private var records: [BundleID: [String: LiveActivityRecord]] = [:]
    /// The moments of ``Directive/wait(until:)`` that have not come.
    private var awaited: Set<Timestamp> = []

    /// An engine without activities.
    package init() {}

    /// The activities of an app that are not dismissed, in the order of their starts.
    package func activities(of app: BundleID) -> [LiveActivityRecord] {
        (records[app] ?? [:]).values.sorted { ($0.startedAt, $0.activity.id) < ($1.startedAt, $1.activity.id) }
    }

    /// Handles an event.
    ///
    /// - Returns: The directives that follow, in order.
    /// - Throws: The reason for which nothing changes.
    package mutating func handle(_ event: Event, now: Timestamp) throws(Refusal) -> [Directive] {
        let before = self
        do throws(Refusal) {
            var directives = try directives(event, now: now)
            wait(&directives, now)
            return directives
        } catch {
            self = before
            throw error
        }
    }

    private mutating func directives(_ event: Event, now: Timestamp) throws(Refusal) -> [Directive] {
        switch event {
        case .started(let stored): started(stored)
        case .start(let activity, let pushes, let app):
            try start(LiveActivityRecord(app: app, activity: activity, pushes: pushes, startedAt: now), nil)
        case .update(let id, let content, let alert, let app): try update(id, content: content, alert: alert, of: app)
        case .end(let id, let content, let dismissal, let app):
            try end(id, content: content, dismissal: dismissal, of: app, now: now)
        case .push(let push, let target, let app, let id): try self.push(push, to: target, of: app, id: id, now: now)
        case .dismissed(let id, let app): records[app]?[id].map { dismiss($0) } ?? []
        case .removed(let app): removed(app)
        case .timePassed(let moment): timePassed(to: moment, now)
        }
    }

    private mutating func started(_ stored: [LiveActivityRecord]) -> [Directive] {
        for record in stored { records[record.app, default: [:]][record.activity.id] = record }
        return []
    }

    // MARK: Beginning, change and end

    private mutating func start(
        _ record: LiveActivityRecord, _ alert: LiveActivityAlert?
    ) throws(Refusal) -> [Directive] {
        let (app, id) = (record.app, record.activity.id)
        // A command that is repeated on a new connection.
        guard records[app]?[id] == nil else { return [] }
        guard case .activity(id)? = LiveActivityTarget(tokenDigits: id.utf8) else {
            throw Refusal(
                code: ActivityFault.invalid,
                sentence: "an activity's id has 32 lower-case hexadecimal digits, not all 0")
        }
        try check(record.activity)
        if let channel = record.channel, !Self.isChannel(channel) {
            throw Refusal(code: ActivityFault.invalid, sentence: "the channel's id is not base64")
        }
        guard (records[app] ?? [:]).values.count(where: \.isOpen) < Self.limit else {
            throw Refusal(
                code: ActivityFault.tooMany, sentence: "\(app) has \(Self.limit) Live Activities, as many as it may")
        }
        records[app, default: [:]][id] = record
        let following: [Directive] = record.channel.map { [.follow(channel: $0, joins: true, app: app)] } ?? []
        return [.store(record), .show(record, alert)] + following
    }

    /// Whether a text can be a channel's id: base64, at most 64 characters. The device sends it to its server.
    private static func isChannel(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="):
                    true
                default: false
                }
            }
    }

    private func check(_ activity: LiveActivity) throws(Refusal) {
        // Whatever is wrong with a text, it is not JSON.
        guard let attributes = try? JSONValue(Array(activity.attributes.utf8)), attributes.members != nil else {
            throw Refusal(code: ActivityFault.invalid, sentence: "the attributes are not a JSON object")
        }
        guard (try? JSONValue(Array(activity.content.state.utf8))) != nil else {
            throw Refusal(code: ActivityFault.invalid, sentence: "the content state is not JSON")
        }
        let size = activity.attributes.utf8.count + activity.content.state.utf8.count
        guard size <= Self.sizeLimit else {
            throw Refusal(
                code: ActivityFault.tooLarge,
                sentence: "attributes and content state have \(size) bytes, at most \(Self.sizeLimit) are allowed")
        }
    }

    private mutating func update(
        _ id: String, content: LiveActivityContent, alert: LiveActivityAlert?, push timestamp: Int64? = nil,
        of app: BundleID
    ) throws(Refusal) -> [Directive] {
        guard var record = records[app]?[id], record.isOpen else { throw Self.missing }
        record.activity.content = content
        record.activity.state = .active
        record.newestPush = timestamp ?? record.newestPush
        try check(record.activity)
        records[app]?[id] = record
        return [.store(record), .show(record, alert)]
    }

    private mutating func end(
        _ id: String, content: LiveActivityContent?, dismissal: LiveActivityDismissal, alert: LiveActivityAlert? = nil,
        push timestamp: Int64? = nil, of app: BundleID, now: Timestamp
    ) throws(Refusal) -> [Directive] {
        guard var record = records[app]?[id], record.isOpen else { throw Self.missing }
        if let content { record.activity.content = content }
        try check(record.activity)
        record.activity.state = .ended
        record.newestPush = timestamp ?? record.newestPush
        let latest = now.rawValue + Self.longestDisplay
        let moment: Int64 =
            switch dismissal {
            case .standard: latest
            case .immediate: now.rawValue
            case .after(let date): min(date, latest)
            }
        let left = leaving(record)
        guard moment > now.rawValue else { return left + dismiss(record) }
        record.dismissedAt = moment
        records[app]?[id] = record
        return left + [.store(record), .show(record, alert)] + dismissOldest(of: app)
    }

    /// Dismisses the oldest activities of an app that have ended, where there are more than ``limit``.
    private mutating func dismissOldest(of app: BundleID) -> [Directive] {
        let ended = activities(of: app).filter { !$0.isOpen }
        return ended.dropLast(Self.limit).flatMap { dismiss($0) }
    }

    private static var missing: Refusal {
        Refusal(code: "noActivity", sentence: "the app has no such Live Activity: it has ended, or was dismissed")
    }

    /// Has the app leave the channel of an activity that ends, where no other follows it.
    private func leaving(_ record: LiveActivityRecord) -> [Directive] {
        guard let channel = record.channel else { return [] }
        let others = (records[record.app] ?? [:]).values.contains {
            $0.activity.id != record.activity.id && $0.isOpen && $0.channel == channel
        }
        return others ? [] : [.follow(channel: channel, joins: false, app: record.app)]
    }

    private mutating func dismiss(_ record: LiveActivityRecord) -> [Directive] {
        let left = records[record.app]?[record.activity.id]?.isOpen == true && record.isOpen ? leaving(record) : []
        records[record.app]?[record.activity.id] = nil
        var record = record
        record.activity.state = .dismissed
        return left + [.hide(record), .delete(record)]
    }

    private mutating func removed(_ app: BundleID) -> [Directive] {
        let all = activities(of: app)
        records[app] = nil
        return all.map { .delete($0) }
    }

    // MARK: Pushes

    private mutating func push(
        _ push: LiveActivityPush, to target: LiveActivityTarget, of app: BundleID, id: String, now: Timestamp
    ) throws(Refusal) -> [Directive] {
        switch (push.event, target) {
        case (.start(let type, let attributes, let pushes), .start):
            let activity = LiveActivity(
                id: id, attributesType: type, attributes: attributes,
                content: push.content ?? LiveActivityContent(state: "{}"))
            var record = LiveActivityRecord(app: app, activity: activity, pushes: pushes, startedAt: now)
            record.newestPush = push.timestamp
            let began = try start(record, push.alert)
            return began.isEmpty ? [] : began + [.launch(app)]
        case (.start, _):
            throw Refusal(code: "wrongToken", sentence: "a start goes to the app's token for starts")
        case (_, .start):
            throw Refusal(code: "wrongToken", sentence: "the token is for starts; an activity has one of its own")
        case (_, .activity(let id)): return try apply(push, to: [id], of: app, now: now)
        case (_, .channel(let channel)):
            return try apply(
                push, to: activities(of: app).filter { $0.channel == channel && $0.isOpen }.map(\.activity.id), of: app,
                now: now)
        }
    }

    private mutating func apply(
        _ push: LiveActivityPush, to ids: [String], of app: BundleID, now: Timestamp
    ) throws(Refusal) -> [Directive] {
        let open = ids.filter { records[app]?[$0]?.isOpen == true }
        guard !open.isEmpty else { throw Self.missing }
        var directives: [Directive] = []
        for id in open {
            if let newest = records[app]?[id]?.newestPush, push.timestamp < newest { continue }
            switch push.event {
            case .end(let dismissal):
                directives += try end(
                    id, content: push.content, dismissal: dismissal, alert: push.alert, push: push.timestamp, of: app,
                    now: now)
            case .start, .update:
                guard let content = push.content else { continue }
                directives += try update(id, content: content, alert: push.alert, push: push.timestamp, of: app)
            }
        }
        guard !directives.isEmpty else {
            throw Refusal(code: "outdated", sentence: "a push with a later timestamp came before")
        }
        return directives
    }

    // MARK: Time

    private mutating func timePassed(to moment: Timestamp, _ now: Timestamp) -> [Directive] {
        // A timer comes before its moment where the clock was set back.
        awaited = awaited.filter { $0 > now && $0 != moment }
        var directives: [Directive] = []
        for app in records.keys.sorted(by: { $0.rawValue < $1.rawValue }) {
            for var record in activities(of: app) {
                if let dismissedAt = record.dismissedAt {
                    if dismissedAt <= now.rawValue { directives += dismiss(record) }
                } else if record.startedAt + Self.longestLife <= now.rawValue {
                    directives += leaving(record)
                    record.activity.state = .ended
                    record.dismissedAt = now.rawValue + Self.longestDisplay
                    records[app]?[record.activity.id] = record
                    directives += [.store(record)] + dismissOldest(of: app)
                } else if record.activity.state == .active, let date = record.activity.content.staleDate,
                    date <= now.rawValue
                {
                    record.activity.state = .stale
                    records[app]?[record.activity.id] = record
                    directives += [.store(record)]
                }
            }
        }
        return directives
    }

    /// Waits for the next moment at which something changes by itself.
    private mutating func wait(_ directives: inout [Directive], _ now: Timestamp) {
        let moments = records.values.lazy.flatMap(\.values).map { record -> Int64 in
            if let dismissedAt = record.dismissedAt { return dismissedAt }
            let end = record.startedAt + Self.longestLife
            return record.activity.state == .active ? min(record.activity.content.staleDate ?? end, end) : end
        }
        guard let next = moments.min().map({ Timestamp(rawValue: max($0, now.rawValue)) }) else { return }
        guard !awaited.contains(where: { $0 <= next }) else { return }
        awaited.insert(next)
        directives.append(.wait(until: next))
    }
}
