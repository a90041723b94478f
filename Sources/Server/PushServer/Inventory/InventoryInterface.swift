import HTTPTypes
import Hummingbird
import PushCore

/// The routes `GET /v1/notifications`, `/v1/devices` and `/v1/apps`: lists of a server's contents, with filters and
/// cursors.
package struct InventoryInterface: ControlInterface {
    private let store: any InventoryStore
    private let apps: any RegisterStore
    private let authentication: any ProviderAuthentication
    /// Waits until notes written behind are durable, so that a response includes everything that was accepted before
    /// its request.
    private let flush: @Sendable () async throws -> Void
    private let feed: NotificationFeed
    private let slots = StreamSlots(limit: 64, label: "aldaba_notification_streams")

    /// Creates an instance from its properties.
    package init(
        store: any InventoryStore, apps: any RegisterStore, authentication: any ProviderAuthentication,
        feed: NotificationFeed, flush: @escaping @Sendable () async throws -> Void
    ) {
        self.store = store
        self.apps = apps
        self.authentication = authentication
        self.feed = feed
        self.flush = flush
    }

    private static let filters: Set = ["app", "device", "state", "reason", "text", "from", "to"]

    /// Adds the three lists, and the changes of notifications.
    package func add(to router: Router<ControlContext>, isSecured: Bool) {
        let access = ProviderAccess(authentication: isSecured ? authentication : nil)
        router.get("v1/notifications") { request, _ in
            try await notifications(
                ListQuery(request, Self.filters), team: access.team(request.headers[.authorization]))
        }
        router.get("v1/notifications/events") { request, _ in
            let last = request.headers[.lastEventID]
            return try await events(
                ListQuery(request, Self.filters.union(["since"])), last: last,
                team: access.team(request.headers[.authorization]))
        }
        router.get("v1/devices") { request, _ in
            try await devices(ListQuery(request, ["app", "state"]), team: access.team(request.headers[.authorization]))
        }
        router.get("v1/apps") { request, _ in
            try await apps(ListQuery(request, ["name"]), team: access.team(request.headers[.authorization]))
        }
    }

    private func notifications(_ query: ListQuery, team: TeamID?) async throws -> Response {
        let filter = try filter(query, team)
        let cursor = try query.value("after", "what an answer said as next") { NotificationID(text: $0) }
        try await flush()
        let page = try await store.notifications(filter, before: cursor, limit: query.limit)
        return .json(
            NotificationsAnswer(
                notifications: page.items.map(NotificationsAnswer.Item.init), next: page.next?.description))
    }

    private func filter(_ query: ListQuery, _ team: TeamID?) throws -> NotificationFilter {
        var filter = NotificationFilter(team: team)
        filter.topic = query.topic
        filter.device = try query.value("device", "a device's id, a decimal number") {
            UInt64($0).flatMap(DeviceID.init)
        }
        filter.state = try query.word("state")
        filter.reason = query.fields["reason"]
        filter.text = query.fields["text"]
        let time = "a time in UTC such as 2026-11-21T04:05:06Z"
        filter.from = try query.value("from", time) { Timestamp(text: $0) }
        filter.to = try query.value("to", time) { Timestamp(text: $0) }
        return filter
    }

    private func events(_ query: ListQuery, last: String?, team: TeamID?) async throws -> Response {
        let since = try query.value("since", "the id of a notification") { NotificationID(text: $0) }
        let stream = NotificationStream(
            feed: feed, store: store, filter: try filter(query, team),
            last: last.flatMap { NotificationID(text: $0) } ?? since)
        let slot = try slots.slot(for: team)
        return .events(in: slot) { writer in try await stream.write(to: &writer) }
    }

    private func devices(_ query: ListQuery, team: TeamID?) async throws -> Response {
        var filter = DeviceFilter(team: team)
        filter.topic = query.topic
        filter.state = try query.word("state")
        let cursor = try query.value("after", "what an answer said as next") { UInt64($0).flatMap(DeviceID.init) }
        let page = try await store.devices(filter, after: cursor, limit: query.limit)
        return .json(
            DevicesAnswer(devices: page.items.map(DevicesAnswer.Item.init), next: page.next?.description))
    }

    /// The apps of the register are few: all are read, and a page of them is returned.
    private func apps(_ query: ListQuery, team: TeamID?) async throws -> Response {
        let after = query.fields["after"] ?? ""
        let name = query.fields["name"]?.lowercased()
        let found = try await apps.apps().sorted { $0.topic.rawValue < $1.topic.rawValue }.filter { app in
            (team == nil || app.team == team) && app.topic.rawValue > after
                && (name.map {
                    app.topic.rawValue.lowercased().contains($0) || app.name?.lowercased().contains($0) == true
                }
                    ?? true)
        }
        let page = found.prefix(query.limit)
        return .json(
            AppsAnswer(
                apps: page.map(AppsAnswer.Item.init), next: page.count < found.count ? page.last?.topic.rawValue : nil))
    }
}

/// The fields of a list's request, validated.
struct ListQuery {
    /// The given fields, by their names.
    let fields: [String: String]
    /// The maximum number of items: 100 by default.
    let limit: Int

    /// - Parameter filters: The fields of the list in addition to `limit` and `after`.
    /// - Throws: A refusal, also for an unknown field: a wrong name must not list everything.
    init(_ request: Request, _ filters: Set<String>) throws {
        var fields: [String: String] = [:]
        let form = try FormFields(request.uri.query ?? "")
        for name in form.names {
            guard filters.contains(name) || ["limit", "after"].contains(name) else {
                let known = (filters.sorted() + ["after", "limit"]).joined(separator: ", ")
                throw ControlError.invalid("there is no field \"\(name.prefix(20))\" here; there are \(known)")
            }
            guard fields.updateValue(form.first(name) ?? "", forKey: name) == nil else {
                throw ControlError.invalid("the field \(name) is given twice")
            }
        }
        self.fields = fields
        let limit = fields["limit"].map { Int($0) ?? 0 } ?? 100
        guard (1...1000).contains(limit) else {
            throw ControlError.invalid("limit is \"\(fields["limit"]?.prefix(20) ?? "")\"; 1 to 1000 would be right")
        }
        self.limit = limit
    }

    /// The topic of the selected app.
    var topic: Topic? { fields["app"].map { Topic(rawValue: $0) } }

    /// A field's parsed value; `nil` where it was not given.
    func value<Value>(_ name: String, _ right: String, _ read: (String) -> Value?) throws -> Value? {
        guard let text = fields[name] else { return nil }
        guard let value = read(text) else {
            throw ControlError.invalid("\(name) is \"\(text.prefix(20))\"; \(right) would be right")
        }
        return value
    }

    /// A field whose value is one of a set of words.
    func word<Word: RawRepresentable & CaseIterable>(_ name: String) throws -> Word? where Word.RawValue == String {
        try value(name, Word.allCases.map(\.rawValue).joined(separator: ", "), Word.init(rawValue:))
    }
}
