import AldabaTestSupport
import Foundation
import HubProtocol
import HubServer
import PushCore
import Testing

private let now = ManualClock().now

private func lines(_ text: String, _ pieces: Int, at once: Int = 3) throws -> [(line: Int, text: [UInt8]?)] {
    var rest = Data(text.utf8)[...]
    var lines = InstallationLines { _ in
        let piece = rest.prefix(pieces)
        rest = rest.dropFirst(pieces)
        return Data(piece)
    }
    var found: [(line: Int, text: [UInt8]?)] = []
    while true {
        let more = try lines.next(once)
        if more.isEmpty { return found }
        found += more
    }
}

@Test(arguments: [1, 2, 7, 1000])
func `lines are found wherever they are cut`(pieces: Int) throws {
    let found = try lines("a\n\nbb\r\n  \nccc", pieces)
    #expect(found.map(\.line) == [1, 3, 5])
    #expect(found.map { String(decoding: $0.text ?? [], as: UTF8.self) } == ["a", "bb\r", "ccc"])
    #expect(try lines("", pieces).isEmpty)
}

@Test func `a line that is too long is told, and the next one is read`() throws {
    let found = try lines(String(repeating: "x", count: InstallationLines.longest + 10) + "\nb\n", 1 << 18)
    #expect(found.map(\.line) == [1, 2])
    #expect(found.map { $0.text?.count } == [nil, 1])
}

@Test func `what is no installation is told by its line`() throws {
    let good = #"{"installationId":"a","platform":"apns","pushChannel":"x"}"#
    let over = #"{"installationId":"c","platform":"apns","expirationTime":"2026-05-31T23:59:59Z"}"#
    let (read, faults) = InstallationLines.installations(
        try lines("\(good)\nnot json\n{\"installationId\":\"b\",\"platform\":\"moon\"}\n\(over)\n", 50), at: now)
    #expect(read.map(\.installation.id) == ["a"])
    #expect(faults.map(\.line) == [2, 3, 4])
    #expect(faults[2].message.hasPrefix("/expirationTime: 2026-05-31T23:59:59Z is over"))
    #expect(faults[1].message.hasPrefix("/platform: there is no platform"))
}

@Test(arguments: [
    (#"{"installationId":"a","platform":"apns","pushChannel":"x","tags":["b","B"]}"#, true),
    (#"{"installationId":"a","platform":"apns","pushChannel":"x","more":{"a":1}}"#, false),
])
func `a document is kept as it was written, but for members that nobody reads`(text: String, isKept: Bool) throws {
    let (read, faults) = InstallationLines.installations([(1, Array(text.utf8))], at: now)
    #expect(faults.isEmpty)
    #expect((read.first?.document == text) == isKept)
    let again = try InstallationJSON.read(try JSONValue(text: try #require(read.first?.document)), id: nil)
    #expect(again == read.first?.installation)
}

@Test(arguments: [1, 2, 1000])
func `the mark of UTF-8 is passed over before the first line alone`(pieces: Int) throws {
    let found = try lines("\u{FEFF}a\n\u{FEFF}b\n", pieces)
    #expect(found.map { $0.text?.count } == [1, 4])
}
