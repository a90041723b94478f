import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

/// The page of a campaign: its state, its funnel as it grows, its recipients, and what can be done with it.
enum CampaignPage {
    static func add(to routes: ConsoleRoutes) {
        routes.get("campaigns/:id") { try await show(HubPageRequest($0)) }
        routes.get("campaigns/:id/live") { try await live(HubPageRequest($0)) }
        routes.get("campaigns/:id/recipients") { try await recipients(HubPageRequest($0)) }
        routes.get("campaigns/:id/export") { try await export(HubPageRequest($0)) }
        for verb in ["pause", "resume", "cancel", "withdraw"] {
            routes.post("campaigns/:id/\(verb)") { try await change(HubPageRequest($0), verb) }
        }
    }

    private static let notices = ["begun", "pause", "resume", "cancel"]

    // MARK: The page

    private static func show(_ hub: HubPageRequest) async throws -> Response {
        let (id, texts) = (try hub.parameter("id"), hub.pageRequest.texts)
        let path = hub.path("campaigns", id)
        let campaign = try await hub.json(path)
        let report = try await hub.json("\(path)/report")
        let here = "campaigns/\(QueryText.encoded(id))"
        let state = CampaignState(campaign["state"]?.text ?? "")
        var values: [String: Any] = [
            "facts": facts(campaign, hub), "funnel": CampaignReport.funnel(report, texts),
            "ends": CampaignReport.ends(report, texts), "parts": CampaignReport.parts(report, texts),
            "leftOut": (campaign["leftOut"]?.members ?? []).map {
                ["name": texts.text("campaign.leftout.\($0.name)"), "count": CampaignReport.count($0.value, texts)]
            }, "state": CampaignReport.state(state, texts),
            "actions": actions(state, path: here, hub),
            "recipients": hub.link("\(here)/recipients"),
            "withdraw": hub.link("\(here)/withdraw", for: "POST campaigns/:id/withdraw"),
            "csv": hub.link("\(here)/export", [("format", "csv")]),
            "lines": hub.link("\(here)/export", [("format", "jsonl")]),
        ]
        if !CampaignReport.isOver(report) { values["live"] = hub.link("\(here)/live") }
        if let name = hub.field("notice"), notices.contains(name) {
            values["notice"] = texts.text("campaign.notice.\(name)")
        } else if let count = hub.field("withdrawn").flatMap(Int.init) {
            values["notice"] = texts.text("campaign.withdrawn", count: count)
        }
        return hub.page(
            "campaign", title: campaign.campaignName(texts), part: "campaigns", section: "campaigns",
            same: SameRequest(path: "\(path)/report", command: "hub campaign show \(hub.hub) \(id)"), values)
    }

    private static func facts(_ campaign: JSONValue, _ hub: HubPageRequest) -> [String: Any] {
        let audience = campaign["audience"]?.text ?? ""
        var facts: [String: Any] = [
            "id": campaign["id"]?.text ?? "", "audience": String?(audience).shown,
            "audienceLink": hub.link("audiences", [("expression", audience)]),
            "reason": (campaign["reason"]?.text).shown,
            "plan": ["local", "quiet", "cap", "experiment"].contains { campaign[$0] != nil }
                ? JSONValue.object(
                    (campaign.members ?? []).filter { ["local", "quiet", "cap", "experiment"].contains($0.name) }
                ).indented : false,
        ]
        for name in ["enqueuedAt", "dueAt", "startedAt", "endedAt"] {
            facts[name] = hub.pageRequest.time(campaign[name]?.text)
        }
        return facts
    }

    private static func actions(_ state: CampaignState, path: String, _ hub: HubPageRequest) -> [[String: Any]] {
        let verbs = [("pause", state.canPause), ("resume", state.canResume), ("cancel", !state.isFinal)]
        return verbs.filter { $0.1 && hub.pageRequest.may("POST campaigns/:id/\($0.0)") }.map { verb, _ in
            [
                "path": hub.link("\(path)/\(verb)"), "label": hub.pageRequest.texts.text("campaign.\(verb)"),
                "isDanger": verb == "cancel",
            ]
        }
    }

