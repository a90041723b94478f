import AppHost
import Foundation
import RelayProtocol

/// A message: names, and values of `String`, integers, `Double`, `Bool`, `Date`, `UUID`, `Data`, arrays of one of
/// these, and dictionaries of the same.
public typealias ValueSet = [String: any Sendable]

/// Why a message cannot be sent: the place in it, and what would be right.
public struct ValueSetFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The place, such as `photos[3]`; empty for the message itself.
    public let path: String
    /// The fault, for people.
    public let description: String
    /// Whether the message is larger than is allowed.
    let isTooLarge: Bool

    init(path: String, description: String, isTooLarge: Bool = false) {
        self.path = path
        self.description = description
        self.isTooLarge = isTooLarge
    }
}

/// Messages and what is sent of them.
enum ValueSetCoding {
    /// The values to be sent, examined as the agent examines them. A limit above the largest message's is that.
    static func relay(_ message: ValueSet, limit: Int) throws(ValueSetFault) -> RelayMap {
        var map: RelayMap = [:]
        for (name, value) in message { map[name] = try relay(value, name, depth: 1) }
        do throws(RelayFault) {
            let bytes = min(max(limit, 0), RelayLimits.largestMessage.bytes)
            _ = try RelayEncoder.encode(map, limits: RelayLimits(bytes: bytes))
        } catch {
            let isTooLarge = if case .tooLarge = error.problem { true } else { false }
            throw ValueSetFault(path: error.path, description: error.description, isTooLarge: isTooLarge)
        }
        return map
    }

    /// - Parameter depth: The number of dictionaries and arrays around the value. Values deeper than any message are
    ///   not read.
    private static func relay(_ value: Any, _ path: String, depth: Int) throws(ValueSetFault) -> RelayValue {
        guard depth <= RelayLimits.largestMessage.depth else {
            throw ValueSetFault(
                path: path, description: "\(path) is nested deeper than \(RelayLimits.largestMessage.depth) levels")
        }
        if let boxed = BoxedNumber(value) { return try relay(boxed, path) }
        switch value {
        case let value as RelayValue: return value
        case let value as String: return .string(value)
        case let value as Bool: return .bool(value)
        case let value as any FixedWidthInteger:
            guard let number = Int64(exactly: value) else { throw tooWide(path) }
            return .integer(number)
        case let value as Double: return .double(value)
        case let value as Float: return .double(Double(value))
        case let value as Date:
            let milliseconds = (value.timeIntervalSince1970 * 1000).rounded()
            guard let exact = Int64(exactly: milliseconds) else {
                throw ValueSetFault(path: path, description: "\(path) is a date that is too far away")
            }
            return .date(milliseconds: exact)
        case let value as UUID: return .uuid(value)
        case let value as Data: return .data([UInt8](value))
        // Swift casts an empty array of any type to bytes.
        case let bytes as [UInt8] where type(of: value) == [UInt8].self || type(of: value) == [UInt8]?.self:
            return .data(bytes)
        case let value as [String: Any]:
            var map: RelayMap = [:]
            for (name, element) in value { map[name] = try relay(element, "\(path).\(name)", depth: depth + 1) }
            return .dictionary(map)
        case let value as [Any]:
            var values: [RelayValue] = []
            for (index, element) in value.enumerated() {
                values.append(try relay(element, "\(path)[\(index)]", depth: depth + 1))
            }
            return .array(values)
        default:
            throw ValueSetFault(
                path: path, description: "\(path) is of the type \(type(of: value)), which cannot be sent")
        }
    }

    private static func relay(_ number: BoxedNumber, _ path: String) throws(ValueSetFault) -> RelayValue {
        switch number {
        case .bool(let value): .bool(value)
        case .integer(let value): .integer(value)
        case .largeInteger: throw tooWide(path)
        case .double(let value): .double(value)
        }
    }

    private static func tooWide(_ path: String) -> ValueSetFault {
        ValueSetFault(path: path, description: "\(path) needs more than 64 bits with a sign")
    }

    /// The received values as Swift's own types: whole numbers as `Int`, data as `Data`.
    static func values(_ map: RelayMap) -> ValueSet { map.mapValues(value) }

    private static func value(_ value: RelayValue) -> any Sendable {
        switch value {
        case .string(let text): text
        case .integer(let number): Int(number)
        case .double(let number): number
        case .bool(let flag): flag
        case .date(let milliseconds): Date(timeIntervalSince1970: Double(milliseconds) / 1000)
        case .uuid(let id): id
        case .data(let bytes): Data(bytes)
        case .array(let values): values.map(self.value)
        case .dictionary(let map): Self.values(map)
        }
    }
}
