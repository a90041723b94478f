import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

/// The page of a device with its apps and its last notifications; `GET /v1/devices/{id}` as a page.
enum DevicePage {
    /// The number of its notifications that are shown.
    private static let limit = 50

    static func add(to routes: ConsoleRoutes) {
        routes.get("devices/:id") { try await show($0) }
        routes.post("devices/:id/test") { try await sendTest($0) }
        for change in ["block", "unblock"] {
            routes.post("devices/:id/\(change)") { try await self.change(change, $0) }
        }
        routes.post("devices/:id/revoke") { try await revoke($0) }
    }

    /// The page, with what a form had and what was wrong with it.
    static func show(
        _ pageRequest: PageRequest, notice: String? = nil, test: TestForm? = nil, revokeFault: String? = nil
    ) async throws -> Response {
        let path = "/v1/devices/\(QueryText.encoded(try pageRequest.parameter("id")))"
        let answer = try await pageRequest.call(.get, path)
        guard answer.isSuccess else {
            throw ControlError(
                status: answer.status, code: "notFound",
                message: answer.status == .notFound ? pageRequest.texts.text("device.unknown") : answer.message)
        }
        let device = answer.json
        let id = device["device"]?.text ?? ""
        var values = facts(device, id: id, pageRequest)
        values["notice"] = notice
        let notifications = try await notifications(id, pageRequest)
        values["rows"] = notifications.map { InboxRow.view($0, pageRequest) }
        let apps = device["apps"]?.items ?? []
        values["apps"] = apps.map { DeviceApp.view($0, device: id, notifications: notifications, pageRequest) }
        let state = device["state"]?.text
        if state != "revoked", pageRequest.may("POST devices/:id/block") {
            var changes: [String: Any] = ["canBlock": state == "active", "canUnblock": state == "blocked"]
            changes["revokeFault"] = revokeFault
            values["changes"] = changes
        }
        if state != "revoked", !apps.isEmpty, pageRequest.may("POST devices/:id/test") {
            values["test"] = (test ?? TestForm()).view(apps, pageRequest)
        }
        let isRefused = test?.fault != nil || revokeFault != nil
        return pageRequest.page(
            "device", title: pageRequest.texts.text("device.title", ["device": id]), section: "devices",
            same: SameRequest(path: path), status: isRefused ? .unprocessableContent : .ok, values)
    }

    private static func facts(_ device: JSONValue, id: String, _ pageRequest: PageRequest) -> [String: Any] {
        let state = device["state"]?.text ?? ""
        let tone = DevicesPage.tone(state)
        let since = device["blockedAt"]?.text ?? device["revokedAt"]?.text
        var values: [String: Any] = [
            "device": id, "tone": tone.rawValue, "mark": tone.mark,
            "verdict": pageRequest.texts.text(
                "device.verdict.\(state)",
                ["since": since.flatMap { Timestamp(text: $0) }.map { pageRequest.local($0) } ?? ""]),
            "consequence": pageRequest.texts.text("device.consequence.\(state)"),
        ]
        values["enrolled"] = pageRequest.time(device["enrolledAt"]?.text)
        values["seen"] = pageRequest.time(device["seenAt"]?.text)
        if let connection = device["connection"] {
            var connected: [String: Any] = [:]
            connected["since"] = pageRequest.time(connection["since"]?.text)
            connected["network"] = connection["network"]?.text
            values["connected"] = connected
        }
        return values
    }

    /// The last notifications of the device, the newest first.
    private static func notifications(_ id: String, _ pageRequest: PageRequest) async throws -> [JSONValue] {
        try await pageRequest.json("/v1/notifications?device=\(id)&limit=\(limit)")["notifications"]?.items ?? []
    }

    // MARK: Changes

    private static func change(_ change: String, _ pageRequest: PageRequest) async throws -> Response {
        let id = QueryText.encoded(try pageRequest.parameter("id"))
        let answer = try await pageRequest.call(.post, "/v1/devices/\(id)/\(change)")
        // A form that is sent twice finds the device as it was asked for.
        guard answer.isSuccess || answer.status == .conflict else {
            throw ControlError(status: answer.status, code: "refused", message: answer.message)
        }
        return pageRequest.redirect(to: "/console/devices/\(id)")
    }

    private static func revoke(_ pageRequest: PageRequest) async throws -> Response {
        let form = try FormFields(bytes: Array(buffer: try await pageRequest.request.wholeBody()))
        guard form.first("confirm") == "yes" else {
            return try await show(pageRequest, revokeFault: pageRequest.texts.text("device.revoke.unconfirmed"))
        }
        return try await change("revoke", pageRequest)
    }

