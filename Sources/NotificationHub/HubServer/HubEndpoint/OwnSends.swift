import HTTPTypes
import HubProtocol
import Hummingbird
import PushCore
import PushServer

extension OwnRoutes {
    /// Adds the routes of campaigns, and of every other send of the hub: list, read, pause, withdraw, report.
    func addSends(to router: Router<ControlContext>) {
        router.post("v1/hubs/:hub/campaigns", use: handler(.send, begin))
        for path in ["campaigns", "sends"] {
            router.get(
                "v1/hubs/:hub/\(path)",
                use: handler([.send, .report]) { try await list($0, campaigns: path == "campaigns") })
            router.get(
                "v1/hubs/:hub/\(path)/:id",
                use: handler([.send, .report]) { call in
                    try await answer(try await hubs.send(call.name, of: call.hub), call)
                })
            addReports(to: router, of: path)
            router.get("v1/hubs/:hub/\(path)/:id/faults", use: handler([.send, .report], faults))
            router.post(
                "v1/hubs/:hub/\(path)/:id/pause",
                use: handler(.send) { try await answer(try await hubs.pause($0.name, of: $0.hub), $0) })
            router.post(
                "v1/hubs/:hub/\(path)/:id/resume",
                use: handler(.send) { try await answer(try await hubs.resume($0.name, of: $0.hub), $0) })
            router.post(
                "v1/hubs/:hub/\(path)/:id/cancel",
                use: handler(.send) { try await answer(try await hubs.cancel($0.name, of: $0.hub), $0) })
            router.post("v1/hubs/:hub/\(path)/:id/withdraw", use: handler(.send, withdraw))
        }
    }

    private func begin(_ call: Call) async throws -> Response {
        let request = try CampaignDocument.read(
            try await call.request.tree(), key: call.request.field("Idempotency-Key"),
            pictureKeys: call.hub.pictureKeys)
        try await hubs.checkInstant(of: request, call.hub, at: "/at")
        let record = try await hubs.accept(request, for: call.hub)
        var response = try await answer(record, call, status: .created)
        response.headers[.location] = "/v1/hubs/\(call.hub.name)/campaigns/\(record.id)"
        return response
    }

    private func list(_ call: Call, campaigns: Bool) async throws -> Response {
        try call.check(parameters: ["cursor", "limit", "state"])
        var states: [SendState]?
        if let text = call.query.first("state") {
            states = try text.split(separator: ",").map { name throws(InstallationError) in
                guard let state = SendState.allCases.first(where: { $0.rawValue.lowercased() == name.lowercased() })
                else { throw InstallationError("state", "there is no state \"\(name)\"") }
                return state
            }
        }
        let limit = try call.limit()
        let found = try await hubs.store.sends(
            hub: call.hub.number, before: try call.cursor() ?? .max, states: states, campaigns: campaigns,
            limit: limit)
        var members: [JSONValue.Member] = [.init(campaigns ? "campaigns" : "sends", .array(found.map(tree)))]
        if found.count == limit, let last = found.last { members.append(.init("next", .string("\(last.number)"))) }
        return .json(tree: .object(members))
    }

    private func tree(_ record: SendRecord) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init("id", .string(record.id)), .init("state", .string(record.state.rawValue)),
            .init("format", .string(record.request.format.text)),
            .init("enqueuedAt", .string(WireTime.write(record.enqueuedAt))),
            .init("targeted", .number(String(record.targeted))),
        ]
        func add(_ name: String, _ text: String?) { if let text { members.append(.init(name, .string(text))) } }
        add("name", record.request.campaign)
        if case .audience(let text) = record.request.target { add("audience", text) }
        add("dueAt", record.request.dueAt.map(WireTime.write))
        add("startedAt", record.startedAt.map(WireTime.write))
        add("endedAt", record.endedAt.map(WireTime.write))
        add("reason", record.reason ?? Self.unreadableBody(record))
        return .object(members + (record.request.plan.tree.members ?? []))
    }

    /// The reason why push services accept nothing of a send whose body must be JSON and is not; `nil` for all others.
    private static func unreadableBody(_ record: SendRecord) -> String? {
        guard case .native(let platform) = record.request.format, [.apns, .gcm, .fcmv1].contains(platform) else {
            return nil
        }
        let why: String
        do {
            guard try JSONValue(record.request.body).members == nil else { return nil }
            why = "a JSON object is wanted"
        } catch { why = "\(error)" }
        return "the body is no payload for \(record.request.format.text), so that push services do not take it: \(why)"
    }

    private func answer(
        _ record: SendRecord, _ call: Call, status: HTTPResponse.Status = .ok
    ) async throws -> Response {
        var tree = tree(record)
        let outcomes = try await hubs.store.outcomes(of: record.number)
        tree.set(
            "outcomes",
            .array(
                outcomes.map {
                    .object([
                        .init("platform", .string($0.platform.text)), .init("outcome", .string($0.outcome.rawValue)),
                        .init("count", .number(String($0.count))),
                    ])
                }))
        guard record.request.campaign != nil else { return .json(tree: tree, status: status) }
        let leftOut = try await hubs.store.leftOut(of: record.number)
        tree.set(
            "leftOut",
            .object(
                ExclusionReason.allCases.compactMap { why in
                    leftOut[why].map { .init(why.rawValue, .number(String($0))) }
                }))
        if let experiment = record.request.plan.experiment {
            let counts = try await hubs.store.variants(of: record.number)
            tree.set(
                "variants",
                .object(experiment.variants.map { .init($0.name, .number(String(counts[$0.name] ?? 0))) }))
        }
        return .json(tree: tree, status: status)
    }

    private func faults(_ call: Call) async throws -> Response {
        let record = try await hubs.send(call.name, of: call.hub)
        let limit = try call.limit()
        let found = try await hubs.store.faults(
            of: record.number, after: try call.cursor() ?? 0, limit: limit)
        var members: [JSONValue.Member] = [
            .init(
                "faults",
                .array(
                    found.map {
                        .object([
                            .init("installationId", .string($0.name)), .init("outcome", .string($0.outcome.rawValue)),
                            .init("at", .string(WireTime.write($0.at))),
                        ])
                    }))
        ]
        if found.count == limit, let last = found.last {
            members.append(.init("next", .string("\(last.number)")))
        }
        return .json(tree: .object(members))
    }

    private func withdraw(_ call: Call) async throws -> Response {
        let count = try await hubs.withdraw(call.name, of: call.hub, timelines: timelines, by: withdrawal)
        return .json(tree: .object([.init("withdrawn", .number(String(count)))]))
    }
}
