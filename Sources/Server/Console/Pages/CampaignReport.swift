import PushCore
import Texts

/// The report of a campaign as templates show it.
enum CampaignReport {
    static func count(_ value: JSONValue?, _ texts: Catalogue) -> String {
        texts.language.number(Int(value?.integer ?? 0))
    }

    /// Whether no more can become known, so that the API's stream of reports ends.
    static func isOver(_ report: JSONValue) -> Bool {
        let open = ["pending", "waiting", "delivered", "presented"]
        return CampaignState(report["state"]?.text ?? "").isFinal
            && open.allSatisfy { report["ends"]?[$0]?.integer ?? 0 == 0 }
    }

    /// The state with its sign.
    static func state(_ state: CampaignState, _ texts: Catalogue) -> [String: Any] {
        ["text": texts.text("campaign.state.\(state.name)"), "mark": state.tone.mark, "tone": state.tone.rawValue]
    }

    /// The steps, each with its share of those who were meant and the party that reports it.
    static func funnel(_ report: JSONValue, _ texts: Catalogue) -> [[String: Any]] {
        let steps = report["funnel"]?.items ?? []
        let whole = max(steps.first?["count"]?.integer ?? 0, 1)
        return steps.map { step in
            let count = step["count"]?.integer ?? 0
            let share = min(100 * Double(count) / Double(whole), 100)
            return [
                "name": texts.text("campaign.step.\(step["step"]?.text ?? "")"),
                "count": texts.language.number(Int(count)), "share": Chart.digits(share),
                "percent": "\(Int(share.rounded())) %",
                "source": texts.text(
                    "campaign.source.\((step["source"]?.text ?? "").replacing(" ", with: ""))"),
            ]
        }
    }

    /// How the recipients ended, or how far they are.
    static func ends(_ report: JSONValue, _ texts: Catalogue) -> [[String: Any]] {
        (report["ends"]?.members ?? []).map {
            [
                "name": texts.text("campaign.end.\($0.name)"), "why": texts.text("campaign.end.\($0.name).why"),
                "count": count($0.value, texts),
            ]
        }
    }

    /// The same funnel by platform, locale, version, variant and reason.
    static func parts(_ report: JSONValue, _ texts: Catalogue) -> [[String: Any]] {
        (report["parts"]?.members ?? []).map { part in
            [
                "name": texts.text("campaign.part.\(part.name)"),
                "rows": (part.value.members ?? []).map { row in
                    [
                        "name": row.name.isEmpty ? texts.text("campaign.part.unknown") : row.name,
                        "counts": shownSteps.map { count(row.value[$0], texts) },
                    ] as [String: Any]
                }, "steps": shownSteps.map { texts.text("campaign.step.\($0)") },
            ]
        }
    }

    private static let shownSteps = ["targeted", "accepted", "delivered", "presented", "opened"]

    /// A recipient as a row, with the reason of its end.
    static func recipient(_ item: JSONValue, _ hub: HubPageRequest) -> [String: Any] {
        let (texts, end) = (hub.pageRequest.texts, item["end"]?.text ?? "")
        let id = item["installationId"]?.text ?? ""
        let (outcome, reason) = (item["outcome"]?.text, item["reason"]?.text)
        let tone = tone(of: end)
        var row: [String: Any] = [
            "id": String?(id).shown, "link": hub.link("installations/\(QueryText.encoded(id))"),
            "platform": item["platform"]?.text ?? "", "end": texts.text("campaign.end.\(end)"),
            "why": texts.text("campaign.end.\(end).why"), "tone": tone.rawValue, "mark": tone.mark,
            "outcome": outcome.shown, "reason": (reason == outcome ? nil : reason).shown,
            "attempts": count(item["attempts"], texts), "part": (item["part"]?.text).shown,
            "variant": (item["variant"]?.text).shown,
            // Other push services' ids are in no inventory of this server.
            "notification": item["platform"]?.text == "aldaba" ? (item["notificationId"]?.text).shown : false,
        ]
        row["at"] = hub.pageRequest.time(item["at"]?.text)
        row["retryAt"] = hub.pageRequest.time(item["retryAt"]?.text)
        return row
    }

    private static func tone(of end: String) -> Outcome.Tone {
        switch end {
        case "delivered", "presented", "opened", "action", "dismissed": .good
        case "pending", "waiting", "accepted": .neutral
        case "refused": .bad
        default: .warn
        }
    }
}
