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
    }

    private static func show(_ visit: Visit, notice: String? = nil) async throws -> Response {
        let id = try visit.parameter("id")
        let path = "/v1/notifications/\(QueryText.encoded(id))"
        let answer = try await visit.call(.get, path)
        guard answer.isSuccess, let found = answer.json.items else {
            throw ControlError(
                status: answer.status, code: "notFound",
                message: answer.status == .notFound ? visit.texts.text("notification.none") : answer.message)
        }
        var values: [String: Any] = ["items": found.map { view($0, visit) }]
        values["notice"] = notice
        let first = found.first?["id"]?.text ?? id
        values["sent"] = try await request(of: first, visit)
        return visit.page(
            "notification", title: visit.texts.text("notification.title"), section: "inbox",
            same: SameRequest(path: path, command: "get \(id)"), values)
    }

    /// The notification without the page around it, for the script that follows it.
    private static func timeline(_ visit: Visit) async throws -> Response {
        let answer = try await visit.json("/v1/notifications/\(QueryText.encoded(try visit.parameter("id")))")
        let values = ["items": (answer.items ?? []).map { view($0, visit) }]
        let html = visit.pages.fragment("notification-items", texts: visit.texts, values)
        return Response(
            status: .ok, headers: [.contentType: "text/html; charset=utf-8", .cacheControl: "no-store"],
            body: ResponseBody(byteBuffer: ByteBuffer(string: html)))
    }

    private static func view(_ item: JSONValue, _ visit: Visit) -> [String: Any] {
        let entries = item["timeline"]?.items ?? []
        let last = entries.last?["state"]?.text ?? "-"
        let outcome = Outcome(state: last)
        let content = item["content"]
        let payload = content?["payload"]
        let alert = payload?["aps"]?["alert"]
        let begun = entries.first.flatMap { $0["at"]?.text }.flatMap { Timestamp(text: $0) }
        var view: [String: Any] = [
            "name": alert?["title"]?.text ?? alert?.text ?? alert?["body"]?.text ?? visit.texts.text("inbox.untitled"),
            "id": item["id"]?.text ?? "", "apnsId": item["apnsId"]?.text ?? "", "topic": item["topic"]?.text ?? "",
            "team": item["team"]?.text ?? "", "tone": outcome.tone.rawValue, "why": outcome.why(visit.texts),
            "canWithdraw": item["device"] != nil,
            "timeline": entries.map { entry($0, begun: begun, visit) },
        ]
        view["device"] = item["device"]?.text
        view["follow"] = item["device"]?.text == nil ? nil : true
        view["environment"] = item["environment"]?.text
        view["advice"] = outcome.advice(visit.texts)
        view["payload"] = payload?.indented
        return view
    }

    private static func entry(_ entry: JSONValue, begun: Timestamp?, _ visit: Visit) -> [String: Any] {
        let state = entry["state"]?.text ?? ""
        var view: [String: Any] = [
            "state": state, "source": visit.texts.text("notification.source.\(entry["source"]?.text ?? "")"),
            "note": entry["note"]?.text ?? "",
        ]
        view["at"] = visit.time(entry["at"]?.text)
        view["apple"] = Outcome(state: state).apple
        if let begun, let at = entry["at"]?.text.flatMap({ Timestamp(text: $0) }) {
            view["took"] = "\(visit.texts.language.number(Int(at.milliseconds(since: begun)))) ms"
        }
        return view
    }

    /// The provider's request and its answer, where the server remembers them.
    private static func request(of id: String, _ visit: Visit) async throws -> [String: Any]? {
        let answer = try await visit.call(.get, "/v1/received?notification=\(id)&limit=1")
        guard answer.isSuccess, let item = answer.json["received"]?.items?.first else { return nil }
        var request = "\(item["method"]?.text ?? "") \(item["path"]?.text ?? "")\n"
        for field in item["headers"]?.members ?? [] { request += "\(field.name): \(field.value.text ?? "")\n" }
        request += "\n" + ((item["payload"]?.members == nil ? item["text"]?.text : item["payload"]?.indented) ?? "")
        var reply = item["answer"]?["status"].map { "\($0.json)\n" } ?? ""
        for field in item["answer"]?["headers"]?.members ?? [] { reply += "\(field.name): \(field.value.text ?? "")\n" }
        reply += "\n" + (item["answer"]?["text"]?.text ?? "")
        return ["request": request, "answer": reply]
    }

    private static func withdraw(_ visit: Visit) async throws -> Response {
        let answer = try await visit.call(.delete, "/v1/notifications/\(QueryText.encoded(try visit.parameter("id")))")
        guard answer.isSuccess else {
            throw ControlError(status: answer.status, code: "refused", message: answer.message)
        }
        let outcome = answer.json.items?.first?["outcome"]?.text ?? "ended"
        return try await show(visit, notice: visit.texts.text("notification.\(outcome)"))
    }
}
