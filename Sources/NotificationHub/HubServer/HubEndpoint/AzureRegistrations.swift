import Foundation
import HTTPTypes
import HubProtocol
import Hummingbird
import PushServer

extension AzureRoutes {
    /// Adds the routes of registrations in ATOM, as the older clients write them; installations are listed among them.
    func addRegistrations(to router: Router<ControlContext>) {
        router.post(
            ":hub/registrationids",
            use: handler(.listen) { call in
                var response = Response(status: .created)
                response.headers[.location] = "\(call.address)/registrationids/\(Self.freshID())"
                return response
            })
        router.post(
            ":hub/registrations",
            use: handler(.listen, isWrite: true) { call in
                try await write(call, id: Self.freshID(), condition: .isMissing)
            })
        router.put(
            ":hub/registrations/:id",
            use: handler(.listen, isWrite: true) { call in
                try await write(call, id: call.name, condition: try condition(call))
            })
        router.get(
            ":hub/registrations/:id",
            use: handler(.listen) { call in
                entry(try await hubs.installation(call.name, of: call.hub), call)
            })
        router.delete(
            ":hub/registrations/:id",
            use: handler(.listen, isWrite: true) { call in
                guard try await hubs.delete(call.name, of: call.hub, condition: try condition(call)) else {
                    throw HubError.missing("the registration \(call.name)")
                }
                return Response(status: .ok)
            })
        router.get(":hub/registrations", use: handler(.listen, list))
        router.get(
            ":hub/tags/:id/registrations",
            use: handler(.manage) { call in
                guard let tag = TagName(call.name) else {
                    throw AzureRejection.bad(TagName.fault(in: call.name) ?? "this is no tag")
                }
                return try await page(call) { after, limit in
                    try await hubs.list(.init(expression: tag.text, after: after, limit: limit), of: call.hub)
                }
            })
    }

    private static func freshID() -> String {
        UUID().uuidString.lowercased().replacing("-", with: "")
    }

    private func write(_ call: AzureCall, id: String, condition: EntityCondition) async throws -> Response {
        let read = try RegistrationAtom.read(try await call.request.bytes(), id: id)
        try hubs.validate(read)
        let (stored, _) = try await hubs.put(read, of: call.hub, condition: condition)
        return entry(stored, call)
    }

    /// The condition of `If-Match`: a star or a version, weak or not.
    private func condition(_ call: AzureCall) throws -> EntityCondition {
        guard let text = call.request.headers[.ifMatch], text != "*" else { return .none }
        guard let version = Int64(text.replacing("W/", with: "").filter { $0 != "\"" }) else {
            throw AzureRejection.bad("If-Match: expected * or an entity tag that was answered before")
        }
        return .version(version)
    }

    private func address(_ stored: StoredInstallation, _ call: AzureCall) -> String {
        "\(call.address)/registrations/\(stored.installation.id)?api-version=2020-06"
    }

    private func entry(_ stored: StoredInstallation, _ call: AzureCall) -> Response {
        let address = address(stored, call)
        let entry = RegistrationAtom.entry(
            stored.installation, version: stored.version, updatedAt: stored.updatedAt, address: address)
        var response = Response.text(entry.text, type: "application/atom+xml; type=entry; charset=utf-8")
        response.headers[.eTag] = "W/\"\(stored.version)\""
        if let name = HTTPField.Name("Content-Location") { response.headers[name] = address }
        return response
    }

    /// Lists registrations. All registrations require the right Manage; those of one channel, Listen.
    private func list(_ call: AzureCall) async throws -> Response {
        if let filter = call.query.first("$filter") {
            let parts = filter.split(separator: "'", omittingEmptySubsequences: false)
            guard parts.count == 3, parts[0].lowercased().hasSuffix(" eq ") else {
                throw AzureRejection.bad("$filter: expected ChannelUri eq '…'")
            }
            let channel = String(parts[1])
            return try await page(call) { after, _ in
                try await hubs.store.installations(hub: call.hub.number, channel: channel)
                    .filter { $0.number > after }
            }
        }
        try await access.check(
            call.request.headers[.authorization], for: .manage, of: call.hub, path: call.request.uri.path, now: hubs.now
        )
        return try await page(call) { after, limit in
            try await hubs.list(.init(after: after, limit: limit), of: call.hub)
        }
    }

    /// An integer of the query; `nil` where it is missing or empty.
    private func number(_ name: String, _ call: AzureCall) throws -> Int? {
        guard let text = call.query.first(name), !text.isEmpty else { return nil }
        guard let number = Int(text) else { throw AzureRejection.bad("\(name): expected a whole number") }
        return number
    }

    private func page(
        _ call: AzureCall, _ read: (UInt32, Int) async throws -> [StoredInstallation]
    ) async throws -> Response {
        let limit = min(max(try number("$top", call) ?? 100, 1), 1000)
        let after = UInt32(clamping: try number("continuationtoken", call) ?? 0)
        let found = try await read(after, limit)
        let entries = found.map { stored in
            RegistrationAtom.entry(
                stored.installation, version: stored.version, updatedAt: stored.updatedAt,
                address: address(stored, call))
        }
        let feed = RegistrationAtom.feed(entries, address: "\(call.address)/registrations", updatedAt: hubs.now)
        var response = Response.text(feed.text, type: "application/atom+xml; type=feed; charset=utf-8")
        if found.count == limit, let last = found.last, let name = HTTPField.Name("X-MS-ContinuationToken") {
            response.headers[name] = String(last.number)
        }
        return response
    }
}
