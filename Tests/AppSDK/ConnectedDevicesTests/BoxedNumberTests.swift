import Foundation
import RelayProtocol
import Testing

@testable import ConnectedDevices

/// Numbers in an `NSNumber`, as Objective-C's dictionaries and JSONSerialization have them.
@Suite struct BoxedNumberTests {
    /// A boxed number of each kind at its limits, and the value that is sent for it.
    static let kinds: [(NSNumber, RelayValue)] = [
        (NSNumber(value: true), .bool(true)), (NSNumber(value: false), .bool(false)),
        (NSNumber(value: 0), .integer(0)), (NSNumber(value: 1), .integer(1)), (NSNumber(value: 5), .integer(5)),
        (NSNumber(value: Int8.min), .integer(-128)), (NSNumber(value: Int8(1)), .integer(1)),
        (NSNumber(value: UInt8.max), .integer(255)), (NSNumber(value: Int16.min), .integer(-32_768)),
        (NSNumber(value: UInt16.max), .integer(65_535)), (NSNumber(value: Int32.min), .integer(-2_147_483_648)),
        (NSNumber(value: UInt32.max), .integer(4_294_967_295)), (NSNumber(value: Int64.min), .integer(.min)),
        (NSNumber(value: Int64.max), .integer(.max)), (NSNumber(value: UInt64(7)), .integer(7)),
        (NSNumber(value: 5.0), .double(5)), (NSNumber(value: Float(0.5)), .double(0.5)),
        (NSNumber(value: 1.0), .double(1)),
        (NSNumber(value: Double.greatestFiniteMagnitude), .double(1.797_693_134_862_315_7e308)),
    ]

    @Test(arguments: kinds.indices)
    func `a boxed number is sent as the kind that it is, alone, nested and in arrays`(index: Int) throws {
        let (number, expected) = Self.kinds[index]
        let message: ValueSet = ["a": number, "in": ["b": number], "list": [number, number]]
        let map = try ValueSetCoding.relay(message, limit: 65_536)
        #expect(map["a"] == expected)
        #expect(map["in"] == .dictionary(["b": expected]))
        #expect(map["list"] == .array([expected, expected]))
        let back = ValueSetCoding.values(map)
        let nested = try #require(back["in"] as? ValueSet)
        let list = try #require(back["list"] as? [any Sendable])
        #expect(list.count == 2)
        for received in [try #require(back["a"]), try #require(nested["b"])] + list {
            #expect(try ValueSetCoding.relay(["a": received], limit: 65_536)["a"] == expected)
            #expect(Self.boxed(received) == number)
        }
    }

    /// A received number, boxed as `NSNumber` has it.
    private static func boxed(_ value: Any) -> NSNumber? {
        switch value {
        case let value as Bool: NSNumber(value: value)
        case let value as Int64: NSNumber(value: value)
        case let value as Int: NSNumber(value: value)
        case let value as Double: NSNumber(value: value)
        default: nil
        }
    }

    @Test func `a boxed number above 64 bits with a sign is refused with its place`() throws {
        let fault = #expect(throws: ValueSetFault.self) {
            try ValueSetCoding.relay(["list": [NSNumber(value: UInt64.max)]], limit: 65_536)
        }
        #expect(fault?.path == "list[0]")
    }

    @Test func `what JSONSerialization reads keeps its kinds`() throws {
        let read = try JSONSerialization.jsonObject(with: Data(#"{"a":1,"b":true,"c":1.5,"d":9007199254740993}"#.utf8))
        let message = try #require(read as? [String: Any]).mapValues { $0 as? NSNumber ?? NSNumber(value: -1) }
        let map = try ValueSetCoding.relay(message, limit: 65_536)
        #expect(map == ["a": .integer(1), "b": .bool(true), "c": .double(1.5), "d": .integer(9_007_199_254_740_993)])
    }
}
