import PushCore

/// A template that has been read: a JSON object whose strings may be expressions; or XML, whose attributes and texts may be.
package struct PushTemplate: Hashable, Sendable {
    /// A fault of a template, with the part and the place in it.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// `body`, `headers` or `expiry`, with the place there.
        package var part: String
        /// The fault, and what is expected instead.
        package var message: String
        package var description: String { "\(part): \(message)" }
    }

    /// A header field, or the expiry.
    struct Field: Hashable, Sendable {
        /// The field's name; of the expiry `expiry`.
        var name: String
        /// The template expression for the field's value.
        var value: TemplateExpression
        /// How many bytes the value was written in.
        var bytes: Int

        /// Reads a value.
        ///
        /// - Parameter part: The place in the template, for faults.
        init(_ name: String, _ text: String, at part: String) throws(Fault) {
            self.name = name
            do { value = try TemplateExpression(text) } catch { throw Fault(part: part, message: "\(error)") }
            bytes = text.utf8.count
        }
    }

    /// The template's name.
    package let name: String
    /// The tags by which it is addressed.
    package let tags: Set<TagName>
    /// The payload.
    let body: TemplateBody
    /// The header fields, in their order.
    let headers: [Field]
    /// The expiry; `nil` where there is none.
    let expiry: Field?

    /// Reads a template.
    ///
    /// - Parameter locale: The language of the text to be read; `nil` for the text without a language.
    package init(_ template: InstallationTemplate, locale: String? = nil) throws(Fault) {
        name = template.name
        tags = Self.tags(of: template)
        body = try TemplateBody(template.body(locale: locale))
        var headers: [Field] = []
        for member in template.headers {
            headers.append(try Field(member.name, member.value.text ?? "", at: "headers/\(member.name)"))
        }
        self.headers = headers
        expiry = try template.expiry.map { text throws(Fault) in try Field("expiry", text, at: "expiry") }
    }

    /// The tags by which a template is addressed, also one that cannot be read: its own and its name, where that can be one.
    package static func tags(of template: InstallationTemplate) -> Set<TagName> {
        Set(template.tags + [TagName(template.name)].compactMap { $0 })
    }

    /// The result of rendering a template.
    package struct Rendering: Hashable, Sendable {
        /// The payload: a JSON object, or XML.
        package var body: [UInt8]
        /// The header fields, by their names in lower case.
        package var headers: [String: String]
        /// The template's own time of expiry; `nil` where it has none.
        package var expiry: String?
    }

    /// Puts properties into the template.
    ///
    /// - Parameters:
    ///   - properties: By their names in lower case.
    ///   - limit: The most bytes of everything that is made; nothing is built beyond.
    package func rendered(
        _ properties: [String: String], limit: Int = mostBytes
    ) throws(Excess) -> Rendering {
        var output = TemplateOutput(limit: limit)
        try body.write(properties, into: &output)
        var fields: [String: String] = [:]
        for header in headers {
            fields[header.name.lowercased()] = try output.field(
                header.value, properties, at: "headers/\(header.name)")
        }
        let expiry = try expiry.map { field throws(Excess) in
            try output.field(field.value, properties, at: field.name)
        }
        return Rendering(body: output.body, headers: fields, expiry: expiry)
    }

    /// Reads the body of a template send: a flat object of strings.
    ///
    /// - Returns: The properties by their names in lower case.
    package static func properties(_ body: [UInt8]) throws(InstallationError) -> [String: String] {
        let tree: JSONValue
        do { tree = try JSONValue(body) } catch { throw InstallationError("", "the body is no JSON: \(error)") }
        guard let members = tree.members else {
            throw InstallationError("", "the properties are a JSON object of strings")
        }
        var result: [String: String] = [:]
        for member in members {
            switch member.value {
            case .string(let text): result[member.name.lowercased()] = text
            case .null: break
            default: throw InstallationError("/\(member.name)", "a property is a string; write it in quotation marks")
            }
        }
        return result
    }
}
