import PushCore

/// The payload of a template: expressions, and the bytes between them.
///
/// Values are escaped as the payload's form asks for, so that none ends a string, adds a member or ends an element.
struct TemplateBody: Hashable, Sendable {
    /// A kind of payload.
    enum Form: Hashable, Sendable {
        /// A JSON object.
        case json
        /// One element of XML.
        case xml
    }

    /// A part of the payload.
    enum Piece: Hashable, Sendable {
        /// Bytes that stand as they are.
        case constant([UInt8])
        /// An expression, its place in the template (`body/aps/alert`), and how many bytes it was written in.
        case expression(TemplateExpression, at: String, bytes: Int)
    }

    /// The payload's form.
    let form: Form
    /// The parts, in their order.
    let pieces: [Piece]

    /// The number of expressions; those that are joined count each, texts in quotation marks too.
    var expressionCount: Int {
        pieces.reduce(0) { count, piece in
            guard case .expression(let expression, _, _) = piece else { return count }
            return count + expression.partCount
        }
    }

    /// The place of each expression, and how many bytes it was written in.
    var expressionSizes: [(part: String, bytes: Int)] {
        pieces.compactMap { piece in
            guard case .expression(_, let part, let bytes) = piece else { return nil }
            return (part, bytes)
        }
    }

    /// Appends the payload for some properties, whose names are in lower case.
    func write(_ properties: [String: String], into output: inout TemplateOutput) throws(PushTemplate.Excess) {
        for piece in pieces {
            switch piece {
            case .constant(let bytes): try output.append(bytes)
            case .expression(let expression, let part, _):
                switch form {
                case .json: try output.append(expression.value(properties, limit: output.left), at: part)
                case .xml: try output.append(escaped: expression.text(properties, limit: output.left), at: part)
                }
            }
        }
    }
}

extension TemplateBody {
    /// Reads a payload: XML where it begins with an element, else a JSON object.
    init(_ text: String) throws(PushTemplate.Fault) {
        if Self.isXML(text) {
            self = try Self.xml(text)
            return
        }
        let tree: JSONValue
        do { tree = try JSONValue(text: text) } catch {
            throw PushTemplate.Fault(part: "body", message: "the body is no JSON: \(error)")
        }
        guard case .object = tree else {
            throw PushTemplate.Fault(part: "body", message: "the body is to be a JSON object")
        }
        var reader = JSONTemplateReader()
        try reader.read(tree, at: "body")
        self.init(form: .json, pieces: reader.finished)
    }

    /// Whether a payload is XML: it begins with an element.
    static func isXML(_ body: String) -> Bool {
        body.utf8.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
    }

    /// Reads a payload that is one element of XML. The value of an attribute may be an expression, and the text of an element that
    /// has no elements in it; the text around them stays as it was written.
    private static func xml(_ text: String) throws(PushTemplate.Fault) -> TemplateBody {
        let bytes = Array(text.utf8)
        let places: [XMLElement.Place]
        do { places = try XMLElement.places(in: bytes) } catch {
            throw PushTemplate.Fault(part: "body", message: "the body is no XML: \(error)")
        }
        var pieces: [Piece] = []
        var end = 0
        for place in places {
            let part = "body/\(place.name)"
            let expression: TemplateExpression
            do { expression = try TemplateExpression(place.content) } catch {
                throw PushTemplate.Fault(part: part, message: "\(error)")
            }
            if case .literal = expression { continue }
            pieces.append(.constant(Array(bytes[end..<place.range.lowerBound])))
            pieces.append(.expression(expression, at: part, bytes: place.content.utf8.count))
            end = place.range.upperBound
        }
        return TemplateBody(form: .xml, pieces: pieces + [.constant(Array(bytes[end...]))])
    }
}

/// Divides a JSON object into expressions and the bytes between them.
private struct JSONTemplateReader {
    private var pieces: [TemplateBody.Piece] = []
    private var constant: [UInt8] = []

    /// The parts, the last bytes among them.
    var finished: [TemplateBody.Piece] { pieces + [.constant(constant)] }

    /// The place of a member. Each expression keeps its own, so that long names are cut and a long place does not grow.
    private static func place(in part: String, _ name: String) -> String {
        part.utf8.count < 256 ? "\(part)/\(name.prefix(64))" : part
    }

    mutating func read(_ tree: JSONValue, at part: String) throws(PushTemplate.Fault) {
        switch tree {
        case .null, .boolean, .number: tree.write(into: &constant)
        case .string(let text):
            let expression: TemplateExpression
            do { expression = try TemplateExpression(text) } catch {
                throw PushTemplate.Fault(part: part, message: "\(error)")
            }
            guard case .literal = expression else {
                pieces += [.constant(constant), .expression(expression, at: part, bytes: text.utf8.count)]
                constant = []
                return
            }
            tree.write(into: &constant)
        case .array(let items):
            constant.append(UInt8(ascii: "["))
            for (index, item) in items.enumerated() {
                if index > 0 { constant.append(UInt8(ascii: ",")) }
                try read(item, at: Self.place(in: part, "\(index)"))
            }
            constant.append(UInt8(ascii: "]"))
        case .object(let members):
            constant.append(UInt8(ascii: "{"))
            for (index, member) in members.enumerated() {
                if index > 0 { constant.append(UInt8(ascii: ",")) }
                JSONValue.write(member.name, into: &constant)
                constant.append(UInt8(ascii: ":"))
                try read(member.value, at: Self.place(in: part, member.name))
            }
            constant.append(UInt8(ascii: "}"))
        }
    }
}
