import Foundation
import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

/// The parts that the pages of the account share.
extension PageRequest {
    /// A component of the path, decoded.
    func component(_ name: String) throws -> String {
        let text = try parameter(name)
        return text.removingPercentEncoding ?? text
    }

    /// The fields of the form that was sent.
    func form() async throws -> FormFields {
        try FormFields(bytes: Array(buffer: try await request.formBody()))
    }

    /// A page with tables and forms.
    ///
    /// - Parameter key: The beginning of the keys of its texts.
    func account(
        _ key: String, title: String? = nil, tables: [AccountTable], forms: [AccountForm] = [],
        refused: RefusedForm? = nil, back: String = "/console/account", same: SameRequest?
    ) -> Response {
        var values: [String: Any] = [
            "intro": texts.texts["\(key).intro"].shown, "tables": tables.map { $0.view(self) },
            "forms": forms.map { $0.view(self, entered: refused) }, "back": back,
        ]
        values["notice"] = notice
        values["fault"] = refused?.sentence(texts)
        return page(
            "account-list", title: title ?? texts.text("\(key).title"), section: "account", same: same,
            status: refused?.answer.status ?? .ok, values)
    }

    /// The sentences about changes that lists show after them, by their keys.
    private static let sentences: Set = [
        "teams.added", "apps.removed", "app.saved", "certificates.imported", "certificates.revoked", "keys.imported",
        "keys.revoked", "service-accounts.revoked", "enrolment-keys.revoked", "hub.key.revoked",
        "hub.credential.added", "hub.credential.removed", "webhook.removed",
    ]

    /// Sends the browser to a page after a change, which it tells of.
    func redirect(to path: String, after change: String, of object: String = "") -> Response {
        var query = QueryText()
        query.add("done", change)
        query.add("object", object)
        return redirect(to: path + query.text)
    }

    private var notice: String? {
        guard let change = query.first("done"), Self.sentences.contains(change) else { return nil }
        return texts.text("account.\(change)", ["object": query.first("object") ?? ""])
    }

    /// A page that shows secrets once.
    func secrets(
        _ key: String, object: String, _ secrets: [AccountSecret], back: String, same: SameRequest?
    ) -> Response {
        page(
            "account-once", title: texts.text("\(key).made", ["object": object]), section: "account", same: same,
            [
                "secrets": secrets.map { $0.view(texts) }, "back": back, "after": texts.texts["\(key).after"].shown,
            ])
    }

    /// A page that asks before something is revoked or removed.
    ///
    /// - Parameters:
    ///   - key: The beginning of the keys of its texts.
    ///   - isTyped: Whether the object's id must be entered.
    ///   - fault: Why what was entered is wrong.
    func confirmation(
        _ key: String, object: String, back: String, isTyped: Bool = false, fault: String? = nil, same: SameRequest
    ) -> Response {
        var values: [String: Any] = [
            "consequence": texts.text("\(key).consequence", ["object": object]), "button": texts.text("\(key).button"),
            "back": back, "action": request.uri.path, "field": false,
        ]
        if isTyped {
            var field = FormField(name: "typed").view("", fault: fault, prefix: "account.confirm", texts)
            field["label"] = texts.text("account.confirm.typed", ["object": object])
            values["field"] = field
        }
        return page(
            "account-confirm", title: texts.text("\(key).question", ["object": object]), section: "account", same: same,
            status: fault == nil ? .ok : .badRequest, values)
    }

    /// Asks a route to change something.
    ///
    /// - Throws: The refusal of the route.
    func change(_ method: HTTPRequest.Method, _ path: String, body: JSONValue? = nil) async throws -> JSONValue {
        let answer = try await call(method, path, body: body)
        guard answer.isSuccess else {
            throw ControlError(
                status: answer.status, code: answer.json["code"]?.text ?? "refused", message: answer.message)
        }
        return answer.json
    }

    /// The teams as the options of a choice.
    func teamOptions() async throws -> [(value: String, text: String)] {
        (try await json("/v1/teams")["teams"]?.items ?? []).map { team in
            let id = team["id"]?.text ?? ""
            return (id, team["name"]?.text.map { "\($0) (\(id))" } ?? id)
        }
    }

    /// The apps as the options of a choice.
    func appOptions() async throws -> [(value: String, text: String)] {
        (try await json("/v1/apps?limit=1000")["apps"]?.items ?? []).map { app in
            let topic = app["topic"]?.text ?? ""
            return (topic, app["name"]?.text.map { "\($0) (\(topic))" } ?? topic)
        }
    }
}

extension FormFields {
    /// The text of a field without spaces around it; `nil` for an empty one.
    func text(_ name: String) -> String? {
        guard let text = first(name)?.trimmingCharacters(in: .whitespacesAndNewlines), !text.isEmpty else { return nil }
        return text
    }

    /// The text of a field as a member of a document.
    func string(_ name: String) -> JSONValue? { text(name).map { .string($0) } }

    /// The number of a field as a member of a document. What is none goes to the API as it is, which refuses it.
    func number(_ name: String) -> JSONValue? {
        text(name).map { Int($0) == nil ? .string($0) : .number($0) }
    }
}

extension JSONValue {
    /// A document of the members that have a value.
    static func document(_ members: [(String, JSONValue?)]) -> JSONValue {
        .object(members.compactMap { name, value in value.map { Member(name, $0) } })
    }

    /// A route's address of one object.
    static func path(_ list: String, _ id: String, rest: String = "") -> String {
        "/v1/\(list)/\(QueryText.encoded(id))\(rest)"
    }
}
