import HTTPTypes
import HubProtocol
import Hummingbird
import PushCore
import PushServer

extension OwnRoutes {
    /// Adds the routes of installations: put, patch, get, delete, list; audiences; erasure.
    func addInstallations(to router: Router<ControlContext>) {
        router.get("v1/hubs/:hub/installations", use: handler(.manage, list))
        router.put("v1/hubs/:hub/installations/:id", use: handler(.listen, isWrite: true, put))
        router.patch("v1/hubs/:hub/installations/:id", use: handler(.listen, isWrite: true, patch))
        router.get(
            "v1/hubs/:hub/installations/:id",
            use: handler(.listen) { call in
                let stored = try await hubs.installation(call.name, of: call.hub)
                return stored.tagged(.json(tree: stored.ownAnswer))
            })
        router.delete(
            "v1/hubs/:hub/installations/:id",
            use: handler(.listen, isWrite: true) { call in
                guard try await hubs.delete(call.name, of: call.hub, condition: try call.condition()) else {
                    throw HubError.missing("the installation \(call.name)")
                }
                return Response(status: .noContent)
            })
        router.delete(
            "v1/hubs/:hub/users/:id",
            use: handler(.manage) { call in
                let erased = try await hubs.erase(
                    user: call.name, of: call.hub, timelines: timelines, by: withdrawal)
                return .json(
                    tree: .object([
                        .init("user", .string(call.name)), .init("erasedAt", .string(WireTime.write(hubs.now))),
                        .init("installations", .array(erased.installations.map { .string($0) })),
                        .init("notifications", .number(String(erased.notifications))),
                        .init("events", .number(String(erased.events))),
                    ]))
            })
        router.get("v1/hubs/:hub/users/:id/export", use: handler(.manage, exportPerson))
        router.post("v1/hubs/:hub/audience", use: handler(.manage, estimate))
        router.post("v1/hubs/:hub/preview", use: handler(.send, preview))
    }

    private func list(_ call: Call) async throws -> Response {
        try call.check(parameters: ["cursor", "limit", "expression", "user", "state"])
        let limit = try call.limit()
        let isDead: Bool?
        switch call.query.first("state") {
        case nil: isDead = nil
        case "dead"?: isDead = true
        case "live"?: isDead = false
        default: throw InstallationError("state", "a state is dead or live")
        }
        let after = try call.cursor().map { UInt32(clamping: $0) } ?? 0
        let found = try await hubs.list(
            .init(
                expression: call.query.first("expression"), user: call.query.first("user"), isDead: isDead,
                after: after, limit: limit), of: call.hub)
        var members: [JSONValue.Member] = [.init("installations", .array(found.map(\.ownAnswer)))]
        if found.count == limit, let last = found.last { members.append(.init("next", .string("\(last.number)"))) }
        return .json(tree: .object(members))
    }

    private func put(_ call: Call) async throws -> Response {
        let tree = try await call.request.tree()
        try OwnDocument.check(installation: tree)
        let installation = try InstallationJSON.read(tree, id: call.name)
        try hubs.validate(installation)
        let (stored, isNew) = try await hubs.put(installation, of: call.hub, condition: try call.condition())
        return stored.tagged(.json(tree: stored.ownAnswer, status: isNew ? .created : .ok))
    }

    private func patch(_ call: Call) async throws -> Response {
        let patch = try await call.request.tree()
        try OwnDocument.check(patch: patch)
        let isMerge = patch.members != nil
        let stored = try await hubs.change(call.name, of: call.hub, condition: try call.condition()) {
            document throws(InstallationError) in
            let changed =
                isMerge
                ? InstallationPatch.merge(patch, into: document) : try InstallationPatch.apply(patch, to: document)
            try OwnDocument.check(installation: changed)
            try hubs.validate(changed, insteadOf: document, id: call.name)
            return changed
        }
        return stored.tagged(.json(tree: stored.ownAnswer))
    }

    /// The number of installations that match an expression, by platform, and a sample of them.
    private func estimate(_ call: Call) async throws -> Response {
        let tree = try await call.request.tree()
        try OwnDocument.check(tree, members: ["expression"])
        guard let text = tree["expression"]?.text else {
            throw InstallationError("/expression", "say whom you mean as a string; an empty one means everybody")
        }
        let audience = try await hubs.audience(text, of: call.hub, for: nil, readsFields: true)
        let contents = try await hubs.audience(text, of: call.hub, for: .content, readsFields: true)
        let templates = try await hubs.audience(text, of: call.hub, for: .template, readsFields: true)
        let sample = try await hubs.list(.init(expression: text, limit: 10), of: call.hub)
        return .json(
            tree: .object([
                .init("count", .number(String(audience.count))),
                .init("contents", .number(String(contents.count))),
                .init("templates", .number(String(templates.count))),
                .init("sample", .array(sample.map { .string($0.installation.id) })),
            ]))
    }

    /// Renders properties for an installation with each of its matching templates.
    private func preview(_ call: Call) async throws -> Response {
        let tree = try await call.request.tree()
        try OwnDocument.check(tree, members: ["installationId", "properties"])
        guard let id = tree["installationId"]?.text else {
            throw InstallationError("/installationId", "the id of an installation is missing")
        }
        let stored = try await hubs.installation(id, of: call.hub)
        var properties: [String: String]
        do {
            let given = tree["properties"].flatMap { $0 == .null ? nil : $0 } ?? .object([])
            properties = try PushTemplate.checkedProperties(given.bytes)
        } catch { throw InstallationError("/properties\(error.path)", error.message) }
        for (name, value) in stored.installation.pushVariables { properties[name.lowercased()] = value }
        var renderings: [JSONValue] = []
        for template in stored.installation.templates {
            let rendering: PushTemplate.Rendering
            do {
                rendering = try PushTemplate(template, locale: stored.installation.locale).rendered(properties)
            } catch {
                renderings.append(
                    .object([.init("template", .string(template.name)), .init("fault", .string("\(error)"))]))
                continue
            }
            renderings.append(
                .object([
                    .init("template", .string(template.name)),
                    .init("payload", .payload(rendering.body)),
                    .init("bytes", .number(String(rendering.body.count))),
                    .init(
                        "headers",
                        .object(
                            rendering.headers.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) })),
                ]))
        }
        return .json(tree: .object([.init("renderings", .array(renderings))]))
    }
}

extension StoredInstallation {
    /// The JSON of the installation for our own API, with the state of its channel.
    var ownAnswer: JSONValue {
        var tree = InstallationJSON.document(installation)
        tree.set("createdAt", .string(WireTime.write(createdAt)))
        tree.set("updatedAt", .string(WireTime.write(updatedAt)))
        tree.set("lastSeen", .string(WireTime.write(seenAt)))
        tree.set("state", .string(fault == nil ? "live" : "dead"))
        if let fault {
            tree.set(
                "fault",
                .object([.init("word", .string(fault.word)), .init("at", .string(WireTime.write(fault.at)))]))
        }
        return tree
    }
}
