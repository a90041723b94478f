import Hummingbird
import NIOCore
import PushCore

/// Turns each server-sent event of the API into events of a page.
struct EventConverter: ResponseBodyWriter {
    private var writer: any ResponseBodyWriter
    private let convert: @Sendable (_ name: Substring, _ data: JSONValue) -> String
    private var rest = ""

    /// - Parameter convert: Makes the page's events of an event's name and data.
    init(
        writer: any ResponseBodyWriter, convert: @escaping @Sendable (_ name: Substring, _ data: JSONValue) -> String
    ) {
        self.writer = writer
        self.convert = convert
    }

    mutating func write(_ buffer: ByteBuffer) async throws {
        rest += String(buffer: buffer)
        var output = ""
        while let end = rest.firstRange(of: "\n\n") {
            output += converted(rest[..<end.lowerBound])
            rest = String(rest[end.upperBound...])
        }
        if !output.isEmpty { try await writer.write(ByteBuffer(string: output)) }
    }

    /// An event without data, such as a comment, stays as it is.
    private func converted(_ event: Substring) -> String {
        let lines = event.split(separator: "\n")
        guard let data = lines.first(where: { $0.hasPrefix("data: ") })?.dropFirst(6),
            let name = lines.first(where: { $0.hasPrefix("event: ") })?.dropFirst(7),
            let json = try? JSONValue(text: String(data))
        else { return "\(event)\n\n" }
        return convert(name, json)
    }

    consuming func finish(_ trailingHeaders: HTTPFields?) async throws { try await writer.finish(trailingHeaders) }

    /// A part of a page as an event for the script of fragments.
    static func fragment(_ id: String, _ html: String) -> String {
        let data = JSONValue.object([.init("id", .string(id)), .init("html", .string(html))])
        return "event: fragment\ndata: \(data.json)\n\n"
    }
}
