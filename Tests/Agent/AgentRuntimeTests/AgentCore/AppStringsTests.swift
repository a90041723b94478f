import AgentProtocol
import AldabaTestSupport
import Foundation
import Logging
import Testing

@testable import AgentEngine
@testable import AgentRuntime

struct AppStringsTests {
    @Test(arguments: [
        ("%@ and %@", ["a", "b"], "a and b"), ("%2$@ before %1$@", ["a", "b"], "b before a"), ("100 %%", [], "100 %"),
        ("%@ %@", ["a"], "a "), ("%9$@|%0$@|", ["a"], "||"), ("%d left%", ["3"], "3 left"),
        ("%99999999999999999999$@", ["a"], ""),
    ])
    func `arguments go where the text names them`(format: String, arguments: [String], text: String) {
        #expect(AppStrings.fill(format, arguments) == text)
    }

    @Test func `the person's language comes first, then the base`() throws {
        let folder = try TemporaryFolder()
        for (language, text) in [
            ("de", #""HI" = "Hallo %@";"#), ("en", #""HI" = "Hello %@"; "ONLY" = "only"; "OFF" = "50% off";"#),
        ] {
            let place = folder.url.appendingPathComponent("\(language).lproj")
            try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
            try text.write(
                to: place.appendingPathComponent("Localizable.strings"), atomically: true, encoding: .utf8)
        }
        let german = AppStrings(
            folder: folder.url.path, languages: ["de_AT.UTF-8"],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        #expect(german.text(.init(key: "HI", arguments: ["Anna"])) == "Hallo Anna")
        #expect(german.text(.init(key: "ONLY")) == "only")
        #expect(german.text(.init(key: "OFF")) == "50% off", "without arguments it is no format")
        #expect(german.text(.init(key: "NEITHER")) == nil)
        #expect(AppStrings.languages(["LANG": "de_DE.UTF-8", "LANGUAGE": "fr:de"]) == ["fr", "de", "de_DE.UTF-8"])
        #expect(AppStrings.languages(["LC_ALL": "C", "LANG": "de_DE"]) == [])
    }

    @Test(arguments: [("no table", 1), ("<plist><array/></plist>", 1), (" ", 4 << 20 + 1)])
    func `a table that cannot be read is named in the log`(text: String, times: Int) async throws {
        let folder = try TemporaryFolder()
        let place = folder.url.appendingPathComponent("en.lproj")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        let file = place.appendingPathComponent("Localizable.strings")
        try String(repeating: text, count: times).write(to: file, atomically: true, encoding: .utf8)
        let lines = Inbox<String>()
        let logger = Logger(label: "test", factory: { _ in KeepingHandler(lines: lines) })
        let strings = AppStrings(folder: folder.url.path, languages: [], logger: logger)
        #expect(strings.text(.init(key: "HI")) == nil)
        lines.finish()
        let line = try #require(await lines.next())
        #expect(line.contains("a string table cannot be read") && line.contains(file.path))
    }
}
