import PushCore
import Testing

@testable import HubProtocol

/// Whether an expression holds for some tags.
private func holds(_ text: String, _ tags: String) throws -> Bool {
    let own = Set(tags.split(separator: " ").compactMap { TagName(String($0)) })
    return try TagExpression(text).matches { term in
        switch term {
        case .tag(let tag): own.contains(tag)
        case .user(let user): user == "anna"
        case .installation(let id): id == "one"
        default: false
        }
    }
}

@Test(arguments: [
    ("a", "a", true), ("a", "b", false), ("A", "a", true), ("!a", "b", true), ("!a", "a", false),
    ("a && b", "a", false), ("a&&b", "a b", true), ("a || b && c", "a", true), ("(a || b) && c", "a", false),
    ("!(a || b)", "c", true), ("!!a", "a", true), ("a && !b || c", "a b", false), ("a&&b||c&&d", "c d", true),
    ("$UserId:{Anna} && a", "a", true), ("$InstallationId:{ONE}", "", true), ("$InstallationId:{two}", "", false),
    ("follows_Red@Sox.x:y#1-2", "follows_red@sox.x:y#1-2", true),
])
func `an expression holds for whom it says`(text: String, tags: String, expected: Bool) throws {
    #expect(try holds(text, tags) == expected)
}

@Test(arguments: [
    ("", 0, "the expression ends here"), ("a b", 2, "cannot stand here"), ("a && ", 5, "ends here"),
    ("a & b", 2, "stands alone; write &&"), ("a | b", 2, "write ||"), ("(a || b", 0, "not closed"),
    ("a)", 1, "expected &&"),
    ("a AND b", 2, "expected && or ||"), ("ä", 0, "expected a tag"), ("a && b!c", 6, "expected && or ||"),
    ("$UserId:{a b}", 10, "cannot stand between"), ("$UserId:{", 8, "not closed"),
    ("$Nobody:{a}", 0, "there is no $nobody"),
    ("$UserId(a)", 7, "expected :{"), ("$UserId:{}", 9, "expected something"),
    ("$Locale:{de}", 0, "there is no $locale"),
])
func `a fault says where and what would be right`(text: String, offset: Int, message: String) {
    #expect {
        try TagExpression(text)
    } throws: { error in
        guard let fault = error as? TagExpression.Fault else { return false }
        return fault.offset == offset && fault.message.contains(message)
    }
}

@Test func `Azure's limits hold where they are asked for alone`() throws {
    let alternatives = (0..<21).map { "t\($0)" }.joined(separator: "||")
    #expect(try TagExpression(alternatives).termCount == 21)
    #expect(throws: TagExpression.Fault.self) { try TagExpression(alternatives, limits: .azure) }
    let mixed = (0..<7).map { "t\($0)" }.joined(separator: "&&")
    #expect(throws: TagExpression.Fault.self) { try TagExpression(mixed, limits: .azure) }
    #expect(try TagExpression((0..<6).map { "t\($0)" }.joined(separator: "&&"), limits: .azure).termCount == 6)
    #expect(throws: TagExpression.Fault.self) {
        try TagExpression(Array(repeating: "a", count: 1001).joined(separator: "||"))
    }
}

@Test func `nothing from outside makes the reader recurse without end`() {
    for text in [String(repeating: "(", count: 10_000), String(repeating: "!", count: 10_000) + "a"] {
        #expect(throws: TagExpression.Fault.self) { try TagExpression(text) }
    }
}

@Test(arguments: [
    ("$Locale:{de}", FieldTest.locale("de")), ("$Country:{ES}", .country("es")),
    ("$Platform:{apns}", .platform("apns")),
    ("$LastSeen:{<7d}", .lastSeen(isWithin: true, milliseconds: 604_800_000)),
    ("$LastSeen:{>2h}", .lastSeen(isWithin: false, milliseconds: 7_200_000)),
])
func `the hub's own fields are compared where the reader allows it`(text: String, expected: FieldTest) throws {
    #expect(try TagExpression(text, limits: .init(readsFields: true)) == .field(expected))
}

@Test(arguments: [
    ("$AppVersion:{>=2.1}", "2.1", true), ("$AppVersion:{>=2.1}", "2.0.9", false), ("$AppVersion:{2.1}", "2.1.0", true),
    ("$AppVersion:{<10}", "9.9", true), ("$AppVersion:{>10.0}", "10", false), ("$AppVersion:{<=3}", "3.0.0", true),
])
func `versions are compared by their numbers`(text: String, version: String, expected: Bool) throws {
    let expression = try TagExpression(text, limits: .init(readsFields: true))
    let version = try #require(AppVersion(version))
    #expect(
        expression.matches { term in
            guard case .field(.appVersion(let comparison, let wanted)) = term else { return false }
            return comparison.matches(version, wanted)
        } == expected)
}

@Test(arguments: [
    ("a || b || c", 2, 10), ("!a && (b || $UserId:{c})", 1, 7), ("a && b && $UserId:{c}", 2, 10),
])
func `an expression over the limit is told by the first term beyond it`(text: String, terms: Int, offset: Int) {
    var limits = TagExpression.Limits()
    limits.terms = terms
    #expect {
        try TagExpression(text, limits: limits)
    } throws: { ($0 as? TagExpression.Fault)?.offset == offset }
}

@Test(arguments: ["not json", "nul", "tru", "folse", "x"])
func `a text that is no JSON is told by what a value is`(text: String) {
    #expect {
        try JSONValue(text: text)
    } throws: { ($0 as? JSONScanner.Fault)?.message.hasPrefix("expected a value: an object") ?? false }
}

@Test(arguments: ["$AppVersion:{>=}", "$AppVersion:{a}", "$LastSeen:{7d}", "$LastSeen:{<7y}", "$LastSeen:{<d}"])
func `a comparison that cannot be read says what would be right`(text: String) {
    #expect(throws: TagExpression.Fault.self) { try TagExpression(text, limits: .init(readsFields: true)) }
}

@Test(arguments: ["", "a b", "ü", "a=b", "a{", String(repeating: "a", count: 121)])
func `a text that is no tag is told why`(text: String) {
    #expect(TagName(text) == nil)
    #expect(TagName.fault(in: text) != nil)
}
