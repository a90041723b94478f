import PushServer

/// The query of `GET /v1/received`.
package struct ReceivedQuery {
    /// The requests that are asked for.
    package private(set) var filter = ReceivedFilter()
    /// The number of requests that are returned.
    package private(set) var limit = 100
    /// The number of requests that are waited for.
    package private(set) var count = 1
    /// The time that is waited for them.
    package private(set) var timeout = Duration.zero

    /// Reads the part of an address after its question mark.
    ///
    /// - Throws: A refusal that names the field, and what would be right.
    package init(_ text: String) throws {
        let fields = try FormFields(text)
        let others = ["match", "since", "limit", "count", "timeout"]
        for name in fields.names where ReceivedFilter.Name(rawValue: name) == nil && !others.contains(name) {
            let known = ReceivedFilter.Name.allCases.map(\.rawValue) + others
            throw ControlError.invalid("\(name.prefix(64)) is unknown; a query has \(known.joined(separator: ", "))")
        }
        for name in ReceivedFilter.Name.allCases { filter.values[name] = fields.first(name.rawValue) }
        if let interface = filter.values[.interface], ReceivedRequest.Interface(rawValue: interface) == nil {
            let known = ReceivedRequest.Interface.allCases.map(\.rawValue).joined(separator: ", ")
            throw ControlError.invalid("interface must be one of \(known)")
        }
        if let status = filter.values[.status], Int(status) == nil {
            throw ControlError.invalid("status must be a number")
        }
        for text in fields.all("match") {
            guard let match = ReceivedFilter.Match(text) else {
                throw ControlError.invalid(
                    "match must be PATH=VALUE, such as aps.alert.title=Hello, not \(text.prefix(64))")
            }
            filter.matches.append(match)
        }
        func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
            guard let text = fields.first(name) else { return nil }
            guard let number = Int(text), range.contains(number) else {
                throw ControlError.invalid("\(name) must be a number from \(range.lowerBound) to \(range.upperBound)")
            }
            return number
        }
        filter.since = try number("since", in: 0...Int.max) ?? 0
        limit = try number("limit", in: 1...1000) ?? limit
        count = try number("count", in: 1...10_000) ?? count
        if let text = fields.first("timeout") {
            guard let seconds = Double(text), (0...60).contains(seconds) else {
                throw ControlError.invalid("timeout must be a number of seconds from 0 to 60")
            }
            timeout = .milliseconds(Int(seconds * 1000))
        }
    }
}
