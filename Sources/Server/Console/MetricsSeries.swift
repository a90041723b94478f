import PushCore
import Texts

/// The samples of `GET /v1/metrics/history`, for a chart and its table.
struct MetricsSeries {
    /// The figures that the chart shows.
    private static let shown = ["accepted", "delivered", "shown", "refused"]

    let span: String
    private let samples: [JSONValue]

    /// Reads an answer.
    init(_ answer: JSONValue, span: String) {
        self.span = span
        samples = answer["samples"]?.items ?? []
    }

    /// A figure of each sample.
    func values(_ name: String) -> [Double] { samples.map { Double(Self.figure(name, in: $0)) } }

    /// The sum of a figure over all samples.
    func sum(_ name: String) -> Int { samples.reduce(0) { $0 + Self.figure(name, in: $1) } }

    /// The refused requests by reason.
    var refused: [String: Int] {
        samples.reduce(into: [:]) { sums, sample in
            for member in sample["refused"]?.members ?? [] {
                sums[member.name, default: 0] += Int(member.value.integer ?? 0)
            }
        }
    }

    private static func figure(_ name: String, in sample: JSONValue) -> Int {
        guard name == "refused" else { return Int(sample[name]?.integer ?? 0) }
        return (sample["refused"]?.members ?? []).reduce(0) { $0 + Int($1.value.integer ?? 0) }
    }

    /// The chart and its table, the newest row first.
    func view(_ pageRequest: PageRequest) -> [String: Any] {
        let texts = pageRequest.texts
        let number = { (name: String, sample: JSONValue) in texts.language.number(Self.figure(name, in: sample)) }
        let title = texts.text("health.history.\(span)")
        let chart = Chart(
            form: .lines,
            labels: samples.map { sample in
                let time = sample["at"]?.text.flatMap { Timestamp(text: $0) }.map { pageRequest.local($0) }
                return String((time ?? "").dropFirst(11).prefix(5))
            }, series: Self.shown.map { Chart.Series(name: texts.text("health.\($0)"), values: values($0)) })
        let sums = Dictionary(
            Self.shown.map { ($0, texts.language.number(sum($0))) }, uniquingKeysWith: { first, _ in first })
        return [
            "title": title,
            "chart": chart.view(
                id: "history-\(span)", title: title,
                description: texts.text("health.history.description", sums), language: texts.language),
            "rows": samples.reversed().map { sample in
                var row: [String: Any] = ["failures": number("storeFailures", sample)]
                for name in Self.shown + ["waiting", "connected"] { row[name] = number(name, sample) }
                row["at"] = pageRequest.time(sample["at"]?.text)
                return row
            },
        ]
    }
}
