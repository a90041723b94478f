import PushCore

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

    /// A whole number of 32 bits; as a string too, as JSON has protobuf's numbers.
    mutating func integer(_ name: String) throws(FCMRejection) -> Int? {
        guard let value = take(name) else { return nil }
        let digits: String? = if case .number(let digits) = value { digits } else { value.text }
        guard let digits, let number = Int32(digits) else {
            throw .invalid(place(name), "must be a whole number of 32 bits, not \(value.kind)")
        }
        return Int(number)
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

    /// Reads a value of an enumeration, in either case.
    mutating func word(_ name: String, of words: [String]) throws(FCMRejection) -> String? {
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
        let parts = text.dropLast().split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        func areDigits(_ part: Substring) -> Bool { part.utf8.allSatisfy { (48...57).contains($0) } }
        guard text.hasSuffix("s"), let first = parts.first, !first.isEmpty, areDigits(first),
            parts.count == 1 || ((1...9).contains(parts[1].utf8.count) && areDigits(parts[1])), let whole = Int(first)
        else {
            throw .invalid(place(name), "must be a duration in seconds, like \"3.5s\", and not negative")
        }
        return whole
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
