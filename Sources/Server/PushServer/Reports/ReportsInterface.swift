import HTTPTypes
import Hummingbird
import NIOCore
import PushCore

/// The routes of reports. `GET /v1/reports`: counts by app, day and label; `GET /v1/reports/messages/{id}`: the counts
/// of one send; `GET /v1/events`: every event, as JSON Lines or CSV; and FCM's delivery data.
package struct ReportsInterface: ControlInterface {
    private let store: any ReportStore
    private let sweep: ReportSweep
    private let timelines: any TimelineService
    private let authentication: any ProviderAuthentication
    private let clock: @Sendable () -> Timestamp
    /// Waits until notes written behind are durable, so that a response includes everything that was accepted before
    /// its request.
    private let flush: @Sendable () async throws -> Void

    private static let rowLimit = 10_000
    private static let longestReport: Int64 = 400
    private static let eventSlice = 200

    /// Creates an instance from its properties.
    package init(
        store: any ReportStore, sweep: ReportSweep, timelines: any TimelineService,
        authentication: any ProviderAuthentication, clock: @escaping @Sendable () -> Timestamp,
        flush: @escaping @Sendable () async throws -> Void
    ) {
        self.store = store
        self.sweep = sweep
        self.timelines = timelines
        self.authentication = authentication
        self.clock = clock
        self.flush = flush
    }

    /// Adds the routes of the reports, the export and FCM's delivery data.
    package func add(to router: Router<ControlContext>, isSecured: Bool) {
        let access = ProviderAccess(authentication: isSecured ? authentication : nil)
        router.get("v1/reports") { request, _ in try await report(request, access) }
        router.get("v1/reports/messages/:id") { request, context in
            try await message(request, access: access, id: context.parameters.require("id"))
        }
        router.get("v1/events") { request, _ in try await events(request, access) }
        router.get("v1beta1/projects/:project/androidApps/:app/deliveryData") { request, context in
            try await deliveryData(
                request, access, project: context.parameters.require("project"),
                app: context.parameters.require("app"))
        }
    }

    // MARK: Reports

    private func report(_ request: Request, _ access: ProviderAccess) async throws -> Response {
        let team = try await access.team(request.headers[.authorization])
        let query = request.uri.queryParameters
        var choice = ReportChoice(team: team, days: try days(request))
        choice.topic = query["app"].map { Topic(rawValue: String($0)) }
        choice.label = query["label"].map(String.init)
        if let lane = query["lane"] {
            guard ["apns", "fcm"].contains(lane) else { throw ControlError.invalid("lane is neither apns nor fcm") }
            choice.lane = lane == "fcm" ? Lane.fcm : Lane.apns
        }
        return .json(ReportAnswer(try await rows(choice), choice))
    }

    private func rows(_ choice: ReportChoice) async throws -> [ReportRow] {
        try await flush()
        try await sweep.catchUp()
        let rows = try await store.reports(choice, limit: Self.rowLimit + 1)
        guard rows.count <= Self.rowLimit else {
            throw ControlError.invalid("there are more than \(Self.rowLimit) rows; ask for one app, or for fewer days")
        }
        return rows
    }

    /// The days from `from` to `to`, both included; by default the last seven.
    private func days(_ request: Request) throws -> ClosedRange<ReportDay> {
        func day(_ name: String) throws -> ReportDay? {
            guard let text = request.uri.queryParameters[Substring(name)] else { return nil }
            guard let day = ReportDay(text: text) else {
                throw ControlError.invalid("\(name) is \"\(text.prefix(20))\"; a day such as 2026-11-22 would be right")
            }
            return day
        }
        let to = try day("to") ?? ReportDay(clock())
        let from = try day("from") ?? to + -6
        guard from <= to else { throw ControlError.invalid("from is \(from), which is after \(to)") }
        guard to.number - from.number < Self.longestReport else {
            throw ControlError.invalid("there are more than \(Self.longestReport) days from \(from) to \(to)")
        }
        return from...to
    }

    private func message(_ request: Request, access: ProviderAccess, id: String) async throws -> Response {
        let asking = try await access.team(request.headers[.authorization])
        let reference = try NotificationReference(segment: id)
        let (id, team) = (reference.id, try reference.owner(asking))
        if let broadcast = NotificationID(text: id) {
            try await flush()
            try await sweep.catchUp()
            if let counts = try await store.broadcastCounts(broadcast, team: team) {
                return .json(MessageReportAnswer(id, counts))
            }
        }
        let found = try await timelines.timelines(of: id, team: team).compactMap { timeline in
            timeline.entries.first { $0.state == .accepted }.map { ($0.at, timeline.entries) }
        }
        guard !found.isEmpty else { throw ControlError.notFound }
        return .json(MessageReportAnswer(id, found))
    }

    // MARK: Events

    private func events(_ request: Request, _ access: ProviderAccess) async throws -> Response {
        let team = try await access.team(request.headers[.authorization])
        let query = request.uri.queryParameters
        guard let format = ExportFormat(rawValue: query["format"].map(String.init) ?? "jsonl") else {
            throw ControlError.invalid("format is neither jsonl nor csv")
        }
        guard let after = query["after"].map({ NotificationID(text: $0) }) ?? Self.beginning else {
            throw ControlError.invalid("after is no notification's id")
        }
        let days = try days(request)
        let choice = EventChoice(
            team: team, topic: query["app"].map { Topic(rawValue: String($0)) },
            accepted: days.lowerBound.beginning..<(days.upperBound + 1).beginning)
        try await flush()
        // A label is stored when its notification is counted, so everything is counted first.
        try await sweep.catchUp()
        let (store, slice) = (self.store, Self.eventSlice)
        return Response(
            status: .ok, headers: [.contentType: format.mediaType, .cacheControl: "no-store"],
            body: ResponseBody { writer in
                if after.rawValue == 0, !format.heading(Event.columns).isEmpty {
                    try await writer.write(ByteBuffer(string: format.heading(Event.columns)))
                }
                var cursor: NotificationID? = after
                while let from = cursor {
                    let page = try await store.events(choice, after: from, limit: slice)
                    let text = try page.notifications.map(format.lines).joined()
                    if !text.isEmpty { try await writer.write(ByteBuffer(string: text)) }
                    cursor = page.next
                }
                try await writer.finish(nil)
            })
    }

    /// The position before every notification.
    private static let beginning = NotificationID(rawValue: 0)

    // MARK: FCM's delivery data

    /// The response of FCM's data API for an app, for the last seven days; the app is identified by its topic.
    private func deliveryData(
        _ request: Request, _ access: ProviderAccess, project: String, app: String
    ) async throws -> Response {
        let team = try await access.team(request.headers[.authorization])
        guard team.map({ ProjectName.names(project, $0) }) ?? true else { throw ControlError.notFound }
        let query = request.uri.queryParameters
        guard let size = query["pageSize"].map({ Int($0) }) ?? 0, size >= 0 else {
            throw ControlError.invalid("pageSize is not a number of rows, 0 or more")
        }
        guard let start = query["pageToken"].map({ $0.isEmpty ? 0 : Int($0) }) ?? 0, start >= 0 else {
            throw ControlError.invalid("pageToken is not the nextPageToken of an answer")
        }
        let today = ReportDay(clock())
        let choice = ReportChoice(
            team: team, topic: Topic(rawValue: app), lane: .fcm, days: (today + -6)...today)
        let rows = try await rows(choice)
        let page = rows.dropFirst(start).prefix(size == 0 ? 1000 : min(size, 1000))
        return .json(
            DeliveryDataAnswer(
                androidDeliveryData: page.map(DeliveryDataAnswer.Row.init),
                nextPageToken: page.endIndex < rows.endIndex ? String(page.endIndex) : nil))
    }
}
