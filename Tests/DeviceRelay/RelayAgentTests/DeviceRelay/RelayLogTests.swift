import AldabaTestSupport
import CoreValues
import Foundation
import Testing

@testable import RelayAgent

/// A line as whoever looks at the log reads it.
private struct Line: Codable, Equatable {
    var at: String
    var device: String
    var name: String?
    var what: String
    var status: String
    var id: String?
    var asker: String?
}

@Suite struct RelayLogTests {
    private let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    private func read(_ lines: [String]) throws -> [Line] {
        try lines.map { try JSONDecoder().decode(Line.self, from: Data($0.utf8)) }
    }

    @Test("A line is JSON that says everything, whatever names the devices have")
    func everything() throws {
        let folder = try TemporaryFolder()
        var log = RelayLog(dataFolder: folder.url.path)
        let name = "a \"name\" \\ with\nlines\u{1}, ü and 🔔"
        let entry = RelayLogEntry(
            device: "4711", what: "call ping", status: .success, id: id, asker: "com.example.todo")
        _ = log.note(entry, name: name, at: 1_764_000_000_123)
        let line = Line(
            at: "2025-11-24T16:00:00.123Z", device: "4711", name: name, what: "call ping", status: "success",
            id: "01020304-0506-0708-090a-0b0c0d0e0f10", asker: "com.example.todo")
        let first = try read(log.last(10))
        #expect(first == [line])
        _ = log.note(RelayLogEntry(device: "4711", what: "open https", status: .denied), name: nil, at: 0)
        let plain = Line(at: "1970-01-01T00:00:00.000Z", device: "4711", what: "open https", status: "denied")
        let last = try read(log.last(1))
        #expect(last == [plain])
    }

    @Test("Lines wait for the next writing, of which only the first of them asks for")
    func waiting() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("relay-log.jsonl")
        var log = RelayLog(dataFolder: folder.url.path)
        let entry = RelayLogEntry(device: "4711", what: "call ping", status: .success)
        let asked = (0..<2).map { log.note(entry, name: nil, at: Timestamp(rawValue: $0)) }
        #expect(asked == [true, false])
        #expect(!FileManager.default.fileExists(atPath: path))
        log.write()
        log.write()
        #expect(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count == 2)
        #expect(try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int == 0o600)
    }

    @Test("256 lines are written without being asked for, and a file of 1 MiB is begun anew")
    func bounded() throws {
        let folder = try TemporaryFolder()
        var log = RelayLog(dataFolder: folder.url.path)
        let entry = RelayLogEntry(device: "4711", what: String(repeating: "x", count: 1000), status: .success)
        let asked = (0..<256).map { log.note(entry, name: nil, at: Timestamp(rawValue: $0)) }
        #expect(asked.filter { $0 }.count == 1)
        let path = folder.path("relay-log.jsonl")
        #expect(try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").count == 256)
        for moment in 0..<(5 * 256 as Int64) { _ = log.note(entry, name: nil, at: Timestamp(rawValue: moment)) }
        let sizes = [path, path + ".1"].map { (try? Data(contentsOf: URL(filePath: $0)).count) ?? 0 }
        #expect(sizes[0] > 0 && sizes[0] < 1 << 20)
        #expect(sizes[1] > 1 << 20)
    }
}
