/// The most that a template, and what is put into it, may have.
///
/// They hold for what is put or sent from now on: what the store has from before stays readable.
package enum TemplateLimits {
    /// Bytes of an installation's templates together: names, texts in all languages, header fields and expirations.
    package static let templateBytes = 65_536
    /// Expressions in one text of a template; those that are joined count each.
    package static let expressions = 256
    /// Bytes of one expression.
    package static let expressionBytes = 4096
    /// Header fields of a template.
    package static let headers = 32
    /// Properties of a send, and push variables of an installation.
    package static let properties = 128
    /// Bytes of one property, and of an installation's push variables together.
    package static let propertyBytes = 16_384
}

extension InstallationTemplate {
    /// Bytes of the name, of the texts in all languages, of the header fields, the expiry and the tags.
    package var byteCount: Int {
        let fields = (headers + locales).reduce(0) { $0 + $1.name.utf8.count + ($1.value.text?.utf8.count ?? 0) }
        return name.utf8.count + body.utf8.count + fields + (expiry?.utf8.count ?? 0)
            + tags.reduce(0) { $0 + $1.text.utf8.count }
    }
}

extension PushTemplate {
    /// Refuses a template with more expressions or header fields, or longer ones, than are taken.
    package func checkLimits() throws(Fault) {
        let limits = TemplateLimits.self
        guard headers.count <= limits.headers else {
            throw Fault(
                part: "headers",
                message: "there are \(headers.count) header fields; at most \(limits.headers) are taken")
        }
        let count = body.expressionCount
        guard count <= limits.expressions else {
            throw Fault(
                part: "body", message: "there are \(count) expressions; at most \(limits.expressions) are taken")
        }
        let places = body.expressionSizes + headers.map { ("headers/\($0.name)", $0.bytes) }
        for (part, bytes) in places + (expiry.map { [("expiry", $0.bytes)] } ?? [])
        where bytes > limits.expressionBytes {
            throw Fault(
                part: part,
                message: "the expression has \(bytes) bytes; at most \(limits.expressionBytes) are taken")
        }
    }

    /// Reads the properties of a send, as ``properties(_:)`` does, and refuses more or longer ones than are taken.
    package static func checkedProperties(_ body: [UInt8]) throws(InstallationError) -> [String: String] {
        let found = try properties(body)
        guard found.count <= TemplateLimits.properties else {
            throw InstallationError(
                "", "there are \(found.count) properties; at most \(TemplateLimits.properties) are taken")
        }
        for (name, value) in found.sorted(by: { $0.key < $1.key })
        where value.utf8.count > TemplateLimits.propertyBytes {
            throw InstallationError(
                "/\(name)",
                "the property has \(value.utf8.count) bytes; at most \(TemplateLimits.propertyBytes) are taken")
        }
        return found
    }
}
