import Foundation
import Texts

/// A chart of figures over labels, drawn as SVG by the template `chart`.
struct Chart {
    /// Figures with a name, one for each label.
    struct Series {
        var name: String
        var values: [Double]
    }

    /// How figures are drawn.
    enum Form {
        /// Bars beside each other at each label.
        case bars
        /// A line for each series.
        case lines
    }

    var form = Form.bars
    /// The labels of the horizontal axis, from the left.
    var labels: [String]
    var series: [Series]

    static let width = 720.0
    static let height = 240.0
    /// The area of the figures, inside the axes' texts.
    static let area = (left: 56.0, top: 12.0, right: 712.0, bottom: 208.0)

    /// The chart as the template `chart` shows it: `{{#chart}}{{>chart}}{{/chart}}`.
    ///
    /// - Parameters:
    ///   - id: The name of the chart in its page.
    ///   - title: What the chart shows.
    ///   - description: The same figures in words, for readers who do not see it.
    func view(id: String, title: String, description: String, language: Language) -> [String: Any] {
        let scale = Scale(figures: series.flatMap(\.values))
        var view: [String: Any] = [
            "id": id, "title": title, "description": description, "width": Self.digits(Self.width),
            "height": Self.digits(Self.height), "left": Self.digits(Self.area.left),
            "right": Self.digits(Self.area.right), "bottom": Self.digits(Self.area.bottom),
            "ticks": scale.ticks.map { value in
                ["y": Self.digits(y(value, scale)), "text": scale.text(value, language)]
            }, "labels": shownLabels,
            "legend": series.enumerated().map { place, each in
                swatch(place).merging(["name": each.name]) { $1 }
            },
        ]
        switch form {
        case .bars: view["bars"] = bars(scale, language)
        case .lines: view["lines"] = lines(scale, language)
        }
        return view
    }

    /// The width of a label's part of the area.
    private var step: Double { (Self.area.right - Self.area.left) / Double(max(labels.count, 1)) }

    private func middle(_ place: Int) -> Double { Self.area.left + step * (Double(place) + 0.5) }

    private func y(_ value: Double, _ scale: Scale) -> Double {
        Self.area.bottom - (Self.area.bottom - Self.area.top) * min(max(value, 0) / scale.top, 1)
    }

    /// The labels that fit beside each other.
    private var shownLabels: [[String: Any]] {
        let longest = labels.map(\.count).max() ?? 1
        let room = max(1, Int((Self.area.right - Self.area.left) / Double(longest * 7 + 14)))
        let every = max(1, (labels.count + room - 1) / room)
        return labels.enumerated().filter { $0.offset % every == 0 }.map { place, text in
            ["x": Self.digits(middle(place)), "y": Self.digits(Self.area.bottom + 18), "text": text]
        }
    }

    private func bars(_ scale: Scale, _ language: Language) -> [[String: Any]] {
        let width = min(48, step * 0.8 / Double(max(series.count, 1)))
        return series.enumerated().flatMap { place, each in
            zip(labels, each.values).enumerated().map { position, figure in
                let left = middle(position) + width * (Double(place) - Double(series.count) / 2)
                let top = y(figure.1, scale)
                return [
                    "x": Self.digits(left), "y": Self.digits(top), "width": Self.digits(max(width - 1, 0.5)),
                    "height": Self.digits(Self.area.bottom - top), "opacity": Self.opacity(place),
                    "hint": hint(each, figure, scale, language),
                ]
            }
        }
    }

    private func lines(_ scale: Scale, _ language: Language) -> [[String: Any]] {
        series.enumerated().map { place, each in
            let figures = Array(zip(labels, each.values))
            let points = figures.enumerated().map { (x: middle($0), y: y($1.1, scale)) }
            // Marks of many figures would hide the line.
            let marked = figures.count <= 60 ? Array(points.indices) : []
            return [
                "points": points.map { "\(Self.digits($0.x)),\(Self.digits($0.y))" }.joined(separator: " "),
                "dashes": Self.dashes(place),
                "marks": marked.map {
                    [
                        "path": Self.mark(place, x: points[$0].x, y: points[$0].y),
                        "hint": hint(each, figures[$0], scale, language),
                    ]
                },
            ]
        }
    }

    private func hint(
        _ series: Series, _ figure: (label: String, value: Double), _ scale: Scale, _ language: Language
    ) -> String { "\(figure.label): \(scale.text(figure.value, language)) \(series.name)" }

    /// The sign of a series in the legend.
    private func swatch(_ place: Int) -> [String: Any] {
        switch form {
        case .bars: ["opacity": Self.opacity(place)]
        case .lines: ["dashes": Self.dashes(place), "mark": Self.mark(place, x: 16, y: 8)]
        }
    }

    /// Series differ without colours: bars by how full they are.
    private static func opacity(_ place: Int) -> String { ["1", "0.55", "0.25", "0"][place % 4] }

    /// Series differ without colours: lines by their dashes and marks.
    private static func dashes(_ place: Int) -> String { ["none", "8 4", "2 3", "12 3 2 3"][place % 4] }

    private static func mark(_ place: Int, x: Double, y: Double) -> String {
        let (x, y) = (digits(x), digits(y))
        return switch place % 4 {
        case 0: "M\(x) \(y)m-3 0a3 3 0 1 0 6 0a3 3 0 1 0 -6 0z"
        case 1: "M\(x) \(y)m-3 -3h6v6h-6z"
        case 2: "M\(x) \(y)m0 -4l4 4l-4 4l-4 -4z"
        default: "M\(x) \(y)m0 -4l4 7h-8z"
        }
    }

    /// A coordinate with one decimal at most.
    static func digits(_ number: Double) -> String {
        let tenths = (number * 10).rounded()
        return tenths.truncatingRemainder(dividingBy: 10) == 0
            ? String(Int(tenths / 10)) : String(format: "%.1f", tenths / 10)
    }
}

extension Chart {
    /// The vertical axis: from zero to a plain number above every figure.
    struct Scale {
        let top: Double
        let ticks: [Double]

        init(figures: [Double]) {
            let most = figures.filter(\.isFinite).max() ?? 0
            let isWhole = figures.allSatisfy { $0.rounded() == $0 }
            let step = Self.step(above: max(most, isWhole ? 1 : 0.001) / 4, isWhole: isWhole)
            let count = max(1, (most / step).rounded(.up))
            top = step * count
            ticks = stride(from: 0, through: count, by: 1).map { $0 * step }
        }

        /// The least of 1, 2 and 5 times a power of ten that is not below a number.
        private static func step(above least: Double, isWhole: Bool) -> Double {
            let power = pow(10, floor(log10(least)))
            let step = [1, 2, 5, 10].map { $0 * power }.first { $0 >= least * 0.999_999 } ?? 10 * power
            return isWhole ? max(1, step) : step
        }

        /// A figure as a reader of a language writes it.
        func text(_ value: Double, _ language: Language) -> String {
            guard value.isFinite, abs(value) < 1e15 else { return "–" }
            if value.rounded() == value { return language.number(Int(value)) }
            let places = min(3, max(1, Int(ceil(-log10(top))) + 2))
            let text = String(format: "%.\(places)f", value)
            return language == .spanish ? text.replacing(".", with: ",") : text
        }
    }
}
