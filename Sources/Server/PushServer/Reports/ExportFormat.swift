/// The format of an exported list.
enum ExportFormat: String, CaseIterable, Sendable {
    /// A JSON object in each line.
    case jsonl
    /// Lines of comma-separated values with a heading (RFC 4180).
    case csv

    var mediaType: String {
        switch self {
        case .jsonl: "application/jsonl; charset=utf-8"
        case .csv: "text/csv; charset=utf-8"
        }
    }

    /// The text before the first item.
    func heading(_ columns: [String]) -> String { self == .csv ? CSVField.line(columns) : "" }
}
