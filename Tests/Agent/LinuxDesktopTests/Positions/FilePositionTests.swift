import AgentEngine
import AldabaTestSupport
import Foundation
import Testing

@testable import LinuxDesktop

@Suite(.timeLimit(.minutes(5)))
struct FilePositionTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [
        ("1 2 3", Position(1, 2, 3)), ("1 2\n3 4\n", Position(3, 4)), ("nonsense\n5 6 7\n\n \n", Position(5, 6, 7)),
        ("{\n  \"latitude\": 8,\n  \"longitude\": 9\n}\n", Position(8, 9)),
        ("{\"latitude\":1,\"longitude\":1}\n{\"latitude\":8,\"longitude\":9}\n", Position(8, 9)),
        (String(repeating: "50 50\n", count: 5_000) + "1 2", Position(1, 2)),
    ])
    func `its last line counts, or the whole of it as an object`(text: String, position: Position) async throws {
        try write(text, to: folder.path("place"))
        let source = FilePosition(path: folder.path("place"))
        var heard = Listener(source)
        #expect(await heard.position() == position)
        source.stop()
    }

    @Test func `it is read again when it is written, replaced, taken away and made`() async throws {
        let path = folder.path("place")
        try write("1 1", to: path)
        let source = FilePosition(path: path)
        var heard = Listener(source)
        #expect(await heard.change() == .position(Position(1, 1)))
        try write("2 2", to: path)
        #expect(await heard.change() == .position(Position(2, 2)))
        try Data("3 3".utf8).write(to: URL(fileURLWithPath: path), options: .atomic)
        #expect(await heard.change() == .position(Position(3, 3)))
        #expect(unlink(path) == 0)
        guard case .unavailable(let reason)? = await heard.change() else {
            Issue.record("it is still there")
            return
        }
        #expect(reason.contains("is not there"))
        try write("4 4", to: path)
        #expect(await heard.change() == .position(Position(4, 4)))
        source.stop()
    }

    @Test func `a file in a folder that comes later is found`() async throws {
        let path = folder.path("later") + "/deep/place"
        let source = FilePosition(path: path)
        var heard = Listener(source)
        #expect(await heard.fault().contains("is not there"))
        try FileManager.default.createDirectory(atPath: folder.path("later/deep"), withIntermediateDirectories: true)
        try write("1 2", to: path)
        #expect(await heard.position() == Position(1, 2))
        source.stop()
    }

    @Test func `a folder that is moved away and made anew is read anew`() async throws {
        let files = FileManager.default
        try files.createDirectory(atPath: folder.path("pos"), withIntermediateDirectories: false)
        try write("1 2", to: folder.path("pos/place"))
        let source = FilePosition(path: folder.path("pos/place"))
        var heard = Listener(source)
        #expect(await heard.change() == .position(Position(1, 2)))
        #expect(rename(folder.path("pos"), folder.path("pos.old")) == 0)
        guard case .unavailable? = await heard.change() else {
            Issue.record("it is still there")
            return
        }
        try files.createDirectory(atPath: folder.path("pos"), withIntermediateDirectories: false)
        try write("3 4", to: folder.path("pos/place"))
        #expect(await heard.change() == .position(Position(3, 4)))
        source.stop()
    }

    @Test func `a link is read through, and what it leads to is watched`() async throws {
        try FileManager.default.createDirectory(atPath: folder.path("other"), withIntermediateDirectories: false)
        try write("1 2", to: folder.path("other/place"))
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link"), withDestinationPath: folder.path("other/place"))
        let source = FilePosition(path: folder.path("link"))
        var heard = Listener(source)
        #expect(await heard.position() == Position(1, 2))
        try write("3 4", to: folder.path("other/place"))
        #expect(await heard.position() == Position(3, 4))
        source.stop()
    }

    @Test func `what cannot be read is told once, without the text`() async throws {
        let path = folder.path("place")
        try write("somewhere secret", to: path)
        let source = FilePosition(path: path)
        var heard = Listener(source)
        let fault = await heard.fault()
        #expect(fault.contains(path) && fault.contains("LATITUDE") && !fault.contains("secret"))
        try write("somewhere else", to: path)
        try write("1 2", to: path)
        #expect(await heard.position() == Position(1, 2))
        source.stop()
    }

    @Test func `a pipe or a folder in its place is not waited for`() async throws {
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        for path in [folder.path("pipe"), folder.url.path] {
            let source = FilePosition(path: path)
            var heard = Listener(source)
            #expect(await heard.fault().contains("no regular file"))
            source.stop()
        }
    }

    @Test func `after a rest it tells anew`() async throws {
        try write("1 2", to: folder.path("place"))
        let source = FilePosition(path: folder.path("place"))
        for _ in 0..<5 {
            var heard = Listener(source)
            #expect(await heard.position() == Position(1, 2))
            source.rest()
        }
        source.stop()
        source.start { _ in Issue.record("it was stopped") }
    }
}
