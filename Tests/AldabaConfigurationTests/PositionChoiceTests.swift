import Testing

@testable import AldabaConfiguration

struct PositionChoiceTests {
    @Test(arguments: [
        ("geoclue", PositionChoice.geoclue), ("none", .none), ("file:/run/place", .file(path: "/run/place")),
        ("file:a:b", .file(path: "a:b")),
        ("command:gps --format '%lat %lon'", .command("gps --format '%lat %lon'")),
    ])
    func `a source is named by its kind and what it needs`(text: String, choice: PositionChoice) {
        #expect(PositionChoice(text) == choice)
        #expect(ConfigurationType.position.normalized(text) == text)
    }

    @Test(arguments: [
        "", "geoclue:", "file", "file:", "socket:place", "command: ", "gps", "none:", "File:/x", "file:a\0b",
    ])
    func `anything else is refused`(text: String) {
        #expect(PositionChoice(text) == nil)
        #expect(ConfigurationType.position.normalized(text) == nil)
    }

    @Test func `who names a socket is told what to use in its place`() throws {
        let reader = ConfigurationReader(
            program: .agent, arguments: [], environment: [:], file: ("aldaba.yaml", "position: socket:/run/place\n"))
        let faults = #expect(throws: ConfigurationFaults.self) { try reader.read() }
        let words = try #require(faults).description
        #expect(words.hasPrefix("aldaba.yaml:1: position is \"socket:/run/place\"; "))
        #expect(words.contains("file:PATH") && words.contains("command:COMMAND"))
    }
}
