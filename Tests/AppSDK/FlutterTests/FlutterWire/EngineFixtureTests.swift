import AldabaTestSupport
import Flutter
import Foundation
import Testing

/// What Flutter's engine itself wrote (`Tests/Interop/flutter_engine.py`).
@Suite struct EngineFixtureTests {
    struct Line: Sendable, CustomTestStringConvertible {
        var value: StandardValue
        var message: String
        var call: String
        var success: String
        var testDescription: String { String(message.prefix(40)) }
    }

    @Test("a value, a call with it and its envelope are the engine's", arguments: try lines())
    func engine(_ line: Line) throws {
        var writer = StandardWriter()
        writer.write(line.value)
        #expect(Self.hex(writer.bytes) == line.message)
        #expect(Self.hex(StandardMethodCall("m", line.value).message) == line.call)
        #expect(Self.hex(StandardMethodReply.success(line.value).message) == line.success)
        #expect(try StandardReader.value(of: writer.bytes) == line.value)
    }

    private static func hex(_ bytes: [UInt8]) -> String { bytes.map { String(format: "%02x", $0) }.joined() }

    static func lines() throws -> [Line] {
        let file = Repository.fixture("flutter/standard-codec.json")
        let lines = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [[String: Any]])
        return try lines.map { line in
            func text(_ key: String) throws -> String { try #require(line[key] as? String) }
            return Line(
                value: try value(line["value"]), message: try text("message"), call: try text("call"),
                success: try text("success"))
        }
    }

    private static func value(_ tagged: Any?) throws -> StandardValue {
        let pair = try #require(tagged as? [Any])
        let kind = try #require(pair.first as? String)
        func numbers() throws -> [NSNumber] { try #require(pair[1] as? [NSNumber]) }
        func number() throws -> NSNumber { try #require(pair[1] as? NSNumber) }
        switch kind {
        case "null": return .null
        case "bool": return .bool(try number().boolValue)
        case "int": return .integer(try number().int64Value)
        case "float": return .double(try number().doubleValue)
        case "string": return .string(try #require(pair[1] as? String))
        case "bytes": return .bytes(try numbers().map(\.uint8Value))
        case "int32s": return .int32List(try numbers().map(\.int32Value))
        case "int64s": return .int64List(try numbers().map(\.int64Value))
        case "float32s": return .floatList(try numbers().map(\.floatValue))
        case "floats": return .doubleList(try numbers().map(\.doubleValue))
        case "list": return .list(try #require(pair[1] as? [Any]).map(value))
        case "map":
            return .map(
                try #require(pair[1] as? [[Any]]).map { StandardPair(try value($0[0]), try value($0[1])) })
        default: throw CocoaError(.coderInvalidValue)
        }
    }
}
