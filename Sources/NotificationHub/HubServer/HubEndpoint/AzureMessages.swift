import Foundation
import HTTPTypes
import HubProtocol
import Hummingbird
import PushCore
import PushServer

extension AzureRoutes {
    /// Adds the routes of sends, scheduled sends, and their outcomes.
    func addMessages(to router: Router<ControlContext>) {
        router.post(":hub/messages", use: handler(.send) { try await message($0, dueAt: nil) })
        router.post(":hub/messages/$batch", use: handler(.send, batch))
        router.get(
            ":hub/messages/:id",
            use: handler(.send) { call in
                let details = try await hubs.details(call.name, of: call.hub, location: call.location)
                guard Self.wantsJSON(call.request) else {
                    return .text(details.xml, type: "application/xml; charset=utf-8")
                }
                return .json(tree: details.json)
            })
        router.post(
            ":hub/schedulednotifications",
            use: handler(.send) { call in
                guard let text = call.request.field("ServiceBusNotification-ScheduleTime") else {
                    throw AzureRejection.bad("the header ServiceBusNotification-ScheduleTime is missing")
                }
                guard let instant = WireTime.read(text) else {
                    throw AzureRejection.bad(
                        "ServiceBusNotification-ScheduleTime: \"\(text)\" is no instant such as 2030-01-01T00:00:00Z")
                }
                return try await message(call, dueAt: instant)
            })
        router.delete(
            ":hub/schedulednotifications/:id",
            use: handler(.send) { call in
                let record = try await hubs.send(call.name, of: call.hub)
                guard record.request.dueAt != nil else {
                    throw AzureRejection(.notFound, "there is no scheduled notification \(call.name)")
                }
                _ = try await hubs.cancel(call.name, of: call.hub)
                return Response(status: .ok)
            })
        router.get(
            ":hub/feedbackcontainer",
            use: handler(.send) { call in
                let root = call.address.dropLast(call.hub.name.count)
                let address = "\(root)v1/hubs/\(call.hub.name)/installations?state=dead"
                guard !Self.readsFeedbackAsJSON(call.request) else {
                    return .json(tree: .object([.init("url", .string(address))]))
                }
                return .text(address, type: "text/plain; charset=utf-8")
            })
    }

    /// Azure returns an address as plain text. One client expects a JSON object, and does not request it by `Accept`.
    private static func readsFeedbackAsJSON(_ request: Request) -> Bool {
        request.field("x-ms-azsdk-telemetry")?.lowercased().contains("method=python") ?? false
    }

    private static func wantsJSON(_ request: Request) -> Bool {
        request.headers[.accept]?.lowercased().contains("application/json") ?? false
    }

    private func message(_ call: AzureCall, dueAt: Timestamp?) async throws -> Response {
        var send = SendRequest(
            format: try format(call.request), body: try await call.request.bytes(), headers: headers(call.request),
            target: .audience(call.request.field("ServiceBusNotification-Tags")), dueAt: dueAt,
            idempotencyKey: call.request.field("Idempotency-Key"))
        try await hubs.checkInstant(of: send, call.hub, at: "ServiceBusNotification-ScheduleTime")
        if let handle = call.request.field("ServiceBusNotification-DeviceHandle"), !handle.isEmpty {
            guard call.has("direct") else {
                throw AzureRejection.bad("a device handle goes with ?direct in the address")
            }
            send.target = .channels([handle])
            if send.format == .native(.browser) { try await addKeys(of: handle, call, to: &send) }
        } else if call.has("direct") {
            throw AzureRejection.bad("the header ServiceBusNotification-DeviceHandle is missing")
        }
        return try await answer(call, send)
    }

    /// Adds the keys of a browser's subscription, which are in the fields `P256DH` and `Auth`. Without them, the
    /// endpoint must be an installation's, which has its own.
    private func addKeys(of endpoint: String, _ call: AzureCall, to send: inout SendRequest) async throws {
        let (p256dh, auth) = (call.request.field("P256DH") ?? "", call.request.field("Auth") ?? "")
        guard p256dh.isEmpty, auth.isEmpty else {
            do { _ = try RecipientPublicKey(p256dh: p256dh, auth: auth) } catch {
                throw AzureRejection.bad("the headers P256DH and Auth: \(error)")
            }
            send.headers[PushOptions.subscriptionKeys.p256dh] = p256dh
            send.headers[PushOptions.subscriptionKeys.auth] = auth
            return
        }
        guard try await hubs.store.installations(hub: call.hub.number, channel: endpoint).isEmpty else { return }
        throw AzureRejection.bad(
            "the headers P256DH and Auth are missing, and no installation has this endpoint with its keys")
    }

    /// Sends one body to many channels that the caller specifies.
    private func batch(_ call: AzureCall) async throws -> Response {
        guard call.has("direct") else { throw AzureRejection.bad("a batch goes with ?direct in the address") }
        let bytes = Array(buffer: try await call.request.wholeBody(upTo: 1 << 20))
        let parts: MultipartBatch
        do { parts = try MultipartBatch(bytes, contentType: call.request.headers[.contentType] ?? "") } catch {
            throw AzureRejection.bad("\(error)")
        }
        return try await answer(
            call,
            SendRequest(
                format: try format(call.request), body: parts.notification, headers: headers(call.request),
                target: .channels(parts.devices), idempotencyKey: call.request.field("Idempotency-Key")))
    }

    private func answer(_ call: AzureCall, _ send: SendRequest) async throws -> Response {
        if case .channels = send.target, send.format == .template {
            throw AzureRejection.bad("a template goes to installations, not to device handles")
        }
        let isTest = call.has("test") || call.request.field("ServiceBusNotification-TestSend")?.lowercased() == "true"
        if isTest, send.dueAt == nil {
            let (record, results) = try await hubs.test(send, for: call.hub)
            var response = Response.text(
                TestResult.xml(results), type: "application/xml; charset=utf-8", status: .created)
            response.headers[.location] = call.location(record.id)
            return response
        }
        let record = try await hubs.accept(send, for: call.hub)
        let location = send.dueAt == nil ? call.location(record.id) : call.scheduledLocation(record.id)
        var response = Response(status: .created)
        // SDKs read the address; a client that ignores headers finds the id in the body.
        if !(call.request.headers[.accept]?.lowercased().contains("xml") ?? false) {
            response = .json(
                tree: .object([
                    .init("notificationId", .string(record.id)), .init("trackingId", .string(record.id)),
                    .init("state", .string(record.state.rawValue)),
                    .init("location", .string(location)),
                ]), status: .created)
        }
        response.headers[.location] = location
        return response
    }

    private func format(_ request: Request) throws -> SendFormat {
        guard let text = request.field("ServiceBusNotification-Format") else {
            throw AzureRejection.bad("the header ServiceBusNotification-Format is missing")
        }
        guard let format = SendFormat(text), format != .content else {
            throw AzureRejection.bad(
                "ServiceBusNotification-Format: there is no \"\(text)\"; there are template, apple, gcm, fcmv1, windows, "
                    + "windowsphone, adm, baidu, browser, xiaomi")
        }
        return format
    }

    /// The header fields for the push service.
    private func headers(_ request: Request) -> [String: String] {
        var result: [String: String] = [:]
        for field in request.headers where PushOptions.names.contains(field.name.canonicalName) {
            result[field.name.canonicalName] = field.value
        }
        return result
    }
}
