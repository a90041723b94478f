import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

/// The campaigns of a hub, the newest first; `GET /v1/hubs/{hub}/campaigns` as a page.
enum CampaignsPage {
    private static let states = [
        "Enqueued", "Scheduled", "Processing", "Paused", "Completed", "Abandoned", "NoTargetFound", "Canceled",
    ]

    static func add(to routes: ConsoleRoutes) {
        routes.get("campaigns") { try await list(HubPageRequest($0)) }
        CampaignPlanPage.add(to: routes)
        CampaignPage.add(to: routes)
    }

    private static func list(_ hub: HubPageRequest) async throws -> Response {
        let texts = hub.pageRequest.texts
        let state = hub.field("state")
        var query = QueryText()
        query.add("limit", String(HubPageRequest.limit))
        query.add("state", state)
        query.add("cursor", hub.field("cursor"))
        let path = "\(hub.root)/campaigns\(query.text)"
        let answer = try await hub.json(path)
        var values: [String: Any] = [
            "rows": (answer["campaigns"]?.items ?? []).map { row($0, hub) },
            "plan": hub.link("campaigns/new", for: "GET campaigns/new"),
            "states": ([""] + states).map {
                [
                    "value": $0, "text": texts.text($0.isEmpty ? "campaigns.any" : "campaign.state.\($0)"),
                    "isChosen": $0 == state ?? "",
                ] as [String: Any]
            }, "empty": texts.text(state == nil ? "campaigns.empty" : "campaigns.empty.filtered"),
        ]
        if let next = answer["next"]?.text {
            values["older"] = hub.link("campaigns", [("state", state), ("cursor", next)])
        }
        if hub.field("cursor") != nil { values["newest"] = hub.link("campaigns", [("state", state)]) }
        return hub.page(
            "campaigns", title: texts.text("campaigns.title"), part: "campaigns", section: "campaigns",
            same: SameRequest(path: path, command: "hub campaign list \(hub.hub)"), values)
    }

    private static func row(_ campaign: JSONValue, _ hub: HubPageRequest) -> [String: Any] {
        let (id, texts) = (campaign["id"]?.text ?? "", hub.pageRequest.texts)
        let state = CampaignState(campaign["state"]?.text ?? "")
        let at = campaign["startedAt"]?.text ?? campaign["dueAt"]?.text ?? campaign["enqueuedAt"]?.text
        var row: [String: Any] = [
            "link": hub.link("campaigns/\(QueryText.encoded(id))"), "name": campaign.campaignName(texts),
            "state": texts.text("campaign.state.\(state.name)"), "tone": state.tone.rawValue,
            "mark": state.tone.mark, "audience": (campaign["audience"]?.text).shown,
            "targeted": texts.language.number(Int(campaign["targeted"]?.integer ?? 0)),
        ]
        row["at"] = hub.pageRequest.time(at)
        return row
    }
}

/// The state of a campaign.
struct CampaignState {
    let name: String

    init(_ name: String) { self.name = name }

    var tone: Outcome.Tone {
        switch name {
        case "Completed": .good
        case "Paused", "NoTargetFound", "Canceled": .warn
        case "Abandoned": .bad
        default: .neutral
        }
    }

    /// Whether it has ended.
    var isFinal: Bool { ["Completed", "Abandoned", "NoTargetFound", "Canceled"].contains(name) }
    /// Whether it can be held.
    var canPause: Bool { !isFinal && name != "Paused" }
    /// Whether it can go on.
    var canResume: Bool { name == "Paused" }
}

extension JSONValue {
    /// The name of a campaign for people.
    func campaignName(_ texts: Catalogue) -> String {
        self["name"]?.text.flatMap { $0.isEmpty ? nil : $0 } ?? texts.text("campaigns.unnamed")
    }
}
