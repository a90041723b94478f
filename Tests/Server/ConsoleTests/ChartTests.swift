import Testing
import Texts

@testable import Console

@Suite struct ChartTests {
    private let chart = Chart(
        labels: ["Mon", "Tue"],
        series: [.init(name: "sent", values: [10, 5]), .init(name: "<shown>", values: [4, 0])])

    private func svg(_ chart: Chart, language: Language = .english) throws -> String {
        try PageRenderer().fragment(
            "chart", texts: .of(language),
            chart.view(id: "days", title: "By day", description: "Two days.", language: language))
    }

    @Test func `a chart has a role, a title and a description`() throws {
        let svg = try svg(chart)
        #expect(svg.contains(#"role="img" aria-labelledby="days-title days-description""#))
        #expect(svg.contains(#"<title id="days-title">By day</title>"#))
        #expect(svg.contains(#"<desc id="days-description">Two days.</desc>"#))
    }

    @Test func `a bar is as high as its figure`() throws {
        let bars = try #require(
            chart.view(id: "a", title: "", description: "", language: .english)["bars"] as? [[String: Any]])
        let heights = bars.compactMap { ($0["height"] as? String).flatMap(Double.init) }
        #expect(heights.count == 4)
        #expect(abs(heights[0] - 2 * heights[1]) < 0.2)
        #expect(heights[3] == 0)
    }

    @Test func `a name is escaped`() throws {
        let svg = try svg(chart)
        #expect(svg.contains("&lt;shown&gt;") && !svg.contains("<shown>"))
    }

    @Test func `lines have a mark for each figure, unless there are many`() throws {
        var lines = chart
        lines.form = .lines
        #expect(try svg(lines).matches(of: /<title>(Mon|Tue)/).count == 4)
        let many = Chart(
            form: .lines, labels: (0..<100).map(String.init),
            series: [.init(name: "a", values: (0..<100).map(Double.init))])
        let drawn = try svg(many)
        #expect(!drawn.contains("<title>") && drawn.matches(of: /text-anchor="middle"/).count < 40)
    }

    @Test(
        arguments: [
            ([], 1), ([0], 1), ([1], 1), ([3], 3), ([7], 8), ([10], 10), ([101], 150), ([0.4, 0.1], 0.4),
        ] as [([Double], Double)])
    func `the axis ends at a plain number`(_ figures: [Double], _ top: Double) {
        let scale = Chart.Scale(figures: figures)
        #expect(scale.top >= (figures.max() ?? 0) && scale.ticks.count <= 6)
        #expect(abs(scale.top - top) < 1e-9)
    }

    @Test func `a figure is written as its language writes it`() {
        let scale = Chart.Scale(figures: [12_345.5])
        #expect(scale.text(12_345, .english) == "12,345" && scale.text(12_345, .spanish) == "12.345")
        #expect(scale.text(0.5, .english) == "0.5" && scale.text(0.5, .spanish) == "0,5")
    }

    @Test func `a chart without figures is drawn`() throws {
        let drawn = try svg(Chart(labels: [], series: []))
        #expect(drawn.contains("<svg") && !drawn.contains("nan"))
    }
}
