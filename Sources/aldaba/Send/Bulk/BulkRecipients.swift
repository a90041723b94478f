import AldabaConfiguration
import Foundation
import PushCore

/// The recipients of a bulk send, with the values that they bring: a value.
struct BulkRecipients {
    /// A device of the file, with the values of its line.
    struct Recipient: Hashable, Sendable {
        /// The line of the file, from 1.
        var line: Int
        /// The device token.
        var token: String
        /// The values by the names of their columns.
        var values: [String: String]
    }

    /// A line that cannot be used.
    struct Fault: Hashable, Sendable, CustomStringConvertible {
        var line: Int
        var reason: String
        var description: String { "line \(line): \(reason)" }
    }

    private(set) var recipients: [Recipient] = []
    private(set) var faults: [Fault] = []
    private var lines: [String: Int] = [:]

    /// Reads a file's text: JSON Lines where it begins with a brace, else CSV (RFC 4180) with a header.
    init(_ text: String) {
        // Some programs begin a file with the mark of its byte order.
        let text = text.first == "\u{FEFF}" ? String(text.dropFirst()) : text
        let first = text.first { !$0.isWhitespace }
        if first == "{" { readJSONLines(text) } else { readCSV(text) }
    }

    private mutating func readJSONLines(_ text: String) {
        for (index, line) in text.split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == "\n" || $0 == "\r\n" }
        )
        .enumerated() {
            guard !line.allSatisfy(\.isWhitespace) else { continue }
            do {
                guard let members = try JSONValue(Array(line.utf8)).members else {
                    faults.append(Fault(line: index + 1, reason: "it is not a JSON object"))
                    continue
                }
                add(Dictionary(members.map { ($0.name, $0.value.text ?? $0.value.json) }) { $1 }, line: index + 1)
            } catch {
                faults.append(Fault(line: index + 1, reason: "it is not JSON: \(error)"))
            }
        }
    }

    private mutating func readCSV(_ text: String) {
        var rows = CSVRows(text)
        guard let header = rows.next()?.fields, header.contains("token") else {
            faults.append(Fault(line: 1, reason: "the header has no column token"))
            return
        }
        while let row = rows.next() {
            guard row.fields.count == header.count else {
                faults.append(
                    Fault(line: row.line, reason: "it has \(row.fields.count) fields, and the header \(header.count)"))
                continue
            }
            add(Dictionary(zip(header, row.fields)) { $1 }, line: row.line)
        }
    }

    private mutating func add(_ values: [String: String], line: Int) {
        guard let token = values["token"], !token.isEmpty else {
            faults.append(Fault(line: line, reason: "there is no token"))
            return
        }
        guard token.utf8.count.isMultiple(of: 2), token.utf8.allSatisfy({ Hexadecimal.value($0) != nil }) else {
            faults.append(Fault(line: line, reason: "the token is not in hexadecimal digits"))
            return
        }
        if let earlier = lines.updateValue(line, forKey: token.lowercased()) {
            faults.append(Fault(line: line, reason: "the token is that of line \(earlier)"))
            return
        }
        recipients.append(Recipient(line: line, token: token, values: values))
    }
}

/// The rows of a CSV text (RFC 4180).
struct CSVRows: IteratorProtocol {
    private var rest: Substring
    private var line = 1

    init(_ text: String) { rest = text[...] }

    /// The next row that is not empty, with the line on which it begins.
    mutating func next() -> (line: Int, fields: [String])? {
        while let first = rest.first, first.isNewline { skip() }
        guard !rest.isEmpty else { return nil }
        let begin = line
        var fields = [field()]
        while let next = rest.first, !next.isNewline {
            // What follows a closing quotation mark is a field too many.
            if next == "," { rest.removeFirst() }
            fields.append(field())
        }
        return (begin, fields)
    }

    private mutating func skip() {
        rest.removeFirst()
        line += 1
    }

    private mutating func field() -> String {
        guard rest.first == "\"" else {
            let text = rest.prefix { $0 != "," && !$0.isNewline }
            rest = rest[text.endIndex...]
            return String(text)
        }
        rest.removeFirst()
        var text = ""
        while let character = rest.first {
            if character == "\"" {
                rest.removeFirst()
                guard rest.first == "\"" else { break }
            }
            if character.isNewline { line += 1 }
            text.append(character)
            rest.removeFirst()
        }
        return text
    }
}