    /// Sends a notification to one of the device's apps, and shows it.
    private static func sendTest(_ pageRequest: PageRequest) async throws -> Response {
        var test = TestForm(try FormFields(bytes: Array(buffer: try await pageRequest.request.wholeBody())))
        let answer = try await pageRequest.call(.post, "/v1/notifications", body: test.request)
        guard answer.isSuccess, let id = answer.json["id"]?.text else {
            test.fault = [answer.json["reason"]?.text, answer.message].compactMap(\.self).joined(separator: ": ")
            return try await show(pageRequest, test: test)
        }
        return pageRequest.redirect(to: "/console/notifications/\(QueryText.encoded(id))")
    }
}

/// The form of a notification that is sent to try a device.
struct TestForm {
    var token = ""
    var title: String?
    var body: String?
    /// Why it was not sent.
    var fault: String?

    init() {}

    init(_ fields: FormFields) {
        token = fields.first("token") ?? ""
        title = fields.first("title")
        body = fields.first("body")
    }

    /// The body of `POST /v1/notifications`.
    var request: JSONValue {
        var alert: [JSONValue.Member] = []
        if let title, !title.isEmpty { alert.append(.init("title", .string(title))) }
        alert.append(.init("body", .string(body ?? "")))
        return .object([
            .init("token", .string(token)), .init("headers", .object([.init("apns-push-type", .string("alert"))])),
            .init("payload", .object([.init("aps", .object([.init("alert", .object(alert))]))])),
        ])
    }

    /// The form for a device's apps.
    func view(_ apps: [JSONValue], _ pageRequest: PageRequest) -> [String: Any] {
        var view: [String: Any] = [
            "title": title ?? pageRequest.texts.text("device.test.title.default"),
            "body": body ?? pageRequest.texts.text("device.test.body.default"),
            "choices": apps.map { app in
                [
                    "token": app["token"]?.text ?? "", "isChosen": app["token"]?.text == token,
                    "label": "\(app["topic"]?.text ?? "") (\(app["environment"]?.text ?? ""))",
                ] as [String: Any]
            },
        ]
        view["fault"] = fault
        return view
    }
}

/// An app on a device as templates show it.
private enum DeviceApp {
    static func view(
        _ app: JSONValue, device: String, notifications: [JSONValue], _ pageRequest: PageRequest
    ) -> [String: Any] {
        let (topic, token) = (app["topic"]?.text ?? "", app["token"]?.text ?? "")
        var waiting = QueryText()
        waiting.add("device", device)
        waiting.add("app", topic)
        waiting.add("state", "waiting")
        var view: [String: Any] = [
            "topic": topic, "environment": app["environment"]?.text ?? "", "team": app["team"]?.text ?? "",
            "waiting": pageRequest.texts.language.number(Int(app["waiting"]?.integer ?? 0)),
            "waitingPath": "/console/\(waiting.text)",
            "missed": (app["missed"]?.items ?? []).map { missed($0, pageRequest) },
            "encryption": pageRequest.texts.text(
                app["hasEncryptionKey"]?.isTrue == true ? "device.encryption.yes" : "device.encryption.no"),
            "token": token, "masked": "\(token.prefix(6))…\(token.suffix(6))",
        ]
        view["permission"] = permission(topic, in: notifications, pageRequest)
        var suppressed = QueryText()
        suppressed.add("device", device)
        suppressed.add("app", topic)
        suppressed.add("reason", "suppressed")
        view["suppressed"] = "/console/\(suppressed.text)"
        view["registered"] = pageRequest.time(app["registeredAt"]?.text)
        view["fcm"] = app["fcm"]?.view
        return view
    }

    /// The permission that the newest report of the device about the app implies.
    private static func permission(_ topic: String, in notifications: [JSONValue], _ pageRequest: PageRequest)
        -> [String:
        Any]
    {
        for item in notifications where item["topic"]?.text == topic {
            let key: String
            switch item["outcome"]?.text ?? "" {
            case "suppressed(settings)": key = "denied"
            case let state where ["presented", "opened", "action", "dismissed"].contains(Outcome(state: state).name):
                key = "allowed"
            default: continue
            }
            var view: [String: Any] = ["text": pageRequest.texts.text("device.permission.\(key)")]
            view["at"] = pageRequest.time(item["lastAt"]?.text)
            return view
        }
        return ["text": pageRequest.texts.text("device.permission.unknown")]
    }

    private static func missed(_ item: JSONValue, _ pageRequest: PageRequest) -> [String: Any] {
        var view: [String: Any] = [
            "text": pageRequest.texts.text(
                "device.missed.\(item["reason"]?.text ?? "")", count: Int(item["count"]?.integer ?? 0))
        ]
        view["since"] = pageRequest.time(item["since"]?.text)
        return view
    }
}
