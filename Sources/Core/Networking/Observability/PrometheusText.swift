/// The common parts of the exposition formats: names, labels and numbers as text.
enum PrometheusText {
    /// A valid metric name: letters, digits, `_` and `:`, no digit first; every other character becomes `_`.
    static func metricName(_ name: String) -> String { valid(name, colon: true) }

    /// A valid label name: as a metric's, without the colon.
    static func labelName(_ name: String) -> String { valid(name, colon: false) }

    private static func valid(_ name: String, colon: Bool) -> String {
        var result = ""
        for scalar in name.unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "_": result.unicodeScalars.append(scalar)
            case "0"..."9":
                if result.isEmpty { result = "_" }
                result.unicodeScalars.append(scalar)
            case ":" where colon: result.unicodeScalars.append(scalar)
            default: result += "_"
            }
        }
        return result.isEmpty ? "_" : result
    }

    /// A label's value with backslash, quote and line feed escaped.
    static func labelValue(_ value: String) -> String {
        var result = ""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\"": result += "\\\""
            case "\n": result += "\\n"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A help text with backslash and line feed escaped.
    static func help(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
    }

    /// The labels in the form `{a="b",c="d"}`; empty when there are none.
    static func labels(_ labels: [(name: String, value: String)]) -> String {
        guard !labels.isEmpty else { return "" }
        let pairs = labels.map { "\(labelName($0.name))=\"\(labelValue($0.value))\"" }
        return "{\(pairs.joined(separator: ","))}"
    }

    /// A number: whole ones without a fraction, the three special values by their names.
    static func number(_ value: Double) -> String {
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if let whole = Int64(exactly: value) { return String(whole) }
        return String(value)
    }
}
