import Testing

@testable import CommandCore

struct PositionChoiceTests {
    @Test(arguments: [
        ("geoclue", PositionChoice.geoclue), ("none", .none), ("file:/run/place", .file(path: "/run/place")),
        ("file:a:b", .file(path: "a:b")), ("socket:place", .socket(path: "place")),
        ("command:gps --format '%lat %lon'", .command("gps --format '%lat %lon'")),
    ])
    func `a source is named by its kind and what it needs`(text: String, choice: PositionChoice) {
        #expect(PositionChoice(text) == choice)
        #expect(ConfigurationType.position.normalized(text) == text)
    }

    @Test(arguments: ["", "geoclue:", "file", "file:", "socket:", "command: ", "gps", "none:", "File:/x", "file:a\0b"])
    func `anything else is refused`(text: String) {
        #expect(PositionChoice(text) == nil)
        #expect(ConfigurationType.position.normalized(text) == nil)
    }
}
