/// How far something is that takes a while, in words for a terminal.
package struct ProgressMeter: Sendable {
    /// What is counted.
    package enum Unit: Sendable {
        /// Things, by their plural.
        case things(String)
        /// Bytes.
        case bytes
    }

    /// What is done, such as `uploading boat.jpg`.
    package var what: String
    /// How much there is in all; `nil` where nobody knows.
    package var total: Int64?
    /// What is counted; `nil` for nothing.
    package var unit: Unit?

    /// Begins with nothing done.
    package init(_ what: String, total: Int64? = nil, unit: Unit? = nil) {
        self.what = what
        self.total = total
        self.unit = unit
    }

    /// What is quicker than this shows nothing.
    package static let patience: Duration = .seconds(2)
    private static let width = 20

    /// The line at a time after the beginning; `nil` while it is too early for one.
    package func line(done: Int64, after elapsed: Duration) -> String? {
        guard elapsed >= Self.patience else { return nil }
        var parts = [TerminalText.line(what)]
        if let total, total > 0 {
            let share = Double(max(0, min(done, total))) / Double(total)
            let filled = Int(share * Double(Self.width))
            let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
            parts.append("[\(bar)] \(Int(share * 100)) %")
        }
        switch unit {
        case .things(let name)?: parts.append(total.map { "\(done) of \($0) \(name)" } ?? "\(done) \(name)")
        case .bytes?: parts.append("\(done >> 10) KiB")
        case nil: break
        }
        parts.append("\(elapsed.components.seconds) s")
        return parts.joined(separator: "  ")
    }
}
