import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

/// The plan of a campaign: a form that previews it, tries it on test devices, and begins it.
enum CampaignPlanPage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("campaigns/new") { pageRequest in
            let hub = try await HubPageRequest(pageRequest)
            let key = String(UInt64.random(in: 0...UInt64.max), radix: 16)
            return show(CampaignForm(audience: hub.field("audience")), key: key, hub)
        }
        routes.post("campaigns/new") { try await plan(HubPageRequest($0)) }
    }

    private static func plan(_ hub: HubPageRequest) async throws -> Response {
        let fields = try await hub.pageRequest.request.form()
        let key = fields.first("key") ?? ""
        var form = CampaignForm(fields)
        guard let document = form.document(hub.pageRequest.texts, instant: hub.pageRequest.instant(ofLocal:)) else {
            return show(form, key: key, hub, status: .badRequest)
        }
        switch fields.first("do") {
        case "begin": return try await begin(document, form, key: key, hub)
        case "test": return try await test(document, form, key: key, hub)
        default: return try await preview(document, form, key: key, hub)
        }
    }

    private static func show(
        _ form: CampaignForm, key: String, _ hub: HubPageRequest, document: JSONValue? = nil,
        status: HTTPResponse.Status = .ok, _ more: [String: Any] = [:]
    ) -> Response {
        var values = more
        values["groups"] = form.view(hub.pageRequest.texts)
        values["key"] = key
        values["action"] = hub.link("campaigns/new")
        values["document"] = (document?.indented).shown
        if !form.faults.isEmpty { values["fault"] = hub.pageRequest.texts.text("campaign.fault") }
        let same = document.map {
            SameRequest(
                method: "POST", path: "\(hub.root)/campaigns", body: $0.json,
                command: "hub campaign create \(hub.hub) --document campaign.json")
        }
        return hub.page(
            "campaign-plan", title: hub.pageRequest.texts.text("campaign.plan.title"), part: "campaigns",
            section: "campaigns", same: same, status: status, values)
    }

    /// The form again with what the API refused.
    private static func refused(
        _ answer: ConsoleAPI.Answer, _ form: CampaignForm, key: String, _ hub: HubPageRequest
    ) -> Response {
        var form = form
        let message = form.note(answer)
        return show(form, key: key, hub, status: answer.status, message.map { ["fault": $0] } ?? [:])
    }

    // MARK: Begin

    private static func begin(
        _ document: JSONValue, _ form: CampaignForm, key: String, _ hub: HubPageRequest
    ) async throws -> Response {
        var headers = HTTPFields()
        // A form that is sent twice begins one campaign.
        if let name = HTTPField.Name("Idempotency-Key"), !key.isEmpty { headers[name] = key }
        let answer = try await hub.pageRequest.call(.post, "\(hub.root)/campaigns", body: document, headers: headers)
        guard answer.isSuccess, let id = answer.json["id"]?.text else { return refused(answer, form, key: key, hub) }
        return hub.pageRequest.redirect(to: hub.link("campaigns/\(QueryText.encoded(id))", [("notice", "begun")]))
    }

    // MARK: Test

    private static func test(
        _ document: JSONValue, _ form: CampaignForm, key: String, _ hub: HubPageRequest
    ) async throws -> Response {
        let answer = try await hub.pageRequest.call(.post, "\(hub.root)/campaigns/test", body: document.tested)
        guard answer.isSuccess else { return refused(answer, form, key: key, hub) }
        let results = (answer.json["trials"]?.items ?? []).flatMap { trial in
            (trial["results"]?.items ?? []).map {
                [
                    "id": $0["installationId"]?.text ?? "", "outcome": $0["outcome"]?.text ?? "",
                    "variant": (trial["variant"]?.text).shown,
                    "link": hub.link("installations/\(QueryText.encoded($0["installationId"]?.text ?? ""))"),
                ] as [String: Any]
            }
        }
        return show(form, key: key, hub, document: document, ["trials": ["results": results]])
    }

    // MARK: Preview

    private static func preview(
        _ document: JSONValue, _ form: CampaignForm, key: String, _ hub: HubPageRequest
    ) async throws -> Response {
        let expression = JSONValue.object([.init("expression", document["audience"] ?? .string(""))])
        let audience = try await hub.pageRequest.call(.post, "\(hub.root)/audience", body: expression)
        guard audience.isSuccess else {
            var form = form
            form.note(expression: audience.message)
            return show(form, key: key, hub, status: audience.status)
        }
        let texts = hub.pageRequest.texts
        let count = audience.json[document["properties"] == nil ? "contents" : "templates"]?.integer ?? 0
        let sample = (audience.json["sample"]?.items ?? []).compactMap(\.text)
        var preview: [String: Any] = ["estimate": texts.text("campaign.estimate", count: Int(count))]
        if let id = form.value("installation") ?? sample.first {
            var asked = document
            asked.set("installationId", .string(id))
            let answer = try await hub.pageRequest.call(.post, "\(hub.root)/campaigns/preview", body: asked)
            guard answer.isSuccess else { return refused(answer, form, key: key, hub) }
            preview.merge(view(answer.json, id: id, hub)) { $1 }
        }
        return show(form, key: key, hub, document: document, ["preview": preview])
    }

    private static func view(_ answer: JSONValue, id: String, _ hub: HubPageRequest) -> [String: Any] {
        let texts = hub.pageRequest.texts
        let most = answer["mostBytes"]?.integer
        var view: [String: Any] = [
            "of": texts.text("campaign.preview.of", ["id": id]),
            "leftOut": (answer["leftOut"]?.text).map { texts.text("campaign.leftout.\($0)") }.shown,
            "renderings": (answer["renderings"]?.items ?? []).map { rendering in
                let bytes = texts.language.number(Int(rendering["bytes"]?.integer ?? 0))
                return [
                    "name": (rendering["name"]?.text).shown, "fault": (rendering["fault"]?.text).shown,
                    "payload": (rendering["payload"].map { $0.text ?? $0.indented }).shown,
                    "size": most.map {
                        texts.text("campaign.bytes.of", ["bytes": bytes, "most": texts.language.number(Int($0))])
                    } ?? texts.text("campaign.bytes", ["bytes": bytes]),
                ] as [String: Any]
            },
        ]
        view["comesAt"] = hub.pageRequest.time(answer["comesAt"]?.text)
        view["quietUntil"] = hub.pageRequest.time(answer["quietUntil"]?.text)
        return view
    }
}

extension CampaignForm {
    /// Puts the fault of the expression at its field.
    mutating func note(expression message: String) {
        _ = note(
            ConsoleAPI.Answer(
                status: .badRequest,
                json: .object([
                    .init("code", .string("invalidExpression")), .init("detail", .string(message)),
                ])))
    }
}

extension JSONValue {
    /// The document as test devices get it: they get it now.
    fileprivate var tested: JSONValue {
        var document = self
        document.set("at", nil)
        return document
    }
}
