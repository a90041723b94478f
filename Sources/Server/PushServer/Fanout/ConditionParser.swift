extension Condition<TopicName> {
    /// How many topics a condition may name.
    package static var topicLimit: Int { 5 }
    /// How many characters a condition may have.
    package static var lengthLimit: Int { 8192 }

    /// Reads a condition: terms `'NAME' in topics`, joined by `&&` and `||`, with `!` and parentheses. Parentheses are
    /// evaluated first, everything else from left to right.
    ///
    /// - Throws: ``ConditionError``, which points at the character.
    package init(parsing text: String) throws(ConditionError) {
        guard text.utf8.count <= Self.lengthLimit else {
            throw ConditionError(position: 1, reason: "a condition has at most \(Self.lengthLimit) bytes")
        }
        var parser = ConditionParser(text)
        try parser.expression(depth: 0)
        try parser.end()
        self.init(mapped: parser.steps)
    }
}

/// Why a text is no condition, and where.
package struct ConditionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The place of the character at which reading stopped, counted from 1.
    package let position: Int
    /// The fault at this position, and the expected input.
    package let reason: String
    package var description: String { "the condition cannot be read at character \(position): \(reason)" }
}

/// Reads a condition from left to right, one character after the other.
private struct ConditionParser {
    private let characters: [Character]
    private var place = 0
    private(set) var steps: [TopicCondition.Step] = []
    private var topics: Set<TopicName> = []

    /// The deepest nesting of parentheses.
    private static let depthLimit = 32

    init(_ text: String) { characters = Array(text) }

    mutating func expression(depth: Int) throws(ConditionError) {
        try factor(depth: depth)
        while let joint = try takeJoint() {
            try factor(depth: depth)
            steps.append(joint)
        }
    }

    mutating func end() throws(ConditionError) {
        skipBlanks()
        guard place == characters.count else {
            throw fault(next == ")" ? "this parenthesis was not opened" : "here && or || would go on, or nothing")
        }
    }

    private mutating func factor(depth: Int) throws(ConditionError) {
        guard depth < Self.depthLimit else { throw fault("there are too many ! and parentheses in each other") }
        skipBlanks()
        switch next {
        case "!":
            place += 1
            try factor(depth: depth + 1)
            steps.append(.not)
        case "(":
            let open = place
            place += 1
            try expression(depth: depth + 1)
            skipBlanks()
            guard next == ")" else {
                if next == nil { throw fault("this parenthesis is not closed", at: open) }
                throw fault("here && or || would go on, or ) close")
            }
            place += 1
        case "'": try term()
        case "\"": throw fault("a topic's name stands in single quotes: 'NAME' in topics")
        case nil: throw fault("the condition ends where a term is missing: 'NAME' in topics")
        default: throw fault("here a term is missing: 'NAME' in topics")
        }
    }

    private mutating func term() throws(ConditionError) {
        let open = place
        place += 1
        guard let close = characters[place...].firstIndex(of: "'") else {
            throw fault("this quote is not closed", at: open)
        }
        let name: TopicName
        do { name = try TopicName(String(characters[place..<close])) } catch {
            throw fault(error.reason, at: place)
        }
        place = close + 1
        try word("in")
        try word("topics")
        if topics.insert(name).inserted, topics.count > TopicCondition.topicLimit {
            throw fault("a condition names at most \(TopicCondition.topicLimit) topics", at: open)
        }
        steps.append(.topic(name))
    }

    private mutating func word(_ word: String) throws(ConditionError) {
        skipBlanks()
        guard characters[place...].starts(with: word) else {
            throw fault("here \"\(word)\" is missing: 'NAME' in topics")
        }
        let after = place + word.count
        if after < characters.count, characters[after].isLetter || characters[after].isNumber {
            throw fault("here \"\(word)\" is missing: 'NAME' in topics")
        }
        place = after
    }

    private mutating func takeJoint() throws(ConditionError) -> TopicCondition.Step? {
        skipBlanks()
        guard let character = next, character == "&" || character == "|" else { return nil }
        guard place + 1 < characters.count, characters[place + 1] == character else {
            throw fault("terms are joined by && or ||, each of two characters")
        }
        place += 2
        return character == "&" ? .and : .or
    }

    private var next: Character? { place < characters.count ? characters[place] : nil }

    private mutating func skipBlanks() {
        while let character = next, character.isWhitespace { place += 1 }
    }

    private func fault(_ reason: String, at place: Int? = nil) -> ConditionError {
        ConditionError(position: (place ?? self.place) + 1, reason: reason)
    }
}
