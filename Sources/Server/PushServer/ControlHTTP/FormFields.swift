import HTTPTypes
import Hummingbird
import NIOCore

/// The fields of an `application/x-www-form-urlencoded` text (URL Standard, section 5.1), in their order.
///
/// Reading costs one pass over the bytes. A text over ``longest`` or ``mostFields`` is refused before anything is decoded.
package struct FormFields: Sendable {
    /// The longest form or query that is read, in bytes.
    package static let longest = 8192
    /// The highest number of fields that is read.
    package static let mostFields = 64

    private var fields: [(name: String, value: String)] = []

    /// Reads a body, or the part of an address after its question mark.
    ///
    /// - Throws: a refusal that names the limit.
    package init(_ text: some StringProtocol) throws(ControlError) {
        try self.init(bytes: Array(text.utf8))
    }

    /// Reads the bytes of a body.
    ///
    /// - Throws: a refusal that names the limit.
    package init(bytes: [UInt8]) throws(ControlError) {
        try Self.check(bytes)
        for part in bytes.split(separator: UInt8(ascii: "&")) {
            let equals = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            fields.append((Self.decode(part[..<equals]), Self.decode(part[equals...].dropFirst())))
        }
    }

    /// The names of the fields, in their order.
    package var names: [String] { fields.map(\.name) }

    /// The value of the first field with a name.
    package func first(_ name: String) -> String? { fields.first { $0.name == name }?.value }

    /// The values of all fields with a name, in their order.
    package func all(_ name: String) -> [String] { fields.filter { $0.name == name }.map(\.value) }

    /// Refuses a text that is too long or has too many fields, without decoding it.
    static func check(_ bytes: some Collection<UInt8>) throws(ControlError) {
        guard bytes.count <= longest else { throw tooLarge("\(bytes.count) bytes; \(longest) are allowed") }
        let separators = bytes.reduce(0) { $0 + ($1 == UInt8(ascii: "&") ? 1 : 0) }
        guard separators < mostFields else { throw tooLarge("\(separators + 1) fields; \(mostFields) are allowed") }
    }

    fileprivate static func tooLarge(_ size: String) -> ControlError {
        ControlError(status: .contentTooLarge, code: "tooLarge", message: "the form or query has \(size)")
    }

    /// Pluses are blanks, `%XX` is a byte; a percent sign without two digits stands for itself.
    private static func decode(_ bytes: ArraySlice<UInt8>) -> String {
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if byte == UInt8(ascii: "%"), index + 2 < bytes.endIndex,
                let high = digit(bytes[index + 1]), let low = digit(bytes[index + 2])
            {
                result.append(high << 4 | low)
                index += 3
            } else {
                result.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                index += 1
            }
        }
        return String(decoding: result, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}

extension Request {
    /// The body as a form.
    ///
    /// - Throws: a refusal; of a form that is too large, before all of it was read.
    package func form() async throws -> FormFields {
        try FormFields(bytes: Array(buffer: try await formBody()))
    }

    /// The bytes of a form, which nothing has read yet.
    ///
    /// - Throws: a refusal; of a form that is too large, before all of it was read.
    package func formBody() async throws -> ByteBuffer {
        do { return try await wholeBody(upTo: FormFields.longest) } catch let error as any HTTPResponseError
            where error.status == .contentTooLarge
        {
            throw FormFields.tooLarge("more than \(FormFields.longest) bytes; that many are allowed")
        }
    }
}

/// Refuses queries that are too long or have too many fields, before any handler reads them.
package struct QueryLimit<Context: RequestContext>: RouterMiddleware {
    /// Makes the middleware; it has no state.
    package init() {}

    /// Hands the request on, unless its query is too large.
    package func handle(
        _ request: Request, context: Context, next: (Request, Context) async throws -> Response
    ) async throws -> Response {
        if let query = request.uri.query { try FormFields.check(query.utf8) }
        return try await next(request, context)
    }
}
