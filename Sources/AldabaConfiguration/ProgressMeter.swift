/// The progress of a long activity, in words for a terminal.
package struct ProgressMeter: Sendable {
    /// The unit of the counts.
    package enum Unit: Sendable {
        /// Things, by their plural.
        case things(String)
        /// Bytes.
        case bytes
    }

    /// The activity, such as `uploading boat.jpg`.
    package var what: String
    /// The total count; `nil` where it is not known.
    package var total: Int64?
    /// The unit of the counts; `nil` for none.
    package var unit: Unit?

    /// Begins with nothing done.
    package init(_ what: String, total: Int64? = nil, unit: Unit? = nil) {
        self.what = what
        self.total = total
        self.unit = unit
    }

    /// The time before anything is shown, so that a quicker activity shows nothing.
    package static let timeout: Duration = .seconds(2)
    private static let width = 20

    /// The line at a time after the beginning; `nil` while it is too early for one.
    package func line(done: Int64, after elapsed: Duration) -> String? {
        guard elapsed >= Self.timeout else { return nil }
        var parts = [TerminalText.line(Terminal.text(what))]
        if let total, total > 0 {
            let share = Double(max(0, min(done, total))) / Double(total)
            let filled = Int(share * Double(Self.width))
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
            parts.append("[\(bar)] \(Int(share * 100)) %")
        }
        switch unit {
        case .things(let name)?:
            parts.append(Terminal.text(total.map { "\(done) of \($0) \(name)" } ?? "\(done) \(name)"))
        case .bytes?: parts.append("\(done >> 10) KiB")
        case nil: break
        }
        parts.append("\(elapsed.components.seconds) s")
        return parts.joined(separator: "  ")
    }
}
