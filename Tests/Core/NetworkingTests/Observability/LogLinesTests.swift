import Logging
import Synchronization
import Testing

@testable import Networking

/// Lines as they would be written.
private final class Written: Sendable {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    var stream: LogLines { LogLines { line in self.lines.withLock { $0.append(line) } } }
}

@Suite struct LogLinesTests {
    private let hostile = "a\nb\r\nc\td\u{1b}[31m\u{0}\u{7f}\u{85}\u{9b}\u{2028}\u{2029}e\u{202e}\u{2066}"

    @Test func `no text of others makes a line of its own, wherever it stands`() {
        let written = Written()
        var logger = Logger(label: "test") { LogSetup.handler(label: $0, level: .trace, to: written.stream) }
        struct Failure: Error, CustomStringConvertible { var description: String }
        logger[metadataKey: "kept"] = "\(hostile)"
        logger.info("\(hostile)")
        logger.info(
            "said",
            metadata: [
                "\(hostile)": "\(hostile)", "list": ["\(hostile)"], "map": ["\(hostile)": .stringConvertible(hostile)],
            ])
        logger.error("failed", error: Failure(description: hostile))
        #expect(written.all.count == 3)
        for line in written.all {
            #expect(line.hasSuffix("\n"))
            let rest = line.dropLast().unicodeScalars
            #expect(rest.allSatisfy { $0.properties.generalCategory != .control })
            #expect(!rest.contains("\u{2028}") && !rest.contains("\u{2029}"))
        }
        #expect(
            written.all[0].contains(#"a\nb\r\nc\td\u{1b}[31m\u{0}\u{7f}\u{85}\u{9b}\u{2028}\u{2029}e\u{202e}\u{2066}"#))
    }

    @Test(arguments: ["", "plain", "Straße 🚪 日本", "a\\b"])
    func `other text is written as it is`(text: String) {
        let written = Written()
        var stream = written.stream
        stream.write(text + "\n")
        stream.write(text)
        #expect(written.all == [text + "\n", text + "\n"])
    }
}
