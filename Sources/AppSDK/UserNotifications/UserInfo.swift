import AgentProtocol
import AppHost
import Foundation

/// Why a notification cannot go to the agent.
struct UnsendableContent: Error {
    /// The text for people.
    let sentence: String

    /// The error that apps get.
    var error: any Error {
        CocoaError(.coderInvalidValue, userInfo: [NSLocalizedDescriptionKey: sentence])
    }
}

extension NotificationContent.UserInfo {
    /// Encodes an app's own data: as JSON where JSON can represent it exactly, else as a property list.
    init(_ userInfo: [AnyHashable: Any]) throws(UnsendableContent) {
        guard !userInfo.isEmpty else {
            self = .json("{}")
            return
        }
        let plain = try PlainValue.dictionary(userInfo, at: "userInfo")
        if let text = Self.json(plain) {
            self = .json(text)
        } else if let list = try? PropertyListSerialization.data(
            fromPropertyList: plain, format: .binary, options: 0), !PlainValue.holdsNull(plain)
        {
            self = .propertyList(list)
        } else {
            throw UnsendableContent(sentence: "userInfo holds NSNull beside dates or data, which no format has.")
        }
    }

    private static func json(_ plain: [String: Any]) -> String? {
        guard JSONSerialization.isValidJSONObject(plain),
            let data = try? JSONSerialization.data(withJSONObject: plain, options: .sortedKeys),
            let again = try? JSONSerialization.jsonObject(with: data) as? [String: Any],
            PlainValue.areEqual(again, plain)
        else { return nil }
        return String(decoding: data, as: UTF8.self)
    }

    /// The members; none where it is neither a JSON object nor a dictionary.
    var dictionary: [AnyHashable: Any] {
        switch self {
        case .json(let text):
            JSONSerialization.exactObject(text) ?? [:]
        case .propertyList(let data):
            (try? PropertyListSerialization.propertyList(from: data, options: [], format: nil)) as? [String: Any] ?? [:]
        }
    }
}

extension NotificationContent.UserInfo {
    /// Whether two dictionaries have equal values.
    static func areEqual(_ one: [AnyHashable: Any], _ other: [AnyHashable: Any]) -> Bool {
        PlainValue.areEqual(one, other)
    }
}

/// Values with the types that Foundation's formats know.
private enum PlainValue {
    static func dictionary(_ value: [AnyHashable: Any], at place: String) throws(UnsendableContent) -> [String: Any] {
        var plain: [String: Any] = [:]
        for (key, member) in value {
            guard let name = key.base as? String ?? (key.base as? NSString).map(String.init(describing:)) else {
                throw UnsendableContent(sentence: "A key in \(place) is a \(type(of: key.base)); keys must be texts.")
            }
            plain[name] = try make(member, at: "\(place)[\"\(name)\"]")
        }
        return plain
    }

    private static func make(_ value: Any, at place: String) throws(UnsendableContent) -> Any {
        let value = withoutOptional(value)
        switch value {
        case let value as AnyHashable where !(value.base is AnyHashable):
            return try scalar(withoutOptional(value.base), at: place)
        default: return try scalar(value, at: place)
        }
    }

    private static func scalar(_ value: Any, at place: String) throws(UnsendableContent) -> Any {
        switch value {
        case let text as String: return text
        case let text as NSString: return String(describing: text)
        case let number as NSNumber: return number
        case let number as any BinaryInteger & Sendable: return try integer(number, at: place)
        case is Bool, is Double, is Float, is Date, is Data, is NSNull: return value
        case let data as NSData: return data as Data
        case let date as NSDate: return date as Date
        case let members as [AnyHashable: Any]: return try dictionary(members, at: place)
        case let items as [Any]:
            var plain: [Any] = []
            for (index, item) in items.enumerated() { plain.append(try make(item, at: "\(place)[\(index)]")) }
            return plain
        default:
            throw UnsendableContent(
                sentence: "\(place) is a \(type(of: value)); only texts, numbers, dates, data, and arrays and "
                    + "dictionaries of these can be kept in a notification.")
        }
    }

    private static func integer(_ number: some BinaryInteger, at place: String) throws(UnsendableContent) -> Any {
        if let value = Int64(exactly: number) { return NSNumber(value: value) }
        if let value = UInt64(exactly: number) { return NSNumber(value: value) }
        throw UnsendableContent(sentence: "\(place) is a number beyond 64 bits.")
    }

    /// Whether two values are equal. Foundation's dictionaries on Linux do not compare them so: to them a Swift number
    /// and an `NSNumber` always differ.
    static func areEqual(_ one: Any, _ other: Any) -> Bool {
        switch (unwrapped(one), unwrapped(other)) {
        case (let one as [AnyHashable: Any], let other as [AnyHashable: Any]):
            one.count == other.count
                && one.allSatisfy { key, value in other[key].map { areEqual(value, $0) } ?? false }
        case (let one as [Any], let other as [Any]):
            one.count == other.count && zip(one, other).allSatisfy { areEqual($0, $1) }
        case (let one as String, let other as String): one == other
        case (let one as NSNumber, let other as NSNumber): one == other
        case (let one as Date, let other as Date): one == other
        case (let one as Data, let other as Data): one == other
        case (let one as AnyHashable, let other as AnyHashable): one == other
        default: false
        }
    }

    private static func unwrapped(_ value: Any) -> Any {
        let value = withoutOptional(value)
        return withoutOptional((value as? AnyHashable)?.base ?? value)
    }

    /// The value in an optional, and `NSNull` for `nil`, as Swift bridges it (SE-0140); any other value as it is.
    private static func withoutOptional(_ value: Any) -> Any {
        var value = value
        while case let mirror = Mirror(reflecting: value), mirror.displayStyle == .optional {
            value = mirror.children.first?.value ?? NSNull()
        }
        return value
    }

    static func holdsNull(_ value: Any) -> Bool {
        switch value {
        case is NSNull: true
        case let members as [String: Any]: members.values.contains(where: holdsNull)
        case let items as [Any]: items.contains(where: holdsNull)
        default: false
        }
    }
}
