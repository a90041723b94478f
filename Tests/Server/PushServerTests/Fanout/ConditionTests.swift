import PushCore
import PushServer
import Testing

@Suite struct ConditionTests {
    private func holds(_ condition: String, _ topics: Set<String>) throws -> Bool {
        try TopicCondition(parsing: condition).matches { topics.contains($0.text) }
    }

    @Test(
        arguments: [
            ("'a' in topics", ["a"], true),
            ("'a' in topics", [], false),
            ("'/topics/a' in topics", ["a"], true),
            ("'a' in topics && 'b' in topics", ["a"], false),
            ("'a' in topics && 'b' in topics", ["a", "b"], true),
            ("'a' in topics||'b' in topics", ["b"], true),
            // From left to right: (a || b) && c, and (c && a) || b.
            ("'a' in topics || 'b' in topics && 'c' in topics", ["a"], false),
            ("'c' in topics && 'a' in topics || 'b' in topics", ["b"], true),
            ("'a' in topics || ('b' in topics && 'c' in topics)", ["a"], true),
            ("!('a' in topics)", [], true),
            ("!('a' in topics) && 'b' in topics", ["b"], true),
            ("!!('a' in topics)", ["a"], true),
            (" ( 'a'  in  topics ) ", ["a"], true),
        ] as [(String, Set<String>, Bool)])
    func `a condition holds as its parentheses and then its order say`(
        condition: String, topics: Set<String>, expected: Bool
    ) throws {
        #expect(try holds(condition, topics) == expected)
    }

    @Test(arguments: [
        ("", 1, "the condition ends where a term is missing"),
        ("a in topics", 1, "here a term is missing"),
        ("\"a\" in topics", 1, "single quotes"),
        ("'a' in topic", 8, "\"topics\" is missing"),
        ("'a' in topicsx", 8, "\"topics\" is missing"),
        ("'a' topics", 5, "\"in\" is missing"),
        ("'a in topics", 1, "this quote is not closed"),
        ("'a b' in topics", 2, "no \" \""),
        ("'' in topics", 2, "empty"),
        ("'a' in topics & 'b' in topics", 15, "&& or ||"),
        ("'a' in topics && ", 18, "the condition ends"),
        ("'a' in topics 'b' in topics", 15, "&& or || would go on"),
        ("('a' in topics", 1, "this parenthesis is not closed"),
        ("('a' in topics x", 16, "&& or || would go on"),
        ("'a' in topics)", 14, "was not opened"),
        (
            "'a' in topics || 'b' in topics || 'c' in topics || 'd' in topics || 'e' in topics || 'f' in topics", 86,
            "at most 5 topics"
        ),
        (String(repeating: "(", count: 40), 33, "too many"),
        (String(repeating: "!", count: 9000), 1, "at most 8192"),
    ])
    func `what cannot be read says where and why`(condition: String, position: Int, reason: String) {
        let fault = #expect(throws: ConditionError.self) { try TopicCondition(parsing: condition) }
        #expect(fault?.position == position)
        #expect(fault?.reason.contains(reason) == true, "\(fault?.reason ?? "")")
    }

    @Test func `a topic that is named twice counts once`() throws {
        let condition = (0..<6).map { _ in "'a' in topics" }.joined(separator: " && ")
        #expect(try TopicCondition(parsing: condition).topics.count == 1)
    }

    @Test func `what a store keeps is read back`() throws {
        let numbers = ["a": 7, "b": 9]
        let condition = try TopicCondition(parsing: "'a' in topics && !('b' in topics) || 'c' in topics")
            .map { TopicNumber(rawValue: numbers[$0.text].map(Int64.init) ?? -1) }
        let audience = Audience.topics(condition)
        #expect(audience.text == "topics 7 9 ! & -1 |")
        #expect(Audience(text: audience.text) == audience)
        #expect(audience.entries == [TopicNumber(rawValue: 7), TopicNumber(rawValue: 9)])
        let ofOneApp = Audience.topics(condition, of: AppID(rawValue: 12))
        #expect(ofOneApp.text == "app 12 topics 7 9 ! & -1 |")
        #expect(Audience(text: ofOneApp.text) == ofOneApp && ofOneApp.entries == audience.entries)
        let wrongs = [
            "", "topics", "topics ", "topics &", "topics 1 2", "topics x", "tags 1", "app 12", "app x topics 1",
            "app 12 tags 1", "app 12 topics", "app 12 topics &",
        ]
        for wrong in wrongs {
            #expect(Audience(text: wrong) == nil, "\(wrong)")
        }
        #expect(Audience(text: "topics 7 !")?.entries == [.everyone])
    }

    @Test(arguments: [
        ("news", "news"), ("/topics/news", "news"), ("a-b_c.d~e%f9Z", "a-b_c.d~e%f9Z"), ("/topics/", nil), ("", nil),
        ("a/b", nil), ("ä", nil), ("a b", nil), (String(repeating: "x", count: 901), nil),
    ])
    func `a topic's name has its shape`(written: String, name: String?) {
        #expect((try? TopicName(written))?.text == name)
    }
}
