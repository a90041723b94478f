import PushCore
import RegexBuilder

/// Takes the fields of one object of a request, in camelCase or snake_case, and tracks the object's path.
///
/// A field that was not taken is one that the API does not have: ``end()`` refuses it.
struct FieldReader {
    /// The object's place in the request: `message.android`.
    let path: String
    private var fields: [String: JSONValue] = [:]

    init(_ value: JSONValue, at path: String) throws(FCMRejection) {
        self.path = path
        guard let members = value.members else { throw .invalid(path, "must be an object, not \(value.kind)") }
        for member in members {
            let name = Self.snakeCase(member.name)
            guard fields.updateValue(member.value, forKey: name) == nil else {
                throw .invalid(place(name), "is given twice")
            }
        }
    }

    /// The place of one of the fields.
    func place(_ name: String) -> String { path.isEmpty ? name : "\(path).\(name)" }

    private static func snakeCase(_ name: String) -> String {
        var result = ""
        for scalar in name.unicodeScalars {
            if ("A"..."Z").contains(scalar) {
                result += "_" + String(scalar).lowercased()
            } else {
                result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// Refuses what was not taken.
    func end() throws(FCMRejection) {
        guard let name = fields.keys.sorted().first else { return }
        throw .invalid(place(String(name.prefix(64))), "the API has no such field")
    }

    /// A field's value; `null` is as good as absent.
    mutating func take(_ name: String) -> JSONValue? {
        guard let value = fields.removeValue(forKey: name), value != .null else { return nil }
        return value
    }

    mutating func object(_ name: String) throws(FCMRejection) -> FieldReader? {
        guard let value = take(name) else { return nil }
        return try FieldReader(value, at: place(name))
    }

    mutating func string(_ name: String) throws(FCMRejection) -> String? {
        guard let value = take(name) else { return nil }
        guard let text = value.text else { throw .invalid(place(name), "must be a string, not \(value.kind)") }
        return text
    }

    mutating func boolean(_ name: String) throws(FCMRejection) -> Bool? {
        guard let value = take(name) else { return nil }
        guard case .boolean(let isTrue) = value else {
            throw .invalid(place(name), "must be true or false, not \(value.kind)")
        }
        return isTrue
    }

    /// A whole number of 32 bits as JSON has protobuf's: `3`, `3.0`, `3e0`, and each of them as a string.
    mutating func integer(_ name: String) throws(FCMRejection) -> Int? {
        guard let value = take(name) else { return nil }
        guard let number = Self.number(value).flatMap(Int32.init(exactly:)) else {
            throw .invalid(place(name), "must be a whole number of 32 bits, not \(value.kind)")
        }
        return Int(number)
    }

    /// The number of a JSON number, or of a string that is one.
    private static func number(_ value: JSONValue) -> Double? {
        let text: String? = if case .number(let digits) = value { digits } else { value.text }
        guard let text, text.utf8.allSatisfy({ "+-.eE0123456789".utf8.contains($0) }) else { return nil }
        return Double(text)
    }

    /// A part of a colour, 0 to 1.
    mutating func fraction(_ name: String) throws(FCMRejection) {
        guard let value = take(name) else { return }
        guard let number = Self.number(value), (0...1).contains(number) else {
            throw .invalid(place(name), "must be a number from 0 to 1")
        }
    }

    /// An instant as RFC 3339 has it, with up to nine digits behind the point.
    mutating func instant(_ name: String) throws(FCMRejection) {
        guard let text = try string(name), !text.isEmpty else { return }
        guard text.wholeMatch(of: Self.instantShape) != nil else {
            throw .invalid(place(name), "must be an instant like \"2030-01-31T09:30:00Z\"")
        }
    }

    private static var instantShape: Regex<Substring> {
        let date = /\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])/
        let time = /T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,9})?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)/
        return Regex {
            date
            time
        }
    }

    mutating func strings(_ name: String) throws(FCMRejection) -> [String]? {
        guard let value = take(name) else { return nil }
        guard case .array(let elements) = value else {
            throw .invalid(place(name), "must be an array of strings, not \(value.kind)")
        }
        var texts: [String] = []
        for (index, element) in elements.enumerated() {
            guard let text = element.text else {
                throw .invalid("\(place(name))[\(index)]", "must be a string, not \(element.kind)")
            }
            texts.append(text)
        }
        return texts
    }

    /// Durations, each as ``seconds(_:)`` reads one.
    mutating func durations(_ name: String) throws(FCMRejection) {
        for (index, text) in (try strings(name) ?? []).enumerated() {
            guard Self.wholeSeconds(text) != nil else {
                throw .invalid("\(place(name))[\(index)]", Self.durationRule)
            }
        }
    }

    /// A map of strings, in the order of its names.
    mutating func map(_ name: String) throws(FCMRejection) -> [String: String]? {
        guard let value = take(name) else { return nil }
        guard let members = value.members else { throw .invalid(place(name), "must be an object, not \(value.kind)") }
        var map: [String: String] = [:]
        for member in members {
            let place = "\(place(name))[\(member.name.prefix(64))]"
            guard let text = member.value.text else {
                throw .invalid(place, "must be a string, not \(member.value.kind)")
            }
            guard map.updateValue(text, forKey: member.name) == nil else { throw .invalid(place, "is given twice") }
        }
        return map
    }

    /// Reads a value of an enumeration, in either case or by its number, which is its place in the list.
    mutating func word(_ name: String, of words: [String]) throws(FCMRejection) -> String? {
        if case .number? = fields[name] {
            guard let number = try integer(name), words.indices.contains(number) else {
                throw .invalid(
                    place(name), "must be one of \(words.joined(separator: ", ")), or 0 to \(words.count - 1)")
            }
            return words[number]
        }
        guard let text = try string(name)?.uppercased() else { return nil }
        guard words.contains(text) else {
            throw .invalid(place(name), "must be one of \(words.joined(separator: ", "))")
        }
        return text
    }

    /// A duration as JSON has protobuf's: seconds with up to nine digits behind the point, then `s`. Whole seconds are
    /// kept.
    mutating func seconds(_ name: String) throws(FCMRejection) -> Int? {
        guard let text = try string(name) else { return nil }
        guard let whole = Self.wholeSeconds(text) else { throw .invalid(place(name), Self.durationRule) }
        return whole
    }

    private static let durationRule = "must be a duration in seconds, like \"3.5s\", and not negative"

    private static func wholeSeconds(_ text: String) -> Int? {
        let parts = text.dropLast().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        func areDigits(_ part: Substring) -> Bool { part.utf8.allSatisfy { (48...57).contains($0) } }
        guard text.hasSuffix("s"), let first = parts.first, !first.isEmpty, areDigits(first),
            parts.count == 1 || ((1...9).contains(parts[1].utf8.count) && areDigits(parts[1]))
        else { return nil }
        return Int(first)
    }

    /// An analytics label.
    mutating func label(_ name: String) throws(FCMRejection) -> String? {
        guard let text = try string(name), !text.isEmpty else { return nil }
        guard text.utf8.count <= 50, text.utf8.allSatisfy(FCMTarget.isTopicByte) else {
            throw .invalid(place(name), "must be 1 to 50 of the characters a-z A-Z 0-9 - _ . ~ %")
        }
        return text
    }
}
