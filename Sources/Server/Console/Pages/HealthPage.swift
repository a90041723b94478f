import HTTPTypes
import Hummingbird
import PushCore
import PushServer
import Texts

/// The server's condition; `GET /v1/status` and `GET /v1/metrics/history` as a page.
enum HealthPage {
    /// The days below which a certificate should be renewed, as `doctor` says.
    private static let renewalDays: Int64 = 14

    static func add(to routes: ConsoleRoutes) {
        routes.get("health") { try await show($0) }
    }

    private static func show(_ pageRequest: PageRequest) async throws -> Response {
        let status = try await pageRequest.json("/v1/status")
        let hour = MetricsSeries(try await pageRequest.json("/v1/metrics/history?span=hour"), span: "hour")
        let day = MetricsSeries(try await pageRequest.json("/v1/metrics/history?span=day"), span: "day")
        var values = verdict(status, pageRequest)
        values["systems"] = (status["systems"]?.items ?? []).compactMap(\.view)
        values["cards"] = cards(status, hour: hour, pageRequest)
        values["disk"] = status["disk"].map { disk($0, pageRequest) }
        values["certificates"] = certificates(status["certificates"], pageRequest)
        values["refusals"] = refusals(hour: hour, day: day, pageRequest)
        values["histories"] = [hour.view(pageRequest), day.view(pageRequest)]
        return pageRequest.page(
            "health", title: pageRequest.texts.text("layout.health"), section: "health",
            same: SameRequest(path: "/v1/status", command: "doctor"), values)
    }

    private static func verdict(_ status: JSONValue, _ pageRequest: PageRequest) -> [String: Any] {
        let word = status["status"]?.text ?? ""
        let tone: Outcome.Tone =
            switch word {
            case "ok": .good
            case "degraded": .warn
            default: .bad
            }
        var values: [String: Any] = [
            "tone": tone.rawValue, "mark": tone.mark, "verdict": pageRequest.texts.text("health.verdict.\(word)"),
        ]
        if let failure = status["failure"] {
            var view: [String: Any] = ["reason": failure["reason"]?.text ?? ""]
            view["since"] = pageRequest.time(failure["since"]?.text)
            view["remedy"] = failure["remedy"]?.text
            values["failure"] = view
        }
        return values
    }

    private static func cards(_ status: JSONValue, hour: MetricsSeries, _ pageRequest: PageRequest) -> [[String: Any]] {
        func card(_ key: String, _ count: Int64?, hint: String? = nil) -> [String: Any] {
            var card: [String: Any] = [
                "figure": pageRequest.texts.language.number(Int(count ?? 0)),
                "label": pageRequest.texts.text("health.card.\(key)"),
            ]
            card["hint"] = hint
            return card
        }
        let oldest = Int(status["oldestWaitingSeconds"]?.integer ?? 0)
        var cards = [
            card("connected", status["connected"]?.integer),
            card(
                "waiting", status["waiting"]?.integer,
                hint: oldest > 0 ? pageRequest.texts.text("health.oldest", count: oldest) : nil),
            card("accepted", Int64(hour.sum("accepted")), hint: rate(hour, pageRequest)),
            card("delivered", Int64(hour.sum("delivered"))), card("shown", Int64(hour.sum("shown"))),
            card("refused", Int64(hour.refused.values.reduce(0, +))),
            card("failures", status["storeFailures"]?.integer),
        ]
        if let version = status["version"]?.text {
            cards.append(["figure": version, "label": pageRequest.texts.text("health.card.version")])
        }
        return cards
    }

    /// The most that was accepted in a minute of the last hour.
    private static func rate(_ hour: MetricsSeries, _ pageRequest: PageRequest) -> String? {
        let most = hour.values("accepted").max() ?? 0
        return most > 0 ? pageRequest.texts.text("health.most", count: Int(most)) : nil
    }

    private static func disk(_ disk: JSONValue, _ pageRequest: PageRequest) -> [String: Any] {
        let state = disk["state"]?.text ?? ""
        let tone: Outcome.Tone = state == "ok" ? .good : state == "low" ? .warn : .bad
        let megabytes = { (name: String) in pageRequest.texts.language.number(Int((disk[name]?.integer ?? 0) >> 20)) }
        var view: [String: Any] = [
            "tone": tone.rawValue, "mark": tone.mark,
            "text": pageRequest.texts.text(
                "health.disk.\(state)", ["free": megabytes("free"), "total": megabytes("total")]),
        ]
        if tone != .good {
            view["advice"] = pageRequest.texts.text(state == "readOnly" ? "health.disk.mount" : "health.disk.advice")
        }
        return view
    }

    private static func certificates(_ list: JSONValue?, _ pageRequest: PageRequest) -> [String: Any] {
        [
            "isKnown": list?.items?.isEmpty == false,
            "rows": (list?.items ?? []).map { item in
                let days = item["daysLeft"]?.integer ?? 0
                let isUsable = item["isUsable"]?.isTrue ?? true
                let tone: Outcome.Tone = days < 0 || !isUsable ? .bad : days < renewalDays ? .warn : .good
                var row: [String: Any] = [
                    "kind": pageRequest.texts.text("health.certificate.\(item["kind"]?.text ?? "")"),
                    "name": item["name"]?.text ?? "", "tone": tone.rawValue, "mark": tone.mark,
                    "left": !isUsable
                        ? pageRequest.texts.text("health.certificate.unusable")
                        : days < 0
                            ? pageRequest.texts.text("health.certificate.ended", count: Int(-days))
                            : pageRequest.texts.text("health.certificate.days", count: Int(days)),
                ]
                row["ends"] = pageRequest.time(item["endsAt"]?.text)
                return row
            },
        ]
    }

    private static func refusals(hour: MetricsSeries, day: MetricsSeries, _ pageRequest: PageRequest) -> [String: Any] {
        let (inHour, inDay) = (hour.refused, day.refused)
        let rows = inDay.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { reason, count in
            var query = QueryText()
            query.add("reason", reason)
            query.add("state", "refused")
            return [
                "reason": reason, "path": "/console/\(query.text)",
                "hour": pageRequest.texts.language.number(inHour[reason] ?? 0),
                "day": pageRequest.texts.language.number(count),
            ]
        }
        return ["isAny": !rows.isEmpty, "rows": rows]
    }
}
