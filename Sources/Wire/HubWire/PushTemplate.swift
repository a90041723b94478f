/// A template that has been read: a JSON object whose strings may be expressions; or XML, whose attributes and texts may be.
///
/// Values are put into the parsed tree, so that none can end a string or add a member; into XML they are put escaped.
package struct PushTemplate: Hashable, Sendable {
    /// What was wrong with a template: in which part, and where there.
    package struct Fault: Error, Hashable, Sendable {
        /// `body`, `headers` or `expiry`.
        package var part: String
        /// What was wrong, and what would be right.
        package var message: String
    }

    private indirect enum Node: Hashable, Sendable {
        case constant(JSONTree)
        case expression(TemplateExpression)
        case array([Node])
        case object([Member])

        struct Member: Hashable, Sendable {
            var name: String
            var value: Node
        }
    }

    private enum Body: Hashable, Sendable {
        case json(Node)
        case xml(XMLTemplate)
    }

    private struct Header: Hashable, Sendable {
        var name: String
        var value: TemplateExpression
    }

    /// The template's name.
    package let name: String
    /// Its tags and its name, which counts as one where it can be one.
    package let tags: Set<TagName>
    private let body: Body
    private let headers: [Header]
    private let expiry: TemplateExpression?

    /// Reads a template.
    ///
    /// - Parameter locale: Whose text is read; `nil` for the one without a language.
    package init(_ template: InstallationTemplate, locale: String? = nil) throws(Fault) {
        name = template.name
        tags = Set(template.tags + [TagName(template.name)].compactMap { $0 })
        body = try Self.body(template.body(locale: locale))
        var headers: [Header] = []
        for member in template.headers {
            headers.append(
                Header(name: member.name, value: try Self.expression(member.value.text ?? "", "headers/\(member.name)"))
            )
        }
        self.headers = headers
        expiry = try template.expiry.map { text throws(Fault) in try Self.expression(text, "expiry") }
    }

    private static func body(_ text: String) throws(Fault) -> Body {
        if XMLTemplate.isXML(text) { return .xml(try XMLTemplate(text)) }
        let tree: JSONTree
        do { tree = try JSONTree(text: text) } catch {
            throw Fault(part: "body", message: "the body is no JSON: \(error)")
        }
        guard case .object = tree else { throw Fault(part: "body", message: "the body is to be a JSON object") }
        return .json(try node(tree, "body"))
    }

    private static func expression(_ text: String, _ part: String) throws(Fault) -> TemplateExpression {
        do { return try TemplateExpression(text) } catch { throw Fault(part: part, message: "\(error)") }
    }

    private static func node(_ tree: JSONTree, _ part: String) throws(Fault) -> Node {
        switch tree {
        case .null, .boolean, .number: return .constant(tree)
        case .string(let text):
            let expression = try expression(text, part)
            if case .literal = expression { return .constant(tree) }
            return .expression(expression)
        case .array(let items):
            var nodes: [Node] = []
            for (index, item) in items.enumerated() { nodes.append(try node(item, "\(part)/\(index)")) }
            return .array(nodes)
        case .object(let members):
            var nodes: [Node.Member] = []
            for member in members {
                nodes.append(Node.Member(name: member.name, value: try node(member.value, "\(part)/\(member.name)")))
            }
            return .object(nodes)
        }
    }

    /// What a template becomes.
    package struct Rendering: Hashable, Sendable {
        /// The payload: a JSON object, or XML.
        package var body: [UInt8]
        /// The header fields, by their names in lower case.
        package var headers: [String: String]
        /// The template's own word on when it expires; `nil` where it has none.
        package var expiry: String?
    }

    /// Puts properties into the template.
    ///
    /// - Parameter properties: By their names in lower case.
    package func rendered(_ properties: [String: String]) -> Rendering {
        let bytes =
            switch body {
            case .json(let node): Self.tree(node, properties).bytes
            case .xml(let template): template.rendered(properties)
            }
        return Rendering(
            body: bytes,
            headers: Dictionary(
                headers.map { ($0.name.lowercased(), $0.value.text(properties)) }, uniquingKeysWith: { $1 }),
            expiry: expiry?.text(properties))
    }

    private static func tree(_ node: Node, _ properties: [String: String]) -> JSONTree {
        switch node {
        case .constant(let tree): tree
        case .expression(let expression): expression.value(properties)
        case .array(let items): .array(items.map { tree($0, properties) })
        case .object(let members): .object(members.map { .init($0.name, tree($0.value, properties)) })
        }
    }

    /// Reads the body of a template send: a flat object of strings.
    ///
    /// - Returns: The properties by their names in lower case.
    package static func properties(_ body: [UInt8]) throws(InstallationFault) -> [String: String] {
        let tree: JSONTree
        do { tree = try JSONTree(body) } catch { throw InstallationFault("", "the body is no JSON: \(error)") }
        guard let members = tree.members else {
            throw InstallationFault("", "the properties are a JSON object of strings")
        }
        var result: [String: String] = [:]
        for member in members {
            switch member.value {
            case .string(let text): result[member.name.lowercased()] = text
            case .null: break
            default: throw InstallationFault("/\(member.name)", "a property is a string; write it in quotation marks")
            }
        }
        return result
    }
}
