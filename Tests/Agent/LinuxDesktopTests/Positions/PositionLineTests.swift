import AgentEngine
import Testing

@testable import LinuxDesktop

struct PositionLineTests {
    private func read(_ line: String) -> Result<Position, PositionLine.Fault> { PositionLine.read(Array(line.utf8)) }

    @Test(arguments: [
        ("52.516272 13.377722", 52.516272, 13.377722, 0.0), ("-90 180 25.5", -90, 180, 25.5),
        (" \t+1e1   -0.5  1e3\r", 10, -0.5, 1000), (#"{"latitude": 1, "longitude": -2.5, "accuracy": 8}"#, 1, -2.5, 8),
        (#" {"longitude":0,"latitude":0,"speed":[]}"#, 0, 0, 0),
        (#"{"latitude":3,"longitude":4,"accuracy":null}"#, 3, 4, 0),
    ])
    func `numbers and objects are positions`(line: String, latitude: Double, longitude: Double, accuracy: Double) throws
    {
        #expect(
            try read(line).get() == Position(latitude: latitude, longitude: longitude, accuracy: accuracy))
    }

    @Test(arguments: [
        "", " ", "52.5", "1 2 3 4", "52,5 13,4", "nan 1", "1 inf", "0x10 1", "1_0 1", "1 2 x", "52.5N 13.4E", "1e999 1",
        #"{"latitude":1}"#, #"{"latitude":"1","longitude":2}"#, "[1, 2]", "{", #"{"latitude":1e999,"longitude":2}"#,
    ])
    func `anything else is refused with what would be right, and not repeated`(line: String) {
        guard case .failure(let fault) = read(line) else {
            Issue.record("it was taken")
            return
        }
        #expect(fault.description.contains("LATITUDE LONGITUDE [ACCURACY]"))
        #expect(line.count < 3 || !fault.description.contains(line))
    }

    @Test(arguments: [
        ("90.1 0", "latitude"), ("-91 0", "latitude"), ("0 180.5", "longitude"), ("0 0 -1", "accuracy"),
        (#"{"latitude":0,"longitude":-181}"#, "longitude"),
    ])
    func `what is not on the earth is refused with the number that is wrong`(line: String, word: String) {
        guard case .failure(let fault) = read(line) else {
            Issue.record("it was taken")
            return
        }
        #expect(fault.description.contains("its \(word)"))
    }

    @Test func `a line may be as long as a line may be`() throws {
        let line = "1 2" + String(repeating: " ", count: PositionLine.longest - 3)
        #expect(try read(line).get() == Position(latitude: 1, longitude: 2, accuracy: 0))
        guard case .failure(let fault) = read(line + " ") else {
            Issue.record("it was taken")
            return
        }
        #expect(fault.description.contains("longer than 256 bytes"))
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func `lines are the same in whatever pieces they come`(size: Int) {
        let text = Array("1 2\n\n3 4 5\r\nrest".utf8)
        var buffer = LineBuffer()
        var lines: [[UInt8]] = []
        for start in stride(from: 0, to: text.count, by: size) {
            lines += buffer.append(text[start..<min(start + size, text.count)])
        }
        #expect(lines.map { String(decoding: $0, as: UTF8.self) } == ["1 2", "", "3 4 5\r"])
        #expect(buffer.finish().map { String(decoding: $0, as: UTF8.self) } == "rest")
        #expect(buffer.finish() == nil)
    }

    @Test func `a line without an end takes no more room than shows that it is too long`() {
        var buffer = LineBuffer()
        for _ in 0..<100 { #expect(buffer.append([UInt8](repeating: 49, count: 1_000)).isEmpty) }
        #expect(buffer.isTooLong)
        #expect(buffer.append([10]).map(\.count) == [PositionLine.longest + 1])
        #expect(!buffer.isTooLong)
    }
}
