import ArgumentParser
import Testing

@testable import AldabaConfiguration

/// The groups of settings of a command.
private protocol Groups: ParsableArguments {
    var words: [String] { get }
}

private struct Serve: Groups, ServerSettingGroups {
    @OptionGroup var file: ConfigurationOption
    @OptionGroup var shared: SharedSettings
    @OptionGroup var listeners: ListenerSettings
    @OptionGroup var server: ServerSettings
    @OptionGroup var media: MediaSettings
    @OptionGroup var console: ConsoleSettings
    var words: [String] { serverWords }
}

private struct Agent: Groups {
    @OptionGroup var file: ConfigurationOption
    @OptionGroup var shared: SharedSettings
    @OptionGroup var device: DeviceSettings
    @OptionGroup var addresses: AgentAddressSettings
    var words: [String] { shared.words + device.words + addresses.words }
}

private struct Up: Groups {
    @OptionGroup var serve: Serve
    @OptionGroup var device: DeviceSettings
    var words: [String] { serve.words + device.words }
}

private func groups(_ program: ConfiguredProgram) -> any Groups.Type {
    switch program {
    case .serve: Serve.self
    case .agent: Agent.self
    case .up: Up.self
    }
}

private func help(_ program: ConfiguredProgram) -> String { groups(program).helpMessage(columns: 80) }

@Test(arguments: ConfiguredProgram.allCases)
func `every setting that a program takes is an option of its command`(program: ConfiguredProgram) {
    let lines = help(program).split(separator: "\n")
    for key in ConfigurationKey.allCases {
        let isThere = lines.contains { $0.hasPrefix("  --\(key.rawValue) ") || $0 == "  --\(key.rawValue)" }
        #expect(isThere == program.takes(key), "--\(key.rawValue)")
    }
}

@Test(arguments: ConfiguredProgram.allCases)
func `help keeps its indent at 80 columns`(program: ConfiguredProgram) {
    for line in help(program).split(separator: "\n") where !line.hasSuffix(":") && !line.hasPrefix("USAGE") {
        #expect(line.count <= 80 && line.hasPrefix("  "), "\(line)")
    }
}

@Test(arguments: ConfiguredProgram.allCases)
func `what the options are given is read as the values of their keys`(program: ConfiguredProgram) throws {
    let given = ConfigurationKey.allCases.filter(program.takes).map { "--\($0.rawValue)=\(value(of: $0.row.type))" }
    let words = try groups(program).parse(given).words
    #expect(words.sorted() == given.sorted())
}

private func value(of type: ConfigurationType) -> String {
    switch type {
    case .text, .path: "x"
    case .port, .number: "12"
    case .address: "host:1"
    case .ipAddress: "::1"
    case .secureURL: "https://host:1"
    case .flag: "false"
    case .choice(let choices): choices[0]
    case .position: "none"
    case .addressRanges: "10.0.0.0/8"
    case .serverNames: "push.example"
    }
}

@Test(arguments: [
    (["--development"], "--development=true"), (["--development", "--host", "::1"], "--development=true"),
    (["--development=no"], "--development=no"), (["--no-development"], "--development=false"),
])
func `a setting that says yes or no may stand alone`(words: [String], expected: String) throws {
    #expect(try Serve.parse(words).server.words.contains(expected))
}

@Test(arguments: [
    ("jsn", ["json", "host"], "json"), ("jsn", ["host", "help"], nil),
    ("apns-prot", ["apns-port", "http-port"], "apns-port"),
    ("x", ["y"], "y"), ("start", ["run", "status", "app"], nil), ("snd", ["send", "settings"], "send"),
    ("sned", ["send", "settings"], "send"), ("tokn", ["token", "topic"], "token"),
    ("", ["on"], nil),
])
func `what was meant is told only where it is near`(word: String, known: [String], expected: String?) {
    #expect(NearestWord.to(word, among: known) == expected)
}

@Test func `the parser's suggestions stand only where they make sense`() {
    let far = "Error: Unknown option '--jsn'. Did you mean '--host'?\nUsage: x"
    #expect(NearestWord.sensible(far) == "Error: Unknown option '--jsn'\nUsage: x")
    let near = "Error: Unknown option '--jsn'. Did you mean '--json'?\nUsage: x"
    #expect(NearestWord.sensible(near) == near)
}

private struct Root: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "root", subcommands: [Group.self, Leaf.self])

    struct Group: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "group", subcommands: [Leaf.self])
    }
    struct Leaf: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "leaf")
        @Argument var words: [String] = []
    }
}

@Test(arguments: [
    [], ["--help"], ["group"], ["group", "--x"], ["group", "leaf", "any"], ["leaf", "any"], ["help"],
    ["help", "group", "leaf"],
    ["help", "--x"],
])
func `names of commands that there are pass`(words: [String]) throws {
    try SubcommandPath.check(words, of: Root.self)
}

@Test(arguments: [
    (["nonsense"], "there is no command `root nonsense`\n`root` has: group, leaf"),
    (["grup", "x"], "there is no command `root grup`; did you mean `root group`?\n`root` has: group, leaf"),
    (["group", "start"], "there is no command `root group start`\n`root group` has: leaf"),
    (["help", "nonsense"], "there is no command `root nonsense`\n`root` has: group, leaf"),
    (["help", "leaf", "any"], "`root leaf` has no subcommands, and so no \"any\""),
])
func `a word that is no command is refused with those that there are`(words: [String], expected: String) {
    #expect {
        try SubcommandPath.check(words, of: Root.self)
    } throws: { error in
        (error as? CommandError)?.exit == .usage && "\(error)" == expected
    }
}
