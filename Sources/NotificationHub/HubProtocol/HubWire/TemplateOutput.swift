import PushCore

extension PushTemplate {
    /// A rendering that would have more bytes than are taken.
    package struct Excess: Error, Hashable, Sendable, CustomStringConvertible {
        /// The place in the template that did not fit: `body/aps/alert`.
        package var part: String
        /// How many bytes were built before it, the limit at most.
        package var offset: Int
        /// The limit in bytes.
        package var limit: Int
        package var description: String {
            "\(part): the rendering would have more than \(limit) bytes; this begins at byte \(offset)"
        }
    }

    /// The most bytes of a rendering: payload, header fields and expiry. Of what push services take, the largest is a message of
    /// FCM's with a part for each kind of device, of 4,096 bytes each; the limit is twice that.
    package static let mostBytes = 32_768
}

/// The bytes of a rendering while it is built, which stops at a limit.
struct TemplateOutput {
    /// The most bytes.
    let limit: Int
    /// The payload so far.
    private(set) var body: [UInt8] = []
    private var fieldBytes = 0
    /// The place of the last expression in the payload, which stands for the bytes behind it.
    private var part = "body"

    /// An output of nothing.
    init(limit: Int) { self.limit = limit }

    /// How many bytes were built.
    private var count: Int { body.count + fieldBytes }
    /// How many bytes may follow.
    var left: Int { limit - count }

    private func excess(at part: String, _ offset: Int) -> PushTemplate.Excess {
        PushTemplate.Excess(part: part, offset: offset, limit: limit)
    }

    /// Appends bytes as they are.
    mutating func append(_ bytes: [UInt8]) throws(PushTemplate.Excess) {
        guard bytes.count <= left else { throw excess(at: part, count) }
        body += bytes
    }

    /// Appends a value of JSON; `nil` for one that would be too large.
    mutating func append(_ value: JSONValue?, at part: String) throws(PushTemplate.Excess) {
        let offset = count
        guard let value else { throw excess(at: part, offset) }
        value.write(into: &body)
        guard left >= 0 else { throw excess(at: part, offset) }
        self.part = part
    }

    /// Appends a text, escaped for an element or an attribute of XML in either kind of quotation marks; `nil` for one that would be
    /// too large.
    mutating func append(escaped text: String?, at part: String) throws(PushTemplate.Excess) {
        let offset = count
        guard let text else { throw excess(at: part, offset) }
        body += XMLElement.escaped(text).replacing("'", with: "&apos;").utf8
        guard left >= 0 else { throw excess(at: part, offset) }
        self.part = part
    }

    /// The text of a header field, or of the expiry, which counts as well.
    mutating func field(
        _ value: TemplateExpression, _ properties: [String: String], at part: String
    ) throws(PushTemplate.Excess) -> String {
        guard let text = value.text(properties, limit: left) else { throw excess(at: part, count) }
        fieldBytes += text.utf8.count
        return text
    }
}
