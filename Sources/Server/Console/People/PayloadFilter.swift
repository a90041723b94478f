import HTTPTypes
import Hummingbird
import NIOCore
import PushCore

/// Takes out of answers what notifications say, for people who may not read it.
enum PayloadFilter {
    /// The members of answers that hold texts or payloads of notifications, or the bodies of requests.
    private static let names: Set = [
        "payload", "title", "subtitle", "body", "text", "alert", "aps", "notification", "data", "content", "variants",
        "properties", "templates",
    ]

    /// Members of these names that hold facts, beside a payload.
    private static let kept: Set = ["content"]

    /// The parameters of queries that would tell by their answers what notifications say.
    static let parameters: Set = ["text"]

    /// An answer without texts and payloads.
    static func filtered(_ value: JSONValue) -> JSONValue {
        switch value {
        case .array(let items): .array(items.map(filtered))
        case .object(let members):
            .object(
                members.compactMap { member in
                    guard names.contains(member.name) else { return .init(member.name, filtered(member.value)) }
                    guard kept.contains(member.name), member.value.members != nil else { return nil }
                    return .init(member.name, filtered(member.value))
                })
        case .null, .boolean, .number, .string: value
        }
    }

    /// The body of a stream of events without texts and payloads.
    static func filtered(_ body: ResponseBody) -> ResponseBody {
        ResponseBody { writer in try await body.write(EventFilter(writer)) }
    }
}

/// Filters the data of events, line by line.
private struct EventFilter: ResponseBodyWriter {
    private var writer: any ResponseBodyWriter
    private var rest: [UInt8] = []

    init(_ writer: any ResponseBodyWriter) { self.writer = writer }

    mutating func write(_ buffer: ByteBuffer) async throws {
        rest += buffer.readableBytesView
        var output: [UInt8] = []
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            output += Self.filtered(rest[..<end]) + [UInt8(ascii: "\n")]
            rest.removeSubrange(...end)
        }
        if !output.isEmpty { try await writer.write(ByteBuffer(bytes: output)) }
    }

    private static func filtered(_ line: ArraySlice<UInt8>) -> [UInt8] {
        let head = Array("data: ".utf8)
        guard line.starts(with: head) else { return Array(line) }
        guard let value = try? JSONValue(line.dropFirst(head.count)) else { return head + Array("{}".utf8) }
        return head + PayloadFilter.filtered(value).bytes
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws { try await writer.finish(trailingHeaders) }
}
