import Foundation
import Testing

@testable import OSLog

struct LogTests {
    @Test func `texts are private unless they are public, and numbers public unless they are private`() {
        let name = "Ada"
        let cases: [(OSLogMessage, String)] = [
            ("plain", "plain"), ("hello \(name)", "hello <private>"), ("hello \(name, privacy: .public)", "hello Ada"),
            ("\(7) of \(2.5), \(true)", "7 of 2.5, true"), ("\(7, privacy: .private)", "<private>"),
            ("\(name, privacy: .sensitive)", "<private>"), ("\(Date(timeIntervalSince1970: 0))", "<private>"),
        ]
        for (message, text) in cases { #expect(message.text == text) }
    }

    @Test(arguments: [
        ("token %@", ["Ada"] as [any CVarArg & Sendable], "token <private>"),
        ("token %{public}@", ["Ada"], "token Ada"),
        ("%{public}s and %d%%", ["a", 7], "a and 7%"), ("%{private}d", [7], "<private>"),
        ("%.2f %x", [2.5, 255], "2.50 ff"), ("%@ %@", [], "%@ %@"), ("100%", [], "100%"),
        ("%{public, mask.hash}@", ["x"], "x"), ("% y", ["x"], "% y"),
    ])
    func `a format shows what its marks allow`(format: String, arguments: [any CVarArg & Sendable], text: String) {
        #expect(LogFormat.text(format, arguments) == text)
    }

    @Test func `a line has the level and the category, and a disabled log prints none`() {
        let log = OSLog(subsystem: "com.example.todo", category: "push")
        #expect(log.line("came", .error) == "error: [push] came\n")
        #expect(OSLog.default.line("came", .default) == "notice: came\n")
        #expect(log.isEnabled(type: .info) && !log.isEnabled(type: .debug))
        #expect(!OSLog.disabled.isEnabled(type: .fault))
        let logger = Logger(.disabled)
        logger.log("a")
        logger.log(level: .fault, "b")
        for call in [
            logger.trace, logger.debug, logger.info, logger.notice, logger.warning, logger.error, logger.critical,
            logger.fault,
        ] {
            call("c")
        }
        os_log("%{public}@", log: .disabled, type: .error, "d")
        os_log(.info, log: .disabled, "e")
    }
}
