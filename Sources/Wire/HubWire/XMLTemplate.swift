import XMLWire

/// A payload of XML with expressions in it: the value of an attribute may be one, and the text of an element that has no elements
/// in it.
///
/// The text around expressions stays as it was written. What is put in is escaped, so that no value ends a text, an attribute or an
/// element.
struct XMLTemplate: Hashable, Sendable {
    private enum Piece: Hashable, Sendable {
        case constant([UInt8])
        case expression(TemplateExpression)
    }

    private let pieces: [Piece]

    /// Whether a payload is XML: it begins with an element.
    static func isXML(_ body: String) -> Bool {
        body.utf8.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "<")
    }

    /// Reads a payload that is one element of XML.
    init(_ body: String) throws(PushTemplate.Fault) {
        let bytes = Array(body.utf8)
        let places: [XMLElement.Place]
        do { places = try XMLElement.places(in: bytes) } catch {
            throw PushTemplate.Fault(part: "body", message: "the body is no XML: \(error)")
        }
        var pieces: [Piece] = []
        var end = 0
        for place in places {
            let expression: TemplateExpression
            do { expression = try TemplateExpression(place.content) } catch {
                throw PushTemplate.Fault(part: "body/\(place.name)", message: "\(error)")
            }
            if case .literal = expression { continue }
            pieces.append(.constant(Array(bytes[end..<place.range.lowerBound])))
            pieces.append(.expression(expression))
            end = place.range.upperBound
        }
        self.pieces = pieces + [.constant(Array(bytes[end...]))]
    }

    /// Puts properties in, whose names are in lower case.
    func rendered(_ properties: [String: String]) -> [UInt8] {
        pieces.flatMap { piece in
            switch piece {
            case .constant(let bytes): bytes
            // An attribute may stand in either kind of quotation marks.
            case .expression(let expression):
                Array(XMLElement.escaped(expression.text(properties)).replacing("'", with: "&apos;").utf8)
            }
        }
    }
}
