import AldabaTestSupport
import PushCore
import Testing

@testable import HubProtocol

private func entry(_ number: UInt32, _ tags: String, _ change: (inout AudienceEntry) -> Void = { _ in })
    -> AudienceEntry
{
    var entry = AudienceEntry(
        number: number, platform: .apns, tags: tags.split(separator: " ").compactMap { TagName(String($0)) },
        seenAt: Timestamp(seconds: 1_000_000))
    change(&entry)
    return entry
}

private let now = Timestamp(seconds: 1_000_000 + 3600)

private func audience(_ index: AudienceIndex, _ text: String, templates: Bool = false) throws -> [UInt32] {
    index.audience(
        try TagExpression(text, limits: .init(readsFields: true)), countsTemplates: templates, now: now,
        found: [.user("anna"): Bitmap([1, 9])]
    ).numbers()
}

@Test(
    arguments: [
        ("a", [1, 2]), ("A && b", [2]), ("!a", [3, 4]), ("a && !b", [1]), ("!a && !c", [4]), ("a || c", [1, 2, 3]),
        ("$UserId:{Anna}", [1]), ("!($UserId:{Anna} || c)", [2, 4]), ("$Locale:{de}", [1, 3]), ("$Locale:{de-at}", [3]),
        ("$Country:{at}", [3]), ("$Platform:{gcm}", [4]), ("$AppVersion:{>=2}", [2]), ("$LastSeen:{<2h}", [1, 2, 3]),
        ("$LastSeen:{>2h}", [4]), ("nobody", []),
    ] as [(String, [UInt32])])
func `an expression means whom it says`(text: String, expected: [UInt32]) throws {
    var index = AudienceIndex()
    index.insert(entry(1, "a") { $0.locale = "de" })
    index.insert(entry(2, "a b") { $0.appVersion = "2.1" })
    index.insert(
        entry(3, "c") {
            $0.locale = "de-at"
            $0.country = "at"
        })
    index.insert(
        entry(4, "") {
            $0.platform = .gcm
            $0.seenAt = Timestamp(seconds: 0)
        })
    #expect(try audience(index, text) == expected)
}

@Test func `what was taken out is meant no more`() throws {
    var index = AudienceIndex()
    let gone = entry(1, "a b") { $0.locale = "de" }
    index.insert(gone)
    index.insert(entry(2, "a"))
    index.remove(gone)
    #expect(try audience(index, "a") == [2])
    #expect(try audience(index, "!a") == [])
    #expect(try audience(index, "$Locale:{de}") == [])
    #expect(index.count == 1)
}

@Test func `versions keep their spelling, and those that are no numbers are not compared`() throws {
    var index = AudienceIndex()
    for (number, version) in [(1, "1.0"), (2, "1"), (3, "2.0-beta")] as [(UInt32, String)] {
        index.insert(entry(number, "a") { $0.appVersion = version })
    }
    index.insert(entry(4, "a"))
    #expect(try audience(index, "$AppVersion:{=1}") == [1, 2])
    #expect(try audience(index, "$AppVersion:{>=1}") == [1, 2])
    let (counts, absent) = index.traits.traits(of: Bitmap([2, 3, 4, 5]))
    #expect(counts == [.platform: ["apns": 3], .version: ["1": 1, "2.0-beta": 1]])
    #expect(absent.numbers() == [5])
}

@Test func `tags of templates count for templates alone`() throws {
    var index = AudienceIndex()
    index.insert(
        entry(1, "a") {
            $0.hasTemplates = true
            $0.templateTags = [TagName("t")].compactMap { $0 }
        })
    index.insert(entry(2, "a t"))
    #expect(try audience(index, "t") == [2])
    #expect(try audience(index, "a && t", templates: true) == [1])
    // Which of its templates are meant is not known here, so whoever has one is asked.
    #expect(try audience(index, "!t", templates: true) == [1])
    #expect(index.audience(nil, countsTemplates: true, now: now).numbers() == [1])
}

@Test(arguments: 0..<4) func `bitmaps mean the same as looking at each`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let names = ["a", "b", "c", "d"]
    var index = AudienceIndex()
    var entries: [AudienceEntry] = []
    for number in 1...200 as ClosedRange<UInt32> {
        let tags = names.filter { _ in Bool.random(using: &generator) }
        entries.append(entry(number, tags.joined(separator: " ")))
        index.insert(entries[entries.count - 1])
    }
    func expression(_ depth: Int) -> String {
        switch depth == 0 ? 0 : Int.random(in: 0..<4, using: &generator) {
        case 1: "!\(expression(depth - 1))"
        case 2: "(\(expression(depth - 1)) && \(expression(depth - 1)))"
        case 3: "(\(expression(depth - 1)) || \(expression(depth - 1)))"
        default: names[Int.random(in: 0..<4, using: &generator)]
        }
    }
    for _ in 0..<100 {
        let text = expression(4)
        let parsed = try TagExpression(text)
        let expected = entries.filter { entry in
            parsed.matches { term in
                guard case .tag(let tag) = term else { return false }
                return entry.tags.contains(tag)
            }
        }
        #expect(try audience(index, text) == expected.map(\.number), "\(text)")
    }
}

/// An installation with templates, each with its tags.
private struct Templated {
    var own: Set<String>
    var templates: [Set<String>]
}

@Test func `what no template can match is not asked`() throws {
    var index = AudienceIndex()
    for number in 1...4 as ClosedRange<UInt32> {
        index.insert(
            entry(number, number == 1 ? "two" : "one") {
                $0.hasTemplates = true
                $0.templateTags = [TagName("a"), TagName("b")].compactMap { $0 }
            })
    }
    #expect(try audience(index, "two && !a", templates: true) == [1])
    #expect(try audience(index, "nobody && !a", templates: true) == [])
    #expect(try audience(index, "!one && a", templates: true) == [1])
    #expect(try audience(index, "!(!a)", templates: true) == [1, 2, 3, 4])
}

@Test(arguments: 0..<4) func `nobody with a template that matches is missed`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let names = ["a", "b", "c", "d"]
    func some() -> Set<String> { Set(names.filter { _ in Bool.random(using: &generator) }) }
    var index = AudienceIndex()
    var all: [Templated] = []
    for number in 1...100 as ClosedRange<UInt32> {
        let each = Templated(own: some(), templates: (0..<Int.random(in: 1...3, using: &generator)).map { _ in some() })
        all.append(each)
        index.insert(
            entry(number, each.own.joined(separator: " ")) {
                $0.hasTemplates = true
                $0.templateTags = Set(each.templates.joined()).compactMap { TagName($0) }
            })
    }
    func expression(_ depth: Int) -> String {
        switch depth == 0 ? 0 : Int.random(in: 0..<4, using: &generator) {
        case 1: "!\(expression(depth - 1))"
        case 2: "(\(expression(depth - 1)) && \(expression(depth - 1)))"
        case 3: "(\(expression(depth - 1)) || \(expression(depth - 1)))"
        default: names[Int.random(in: 0..<4, using: &generator)]
        }
    }
    for _ in 0..<100 {
        let text = expression(4)
        let parsed = try TagExpression(text)
        let matching = all.indices.filter { place in
            all[place].templates.contains { template in
                parsed.matches { term in
                    guard case .tag(let tag) = term else { return false }
                    return all[place].own.union(template).contains { TagName($0) == tag }
                }
            }
        }.map { UInt32($0) + 1 }
        let asked = Set(try audience(index, text, templates: true))
        #expect(asked.isSuperset(of: matching), "\(text)")
    }
}
