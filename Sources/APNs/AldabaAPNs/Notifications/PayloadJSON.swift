import Foundation
import PushCore

/// The fault of a payload's content.
public struct APNsPayloadFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The fault in plain English.
    public let description: String
}

/// Writes payloads: the dictionary `aps` and the app's own keys beside it.
enum PayloadJSON {
    /// The bytes of a payload.
    ///
    /// - Parameter custom: A value that is encoded as an object, whose members are the app's own keys.
    static func bytes(aps: JSONValue?, custom: (any Encodable)?) throws(APNsPayloadFault) -> [UInt8] {
        var members: [JSONValue.Member] = []
        if let aps { members.append(.init("aps", aps)) }
        if let custom {
            guard let own = try value(custom).members else {
                throw APNsPayloadFault(description: "the app's own keys are not encoded as an object")
            }
            guard aps == nil || !own.contains(where: { $0.name == "aps" }) else {
                throw APNsPayloadFault(description: "aps is among the app's own keys")
            }
            members += own
        }
        return JSONValue.object(members).bytes
    }

    /// The JSON that a value is encoded as. Dates are encoded as `JSONDecoder` reads them without being told how.
    static func value(_ value: any Encodable) throws(APNsPayloadFault) -> JSONValue {
        do { return try JSONValue(Array(JSONEncoder().encode(value))) } catch {
            throw APNsPayloadFault(description: "a value cannot be encoded as JSON: \(error)")
        }
    }
}

extension JSONValue {
    /// Sets a member to a text, unless it is `nil`.
    mutating func put(_ name: String, _ text: String?) {
        if let text { set(name, .string(text)) }
    }

    /// Sets a member to a number, unless it is `nil`.
    mutating func put(_ name: String, _ number: Int?) {
        if let number { set(name, .number(String(number))) }
    }

    /// Sets a member to a number, unless it is `nil` or no finite one.
    mutating func put(_ name: String, _ number: Double?) {
        if let number, number.isFinite { set(name, .number("\(number)")) }
    }

    /// Sets a member to whole seconds since 1970, unless the time is `nil`.
    mutating func put(_ name: String, _ date: Date?) {
        if let date { set(name, .number(String(Int64(min(max(0, date.timeIntervalSince1970), 253_402_300_799))))) }
    }

    /// Sets a member to a list of texts, unless it is empty.
    mutating func put(_ name: String, _ texts: [String]) {
        if !texts.isEmpty { set(name, .array(texts.map { .string($0) })) }
    }
}
