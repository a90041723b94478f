/// The target of a notification: a tag expression of Azure Notification Hubs, in full.
///
/// `!` binds closer than `&&`, and that closer than `||`; blanks are free. Beside tags there are `$InstallationId:{…}`
/// and `$UserId:{…}`, and, where the reader allows them, comparisons of the hub's own fields (``FieldTest``).
package indirect enum TagExpression: Hashable, Sendable {
    /// The installations with the tag.
    case tag(TagName)
    /// The installation of that id, compared without case.
    case installation(String)
    /// The installations of that user, compared without case.
    case user(String)
    /// The installations for which a comparison holds.
    case field(FieldTest)
    /// Everyone else.
    case not(TagExpression)
    /// The installations that match every part.
    case all([TagExpression])
    /// The installations that match any part.
    case any([TagExpression])

    /// A fault in an expression, and its position.
    package struct Fault: Error, Hashable, Sendable, CustomStringConvertible {
        /// The offset of the offending character, from 0.
        package var offset: Int
        /// The text found there, and what is expected instead.
        package var message: String
        package var description: String { "character \(offset + 1): \(message)" }
    }

    /// How much an expression may cost.
    package struct Limits: Sendable {
        /// The most tags and comparisons.
        package var terms = 1000
        /// The most tags where all operators are `||`; `nil` for ``terms``.
        package var alternatives: Int?
        /// Whether comparisons of the hub's own fields are read.
        package var readsFields = false

        /// The limits of this hub: 1000 terms.
        package init(readsFields: Bool = false) { self.readsFields = readsFields }

        /// Azure's own limits: 20 tags with `||` alone, 6 otherwise.
        package static var azure: Limits {
            var limits = Limits()
            limits.terms = 6
            limits.alternatives = 20
            return limits
        }
    }

    /// Reads an expression.
    package init(_ text: String, limits: Limits = Limits()) throws(Fault) {
        var reader = TagExpressionReader(text, readsFields: limits.readsFields)
        let expression = try reader.whole()
        let terms = expression.termCount
        let most = expression.isAlternatives ? limits.alternatives ?? limits.terms : limits.terms
        guard terms <= most else {
            throw Fault(
                offset: reader.places.count > most ? reader.places[most] : 0,
                message: limits.alternatives == nil
                    ? "the expression has \(terms) terms, at most \(most) are taken"
                    : "the expression has \(terms) tags; 20 are taken with || alone, 6 otherwise")
        }
        self = expression
    }

    /// Matches any of several tags, each of which is valid; `nil` for none.
    package init?(anyOf tags: [TagName]) {
        guard let first = tags.first else { return nil }
        self = tags.count == 1 ? .tag(first) : .any(tags.map { .tag($0) })
    }

    /// How many tags and comparisons there are.
    package var termCount: Int {
        switch self {
        case .tag, .installation, .user, .field: 1
        case .not(let part): part.termCount
        case .all(let parts), .any(let parts): parts.reduce(0) { $0 + $1.termCount }
        }
    }

    private var isAlternatives: Bool {
        switch self {
        case .tag, .installation, .user, .field: true
        case .not, .all: false
        case .any(let parts): parts.allSatisfy(\.isAlternatives)
        }
    }

    /// Whether the expression holds, where it is known of each term.
    package func matches(_ term: (TagExpression) -> Bool) -> Bool {
        switch self {
        case .tag, .installation, .user, .field: term(self)
        case .not(let part): !part.matches(term)
        case .all(let parts): parts.allSatisfy { $0.matches(term) }
        case .any(let parts): parts.contains { $0.matches(term) }
        }
    }
}

/// Reads a tag expression, by recursive descent.
struct TagExpressionReader {
    private let text: [Unicode.Scalar]
    private let readsFields: Bool
    private var offset = 0
    private var depth = 0
    /// The offset at which each term begins.
    private(set) var places: [Int] = []

    /// Parentheses and `!` inside one another; deeper ones are refused.
    static let maximumDepth = 64

    init(_ text: String, readsFields: Bool) {
        self.text = Array(text.unicodeScalars)
        self.readsFields = readsFields
    }

    mutating func whole() throws(TagExpression.Fault) -> TagExpression {
        let expression = try alternatives()
        guard next == nil else { throw unexpected("expected && or ||, or the end") }
        return expression
    }

