import Hummingbird
import NIOCore
import PushCore

/// The JSON object of a request's body. A member that is not known is refused, since it would be ignored silently.
package struct RequestDocument: Sendable {
    private let tree: JSONValue

    /// Reads the body of a request; an empty one has no members.
    package init(_ request: Request, members known: [String]) async throws {
        let bytes = Array(buffer: try await request.wholeBody())
        do { tree = bytes.isEmpty ? .object([]) : try JSONValue(object: bytes) } catch {
            throw ControlError.invalid("the body is no JSON object: \(error)")
        }
        if let unknown = tree.members?.first(where: { !known.contains($0.name) }) {
            throw ControlError.invalid(
                "there is no member \"\(unknown.name.prefix(40))\" here; there are \(known.joined(separator: ", "))")
        }
    }

    /// The text of a member; `nil` where it is missing or `null`.
    package func text(_ name: String) throws -> String? {
        guard let value = value(name) else { return nil }
        guard let text = value.text else { throw wrong(name, value, "a text would be right") }
        return text
    }

    /// The text of a member that must be there.
    ///
    /// - Parameter right: What would be right, for the refusal.
    package func text(required name: String, _ right: String) throws -> String {
        guard let text = try text(name), !text.isEmpty else {
            throw ControlError.invalid("\(name) is missing: \(right)")
        }
        return text
    }

    /// The number of a member within a range; `nil` where it is missing or `null`.
    package func number(_ name: String, in range: ClosedRange<Int>) throws -> Int? {
        guard let value = value(name) else { return nil }
        guard let number = value.integer, range.contains(Int(clamping: number)) else {
            throw wrong(name, value, "\(range.lowerBound) to \(range.upperBound) would be right")
        }
        return Int(clamping: number)
    }

    /// Whether a member is `true`; `nil` where it is missing or `null`.
    package func flag(_ name: String) throws -> Bool? {
        guard let value = value(name) else { return nil }
        guard let flag = value.isTrue else { throw wrong(name, value, "true or false would be right") }
        return flag
    }

    /// The texts of a list; `nil` where it is missing or `null`.
    package func texts(_ name: String) throws -> [String]? {
        guard let value = value(name) else { return nil }
        guard let texts = value.items.map({ $0.map(\.text) }), !texts.contains(nil) else {
            throw wrong(name, value, "a list of texts would be right")
        }
        return texts.compactMap(\.self)
    }

    /// A member that is one of a set of words; `nil` where it is missing or `null`.
    package func word<Word: RawRepresentable & CaseIterable>(_ name: String) throws -> Word?
    where Word.RawValue == String {
        guard let text = try text(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            throw wrong(
                name, .string(text), "\(Word.allCases.map(\.rawValue).joined(separator: ", ")) would be right")
        }
        return word
    }

    /// The team of a member that must be there.
    package func team() throws -> TeamID {
        let text = try text(required: "team", "ten characters A-Z0-9")
        guard TeamID.hasShape(text) else {
            throw wrong("team", .string(text), "ten characters A-Z0-9 would be right")
        }
        return TeamID(rawValue: text)
    }

    private func value(_ name: String) -> JSONValue? {
        guard let value = tree[name], value != .null else { return nil }
        return value
    }

    private func wrong(_ name: String, _ value: JSONValue, _ right: String) -> ControlError {
        .invalid("\(name) is \(value.text.map { "\"\($0.prefix(40))\"" } ?? value.kind); \(right)")
    }
}
