import AldabaConfiguration
import Foundation
import HubProtocol
import PushCore
import RelayProtocol

/// Messages as JSON, for terminals. Dates, UUIDs and data become texts.
enum RelayJSON {
    /// Reads the message that a person gives, and examines it as the agent does.
    ///
    /// - Parameters:
    ///   - text: A JSON object; `-` for one on standard input.
    ///   - limit: The most bytes of the message, up to ``RelayLimits/largestMessage``.
    static func message(_ text: String, limit: Int) throws -> RelayMap {
        try examined(try map(bytes(of: text)), limit: limit)
    }

    /// The content of a document as a user writes it; `-` means standard input. Its size is not checked.
    static func document(_ text: String) throws -> RelayMap { try map(bytes(of: text, "content"), of: "content") }

    private static func bytes(of text: String, _ whole: String = "message") throws -> [UInt8] {
        var bytes = Array(text.utf8)
        if text == "-" {
            let input = try FileHandle.standardInput.read(upToCount: longestText + 1) ?? Data()
            guard input.count <= longestText else {
                throw CommandError(
                    .invalidInput, "the \(whole) on standard input is longer than \(longestText) bytes")
            }
            bytes = Array(input)
        }
        return bytes
    }

    /// The most bytes of a JSON text; each byte of a message may be written by six.
    private static let longestText = 2 << 20

    /// A message that can be sent: neither too large nor too deep, its arrays of one kind.
    static func examined(_ map: RelayMap, limit: Int) throws -> RelayMap {
        let most = RelayLimits.largestMessage.bytes
        guard (1...most).contains(limit) else { throw CommandError(.invalidInput, "--limit is 1 to \(most) bytes") }
        do throws(RelayFault) {
            _ = try RelayEncoder.encode(map, limits: RelayLimits(bytes: limit))
            return map
        } catch {
            var words = "\(error)"
            if case .tooLarge(let bytes, _) = error.problem, bytes <= most { words += ", or give --limit \(most)" }
            throw CommandError(.invalidInput, words)
        }
    }

    /// Reads a JSON object. A number with a point or an exponent is a double, any other an integer.
    static func map(_ bytes: [UInt8], of whole: String = "message") throws -> RelayMap {
        let tree: JSONValue
        do throws(JSONScanner.Fault) { tree = try JSONValue(bytes) } catch {
            throw CommandError(.invalidInput, "the \(whole) is no JSON: \(error)")
        }
        guard case .object(let members) = tree else {
            throw CommandError(.invalidInput, "the \(whole) must be a JSON object, such as {\"on\": true}")
        }
        return try map(members, "")
    }

    private static func map(_ members: [JSONValue.Member], _ path: String) throws -> RelayMap {
        var map: RelayMap = [:]
        for member in members {
            let place = path.isEmpty ? member.name : "\(path).\(member.name)"
            guard map.updateValue(try value(member.value, place), forKey: member.name) == nil else {
                throw CommandError(.invalidInput, "\(place): the name stands twice")
            }
        }
        return map
    }

    private static func value(_ tree: JSONValue, _ path: String) throws -> RelayValue {
        switch tree {
        case .null: throw CommandError(.invalidInput, "\(path) is null, which is no value of a message")
        case .boolean(let flag): return .bool(flag)
        case .string(let text): return .string(text)
        case .number(let text): return try number(text, path)
        case .array(let items):
            return .array(try items.enumerated().map { try value($1, "\(path)[\($0)]") })
        case .object(let members): return .dictionary(try map(members, path))
        }
    }

    private static func number(_ text: String, _ path: String) throws -> RelayValue {
        guard text.contains(where: { ".eE".contains($0) }) else {
            guard let number = Int64(text) else {
                throw CommandError(.invalidInput, "\(path) has more than 64 bits; a double has a point, such as 1.0")
            }
            return .integer(number)
        }
        guard let number = Double(text), number.isFinite else {
            throw CommandError(.invalidInput, "\(path) is larger than a double can be")
        }
        return .double(number)
    }

    /// A message as one line; its names in order, a double always with a point or an exponent.
    static func text(_ map: RelayMap) -> String { tree(.dictionary(map)).json }

    private static func tree(_ value: RelayValue) -> JSONValue {
        switch value {
        case .string(let text): return .string(text)
        case .integer(let number): return .number("\(number)")
        case .double(let number): return number.isFinite ? .number("\(number)") : .string("\(number)")
        case .bool(let flag): return .boolean(flag)
        case .date(let milliseconds):
            let date = Date(timeIntervalSince1970: Double(milliseconds) / 1000)
            return .string(date.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true)))
        case .uuid(let id): return .string(id.uuidString.lowercased())
        case .data(let bytes): return .string(Data(bytes).base64EncodedString())
        case .array(let values): return .array(values.map(tree))
        case .dictionary(let map):
            return .object(map.sorted { $0.key < $1.key }.map { JSONValue.Member($0.key, tree($0.value)) })
        }
    }
}
