import Foundation
import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

/// One installation: its values, its tags and its document, which can be changed, and its deletion.
enum InstallationPage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("installations/:id") { try await load(HubPageRequest($0)) }
        routes.post("installations/:id/tags") { try await changeTags(HubPageRequest($0)) }
        routes.post("installations/:id/document") { try await changeDocument(HubPageRequest($0)) }
        routes.post("installations/:id/delete") { try await delete(HubPageRequest($0)) }
    }

    /// The members that the hub adds to an installation.
    private static let told = ["createdAt", "updatedAt", "lastSeen", "state", "fault"]

    /// The values that a person entered, and the reason why they were refused.
    private struct Edit {
        var tags: String?
        var document: String?
        var fault: String
        /// The version that the person saw.
        var version: String
        var status: HTTPResponse.Status
    }

    private static func load(_ hub: HubPageRequest, edit: Edit? = nil) async throws -> Response {
        let id = try hub.parameter("id")
        let answer = try await hub.pageRequest.call(.get, hub.path("installations", id))
        guard answer.isSuccess else {
            throw ControlError(status: answer.status, code: "notFound", message: answer.message)
        }
        return show(answer.json, version: answer.headers[.eTag] ?? "", id: id, edit: edit, hub)
    }

    private static func show(
        _ item: JSONValue, version: String, id: String, edit: Edit?, _ hub: HubPageRequest
    ) -> Response {
        let here = "installations/\(QueryText.encoded(id))"
        let texts = hub.pageRequest.texts
        let tags = (item["tags"]?.items ?? []).compactMap(\.text).joined(separator: " ")
        let document = JSONValue.object((item.members ?? []).filter { !told.contains($0.name) })
        var values: [String: Any] = [
            "facts": facts(item, hub), "version": edit?.version ?? version, "tags": edit?.tags ?? tags,
            "document": edit?.document ?? document.indented,
            "tagFault": (edit?.document == nil ? edit?.fault : nil).shown,
            "documentFault": (edit?.document == nil ? nil : edit?.fault).shown,
            "isStale": edit?.status == .preconditionFailed, "reload": hub.link(here),
            "saveTags": hub.link("\(here)/tags", for: "POST installations/:id/tags"),
            "saveDocument": hub.pageRequest.user.scope.seesPayloads
                ? hub.link("\(here)/document", for: "POST installations/:id/document") : false,
            "delete": hub.link("\(here)/delete", for: "POST installations/:id/delete"),
            "preview": hub.link("templates", [("installation", id)]),
        ]
        if let user = item["userId"]?.text { values["everything"] = hub.link("users/\(QueryText.encoded(user))") }
        if edit != nil { values["fault"] = texts.text("installation.refused") }
        if hub.field("notice") == "saved" { values["notice"] = texts.text("installation.saved") }
        return hub.page(
            "installation", title: id, part: "installations", section: "installations",
            same: SameRequest(path: hub.path("installations", id)), status: edit?.status ?? .ok, values)
    }

    private static func facts(_ item: JSONValue, _ hub: HubPageRequest) -> [[String: Any]] {
        let texts = hub.pageRequest.texts
        var facts: [[String: Any]] = []
        for name in ["platform", "userId", "locale", "timeZone", "country", "appVersion", "environment"] {
            guard let text = item[name]?.text else { continue }
            facts.append(["name": texts.text("installation.\(name)"), "text": text])
        }
        let fault = item["fault"]?["word"]?.text
        let state = texts.text("installations.state.\(item["state"]?.text == "live" ? "live" : "dead")")
        facts.append([
            "name": texts.text("installation.state"), "text": state + (fault.map { " (\($0))" } ?? ""),
        ])
        for name in ["createdAt", "updatedAt", "lastSeen", "expirationTime"] {
            guard let time = hub.pageRequest.time(item[name]?.text) else { continue }
            facts.append(["name": texts.text("installation.\(name)"), "at": time])
        }
        return facts
    }

    // MARK: Changes

    private static func changeTags(_ hub: HubPageRequest) async throws -> Response {
        let form = try await hub.pageRequest.request.form()
        let text = form.first("tags") ?? ""
        let tags = text.split { $0 == " " || $0 == "," || $0.isNewline }.map { JSONValue.string(String($0)) }
        let patch = JSONValue.object([.init("tags", .array(tags))])
        return try await save(
            .patch, patch, Edit(tags: text, fault: "", version: form.first("version") ?? "", status: .ok), hub)
    }

    private static func changeDocument(_ hub: HubPageRequest) async throws -> Response {
        // Whoever does not see the templates would remove them.
        guard hub.pageRequest.user.scope.seesPayloads else {
            throw ConsoleRefusal.templates.error
        }
        let form = try await hub.pageRequest.request.form()
        let text = form.first("document") ?? ""
        var edit = Edit(document: text, fault: "", version: form.first("version") ?? "", status: .badRequest)
        let document: JSONValue
        do { document = try JSONValue(object: Array(text.utf8)) } catch {
            edit.fault = hub.pageRequest.texts.text("campaign.fault.json", ["fault": "\(error)"])
            return try await load(hub, edit: edit)
        }
        return try await save(.put, document, edit, hub)
    }

    /// Saves a change, unless somebody else changed the installation since the page was loaded.
    private static func save(
        _ method: HTTPRequest.Method, _ body: JSONValue, _ edit: Edit, _ hub: HubPageRequest
    ) async throws -> Response {
        let id = try hub.parameter("id")
        let condition: HTTPFields = edit.version.isEmpty ? [:] : [.ifMatch: edit.version]
        let answer = try await hub.pageRequest.call(
            method, hub.path("installations", id), body: body, headers: condition)
        guard answer.isSuccess else {
            var edit = edit
            let pointer = (answer.json["pointer"]?.text).map { "\($0): " } ?? ""
            edit.status = answer.status
            edit.fault =
                answer.status == .preconditionFailed
                ? hub.pageRequest.texts.text("installation.stale") : pointer + answer.message
            return try await load(hub, edit: edit)
        }
        return hub.pageRequest.redirect(
            to: hub.link("installations/\(QueryText.encoded(id))", [("notice", "saved")]))
    }

    private static func delete(_ hub: HubPageRequest) async throws -> Response {
        _ = try await hub.change(.delete, hub.path("installations", try hub.parameter("id")))
        return hub.pageRequest.redirect(to: hub.link("installations"))
    }
}