    private var next: Unicode.Scalar? {
        mutating get {
            while offset < text.count, text[offset] == " " || text[offset] == "\t" { offset += 1 }
            return offset < text.count ? text[offset] : nil
        }
    }

    private func fault(_ message: String, at place: Int? = nil) -> TagExpression.Fault {
        TagExpression.Fault(offset: place ?? offset, message: message)
    }

    private mutating func unexpected(_ expected: String) -> TagExpression.Fault {
        guard let found = next else { return fault("the expression ends here; \(expected)") }
        return fault("\"\(found)\" cannot stand here; \(expected)")
    }

    private mutating func taken(_ sign: Unicode.Scalar) throws(TagExpression.Fault) -> Bool {
        guard next == sign else { return false }
        guard offset + 1 < text.count, text[offset + 1] == sign else {
            throw fault("\"\(sign)\" stands alone; write \(sign)\(sign)")
        }
        offset += 2
        return true
    }

    private mutating func alternatives() throws(TagExpression.Fault) -> TagExpression {
        var parts = [try conjunction()]
        while try taken("|") { parts.append(try conjunction()) }
        return parts.count == 1 ? parts[0] : .any(parts)
    }

    private mutating func conjunction() throws(TagExpression.Fault) -> TagExpression {
        var parts = [try term()]
        while try taken("&") { parts.append(try term()) }
        return parts.count == 1 ? parts[0] : .all(parts)
    }

    private mutating func term() throws(TagExpression.Fault) -> TagExpression {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.maximumDepth else {
            throw fault("more than \(Self.maximumDepth) parentheses and ! stand inside one another")
        }
        switch next {
        case "!":
            offset += 1
            return .not(try term())
        case "(":
            let open = offset
            offset += 1
            let inner = try alternatives()
            guard next == ")" else {
                throw next == nil ? fault("this parenthesis is not closed", at: open) : unexpected("expected )")
            }
            offset += 1
            return inner
        case "$":
            places.append(offset)
            return try braced()
        case let scalar? where TagName.isTagCharacter(scalar):
            places.append(offset)
            return .tag(try tag())
        default: throw unexpected("expected a tag, !, ( or $")
        }
    }

    private mutating func tag() throws(TagExpression.Fault) -> TagName {
        let start = offset
        while offset < text.count, TagName.isTagCharacter(text[offset]) { offset += 1 }
        let name = string(start..<offset)
        guard let tag = TagName(name) else { throw fault(TagName.fault(in: name) ?? "this is no tag", at: start) }
        return tag
    }

    private func string(_ range: Range<Int>) -> String {
        var result = String.UnicodeScalarView()
        result.append(contentsOf: text[range])
        return String(result)
    }

    /// `$Name:{argument}`.
    private mutating func braced() throws(TagExpression.Fault) -> TagExpression {
        let start = offset
        offset += 1
        let nameStart = offset
        while offset < text.count, text[offset].properties.isAlphabetic { offset += 1 }
        let name = string(nameStart..<offset).lowercased()
        guard offset + 1 < text.count, text[offset] == ":", text[offset + 1] == "{" else {
            throw fault("expected :{ as in $UserId:{…}")
        }
        offset += 2
        let argumentStart = offset
        while offset < text.count, text[offset] != "}" { offset += 1 }
        guard offset < text.count else { throw fault("this brace is not closed", at: argumentStart - 1) }
        let argument = string(argumentStart..<offset)
        let comparesField = name != "installationid" && name != "userid"
        let wrong = text[argumentStart..<offset].firstIndex { !Self.isArgument($0, comparesField) }
        if let wrong { throw fault("\"\(text[wrong])\" cannot stand between the braces", at: wrong) }
        guard !argument.isEmpty else { throw fault("expected something between the braces", at: argumentStart) }
        offset += 1
        switch name {
        case "installationid": return .installation(argument.lowercased())
        case "userid": return .user(argument.lowercased())
        default: break
        }
        guard readsFields else {
            throw fault("there is no $\(name):{…} here; there are $InstallationId:{…} and $UserId:{…}", at: start)
        }
        do { return .field(try FieldTest(name: name, argument: argument)) } catch {
            throw fault(error.message, at: argumentStart)
        }
    }

    private static func isArgument(_ scalar: Unicode.Scalar, _ comparesField: Bool) -> Bool {
        TagName.isTagCharacter(scalar) || scalar == "=" || comparesField && (scalar == "<" || scalar == ">")
    }
}
