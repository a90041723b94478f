import HTTPTypes
import Hummingbird
import NIOCore
import PushCore
import PushServer

/// One notification with its timeline; `GET /v1/notifications/{id}` as a page.
enum NotificationPage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("notifications/:id") { try await show($0) }
        routes.get("notifications/:id/timeline") { try await timeline($0) }
        routes.post("notifications/:id/withdraw") { try await withdraw($0) }
        routes.post("notifications/:id/resend") { try await resend($0) }
    }

    private static func show(_ pageRequest: PageRequest, notice: String? = nil) async throws -> Response {
        let id = try pageRequest.parameter("id")
        let path = "/v1/notifications/\(QueryText.encoded(id))"
        let answer = try await pageRequest.call(.get, path)
        guard answer.isSuccess, let found = answer.json.items else {
            throw ControlError(
                status: answer.status, code: "notFound",
                message: answer.status == .notFound ? pageRequest.texts.text("notification.none") : answer.message)
        }
        var items = found.map { view($0, pageRequest) }
        if let first = found.first { items[0]["payloadFault"] = try await payloadFault(first, pageRequest) }
        var values: [String: Any] = ["items": items]
        values["notice"] = notice
        for name in ["id", "apnsId"] where values["sent"] == nil {
            values["sent"] = try await request(of: found.first?[name]?.text ?? id, pageRequest)
        }
        if values["sent"] == nil { values["kept"] = found.first.flatMap { keptRequest($0) } }
        return pageRequest.page(
            "notification", title: pageRequest.texts.text("notification.title"), section: "inbox",
            same: SameRequest(path: path, command: "get \(id)"), values)
    }

    /// The notification without the page around it, for the script that follows it.
    private static func timeline(_ pageRequest: PageRequest) async throws -> Response {
        let answer = try await pageRequest.json(
            "/v1/notifications/\(QueryText.encoded(try pageRequest.parameter("id")))")
        let values = ["items": (answer.items ?? []).map { view($0, pageRequest) }]
        let html = pageRequest.pages.fragment("notification-items", texts: pageRequest.texts, values)
        return Response(
            status: .ok, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }

    private static func view(_ item: JSONValue, _ pageRequest: PageRequest) -> [String: Any] {
        let entries = item["timeline"]?.items ?? []
        let decisive = Outcome.decisive(entries)
        let outcome = Outcome(state: decisive?["state"]?.text ?? "-")
        let content = item["content"]
        let payload = content?["payload"]
        let alert = payload?["aps"]?["alert"]
        var view: [String: Any] = [
            "name": alert?["title"]?.text ?? alert?.text ?? alert?["body"]?.text
                ?? pageRequest.texts.text("inbox.untitled"),
            "id": item["id"]?.text ?? "", "apnsId": item["apnsId"]?.text ?? "", "topic": item["topic"]?.text ?? "",
            "team": item["team"]?.text ?? "", "tone": outcome.tone.rawValue, "why": outcome.why(pageRequest.texts),
            "canWithdraw": item["device"] != nil && pageRequest.may("POST notifications/:id/withdraw"),
            "canResend": resending(item) != nil && pageRequest.may("POST notifications/:id/resend"),
            "timeline": timeline(entries, pageRequest),
        ]
        view["device"] = item["device"]?.text
        view["follow"] = item["device"]?.text == nil ? nil : true
        view["environment"] = item["environment"]?.text
        view["advice"] = outcome.advice(pageRequest.texts)
        view["payload"] = payload?.indented
        if payload?["aldaba"]?["encrypted"] != nil { view["isEncrypted"] = true }
        // The note of a refusal tells the fault and its place in the request.
        if outcome.tone == .bad { view["detail"] = decisive?["note"]?.text }
        return view
    }

    private static func timeline(_ entries: [JSONValue], _ pageRequest: PageRequest) -> [[String: Any]] {
        let times = entries.map { $0["at"]?.text.flatMap { Timestamp(text: $0) } }
        return entries.indices.map { place in
            var view = entry(entries[place], pageRequest)
            let isLong =
                place + 1 == entries.count
                || times[place].map { (times[place + 1] ?? $0).milliseconds(since: $0) >= 2000 } ?? false
            // A notification is stored for an instant also where the device is connected.
            if view["state"] as? String == "stored", !isLong { view["apple"] = nil }
            if let begun = times.first ?? nil, let at = times[place] {
                view["took"] = "\(pageRequest.texts.language.number(Int(at.milliseconds(since: begun)))) ms"
            }
            return view
        }
    }

    private static func entry(_ entry: JSONValue, _ pageRequest: PageRequest) -> [String: Any] {
        let state = entry["state"]?.text ?? ""
        var view: [String: Any] = [
            "state": state, "source": pageRequest.texts.text("notification.source.\(entry["source"]?.text ?? "")"),
            "note": entry["note"]?.text ?? "",
        ]
        view["at"] = pageRequest.time(entry["at"]?.text)
        view["apple"] = Outcome(state: state).apple
        return view
    }

    /// The fault that the server's check finds in a payload, with its place in the text that the page shows.
    private static func payloadFault(_ item: JSONValue, _ pageRequest: PageRequest) async throws -> String? {
        guard let content = item["content"], content["lane"]?.text == "apns", let payload = content["payload"] else {
            return nil
        }
        var body: [JSONValue.Member] = [.init("payload", .string(payload.indented))]
        if let type = content["pushType"] { body.append(.init("pushType", type)) }
        let answer = try await pageRequest.call(.post, "/v1/payloads/check", body: .object(body))
        guard let fault = answer.json["faults"]?.items?.first, let what = fault["what"]?.text else { return nil }
        let words = answer.texts
        let text = pageRequest.texts.text(
            "notification.payload.fault",
            ["line": fault["line"]?.json ?? "", "column": fault["column"]?.json ?? "", "what": words.text(what)])
        return fault["meant"]?.text.map { "\(text) (\(words.text($0))?)" } ?? text
    }

    /// The provider's request and its answer, where the server remembers them.
    private static func request(of id: String, _ pageRequest: PageRequest) async throws -> [String: Any]? {
        let answer = try await pageRequest.call(.get, "/v1/received?notification=\(QueryText.encoded(id))&limit=1")
        guard answer.isSuccess, let item = answer.json["received"]?.items?.first else { return nil }
        var request = "\(item["method"]?.text ?? "") \(item["path"]?.text ?? "")\n"
        for field in item["headers"]?.members ?? [] { request += "\(field.name): \(field.value.text ?? "")\n" }
        request += "\n" + ((item["payload"]?.members == nil ? item["text"]?.text : item["payload"]?.indented) ?? "")
        var reply = item["answer"]?["status"].map { "\($0.json)\n" } ?? ""
        for field in item["answer"]?["headers"]?.members ?? [] { reply += "\(field.name): \(field.value.text ?? "")\n" }
        reply += "\n" + (item["answer"]?["text"]?.text ?? "")
        return ["request": request, "answer": reply]
    }

    /// The fields of an accepted request and the answer, as the server keeps them with the notification; `nil` where the request
    /// was refused or is not of APNs.
    private static func keptRequest(_ item: JSONValue) -> [String: Any]? {
        guard let content = item["content"], content["lane"]?.text == "apns", let apnsID = item["apnsId"]?.text else {
            return nil
        }
        let fields = [
            ("id", apnsID), ("topic", item["topic"]?.text), ("push-type", content["pushType"]?.text),
            ("priority", content["priority"]?.json), ("collapse-id", content["collapseId"]?.text),
        ]
        let lines = fields.compactMap { name, value in value.map { "apns-\(name): \($0)" } }
        return ["request": lines.joined(separator: "\n"), "answer": "200\napns-id: \(apnsID)"]
    }

    private static func withdraw(_ pageRequest: PageRequest) async throws -> Response {
        let answer = try await pageRequest.call(
            .delete, "/v1/notifications/\(QueryText.encoded(try pageRequest.parameter("id")))")
        guard answer.isSuccess else {
            throw ControlError(status: answer.status, code: "refused", message: answer.message)
        }
        let outcome = answer.json.items?.first?["outcome"]?.text ?? "ended"
        return try await show(pageRequest, notice: pageRequest.texts.text("notification.\(outcome)"))
    }

    /// The body of `POST /v1/notifications` that sends a notification again; `nil` for one that cannot be sent by APNs' rules.
    static func resending(_ item: JSONValue) -> JSONValue? {
        guard let content = item["content"], content["lane"]?.text == "apns", let payload = content["payload"],
            let device = item["device"], let topic = item["topic"]
        else { return nil }
        let type = content["pushType"]?.text ?? "alert"
        // Topics of other types have a suffix.
        guard ["alert", "background"].contains(type) else { return nil }
        var headers: [JSONValue.Member] = [.init("apns-topic", topic), .init("apns-push-type", .string(type))]
        if let priority = content["priority"] { headers.append(.init("apns-priority", .string(priority.json))) }
        if let id = content["collapseId"] { headers.append(.init("apns-collapse-id", id)) }
        return .object([
            .init("device", device), .init("headers", .object(headers)), .init("payload", payload),
        ])
    }

    private static func resend(_ pageRequest: PageRequest) async throws -> Response {
        let found = try await pageRequest.json(
            "/v1/notifications/\(QueryText.encoded(try pageRequest.parameter("id")))")
        guard let body = found.items?.first.flatMap(resending) else {
            throw ControlError.invalid(pageRequest.texts.text("notification.resend.impossible"))
        }
        let answer = try await pageRequest.call(.post, "/v1/notifications", body: body)
        guard answer.isSuccess, let id = answer.json["id"]?.text else {
            throw ControlError(status: answer.status, code: "refused", message: answer.message)
        }
        return pageRequest.redirect(to: "/console/notifications/\(QueryText.encoded(id))")
    }
}