    // MARK: Changes

    private static func change(_ hub: HubPageRequest, _ verb: String) async throws -> Response {
        let id = try hub.parameter("id")
        let answer = try await hub.change(.post, hub.path("campaigns", id, rest: "/\(verb)"))
        let here = "campaigns/\(QueryText.encoded(id))"
        if let count = answer["withdrawn"]?.integer {
            return hub.pageRequest.redirect(to: hub.link(here, [("withdrawn", String(count))]))
        }
        return hub.pageRequest.redirect(to: hub.link(here, [("notice", verb)]))
    }

    // MARK: The report as it grows

    private static func live(_ hub: HubPageRequest) async throws -> Response {
        let pageRequest = hub.pageRequest
        var response = try await pageRequest.api.respond(
            .get, hub.path("campaigns", try hub.parameter("id"), rest: "/live"), in: pageRequest.context)
        guard response.status == .ok else { return response }
        let inner = response.body
        response.body = ResponseBody { writer in
            try await inner.write(
                EventConverter(writer: writer) { name, report in name == "report" ? events(report, pageRequest) : "" })
        }
        return response
    }

    private static func events(_ report: JSONValue, _ pageRequest: PageRequest) -> String {
        let texts = pageRequest.texts
        let state = CampaignReport.state(CampaignState(report["state"]?.text ?? ""), texts)
        let fragments: [(String, String, [String: Any])] = [
            ("state", "campaign-state", state),
            ("funnel", "campaign-funnel", ["funnel": CampaignReport.funnel(report, texts)]),
            ("ends", "campaign-ends", ["ends": CampaignReport.ends(report, texts)]),
        ]
        let events = fragments.map { id, template, values in
            EventConverter.fragment(id, pageRequest.pages.fragment(template, texts: texts, values))
        }
        // Nothing more arrives, and the browser is told not to connect again.
        return events.joined() + (CampaignReport.isOver(report) ? "event: end\ndata: {}\n\n" : "")
    }

    // MARK: Recipients

    private static func recipients(_ hub: HubPageRequest) async throws -> Response {
        let (id, texts) = (try hub.parameter("id"), hub.pageRequest.texts)
        let path = hub.path("campaigns", id)
        let campaign = try await hub.json(path)
        var query = QueryText()
        query.add("limit", String(HubPageRequest.limit))
        query.add("cursor", hub.field("cursor"))
        let answer = try await hub.json("\(path)/recipients\(query.text)")
        let here = "campaigns/\(QueryText.encoded(id))"
        var values: [String: Any] = [
            "rows": (answer["recipients"]?.items ?? []).map { CampaignReport.recipient($0, hub) },
            "name": campaign.campaignName(texts), "campaign": hub.link(here),
            "csv": hub.link("\(here)/export", [("format", "csv")]),
            "lines": hub.link("\(here)/export", [("format", "jsonl")]),
        ]
        if let next = answer["next"]?.text { values["older"] = hub.link("\(here)/recipients", [("cursor", next)]) }
        if hub.field("cursor") != nil { values["newest"] = hub.link("\(here)/recipients") }
        return hub.page(
            "campaign-recipients", title: texts.text("campaign.recipients"), part: "campaigns", section: "campaigns",
            same: SameRequest(path: "\(path)/recipients\(query.text)"), values)
    }

    private static func export(_ hub: HubPageRequest) async throws -> Response {
        let format = hub.field("format") == "csv" ? "csv" : "jsonl"
        let id = try hub.parameter("id")
        let response = try await hub.pageRequest.api.respond(
            .get, hub.path("campaigns", id, rest: "/export?format=\(format)"), in: hub.pageRequest.context)
        return response.asFile("recipients.\(format)")
    }
}

extension Response {
    /// The response as a file that the browser saves.
    func asFile(_ name: String) -> Response {
        guard status == .ok else { return self }
        var response = self
        response.headers[.contentDisposition] = "attachment; filename=\"\(name)\""
        return response
    }
}
