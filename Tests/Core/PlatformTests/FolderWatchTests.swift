import AldabaTestSupport
import Foundation
import Testing

@testable import Platform

struct FolderWatchTests {
    private let folder: TemporaryFolder
    private let files = FileManager.default

    init() throws {
        folder = try TemporaryFolder()
        try files.createDirectory(atPath: folder.path("one/two"), withIntermediateDirectories: true)
        try Data("1".utf8).write(to: URL(fileURLWithPath: folder.path("one/two/file")))
    }

    private func move(_ from: String, _ to: String) { #expect(rename(folder.path(from), folder.path(to)) == 0) }

    private func make(_ path: String) throws {
        try files.createDirectory(atPath: folder.path(path), withIntermediateDirectories: true)
    }

    private func write(_ path: String) throws {
        try Data("2".utf8).write(to: URL(fileURLWithPath: folder.path(path)))
    }

    @Test(arguments: ["one/two", "one"])
    func `a folder on the way that is moved away and made anew is noticed`(moved: String) throws {
        let watch = FolderWatch(path: folder.path("one/two/file"))
        #expect(watch.changes() == 0)
        move(moved, "old")
        #expect(watch.changes() != 0)
        try make("one/two")
        try write("one/two/file")
        #expect(watch.changes() != 0)
        try write("one/two/file")
        #expect(watch.changes() != 0, "the new one is watched")
        try write(moved == "one" ? "old/two/file" : "old/file")
        #expect(watch.changes() == 0, "the old one is not")
    }

    @Test func `a folder that is replaced between two looks is watched`() throws {
        let watch = FolderWatch(path: folder.path("one/two/file"))
        move("one/two", "old")
        try make("one/two")
        #expect(watch.changes() != 0)
        try write("one/two/file")
        #expect(watch.changes() != 0)
    }

    @Test func `a link to a folder on the way that leads elsewhere is noticed`() throws {
        try files.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: "./one/../one")
        let watch = FolderWatch(path: folder.path("link/two/file"))
        try write("one/two/file")
        #expect(watch.changes() != 0)
        try make("other/two")
        #expect(watch.changes() == 0)
        try files.createSymbolicLink(atPath: folder.path("new"), withDestinationPath: "other")
        move("new", "link")
        #expect(watch.changes() != 0)
        try write("other/two/file")
        #expect(watch.changes() != 0)
        try write("one/two/file")
        #expect(watch.changes() == 0)
    }

    @Test func `a folder that is taken away and comes again is noticed`() throws {
        let watch = FolderWatch(path: folder.path("one/two/file"))
        try files.removeItem(atPath: folder.path("one"))
        #expect(watch.changes() != 0)
        try make("one")
        #expect(watch.changes() != 0)
        try make("one/two")
        try write("one/two/file")
        #expect(watch.changes() != 0)
    }

    @Test func `what happens to others on the way is not noticed`() throws {
        // Not the file that was made before: a process that another test starts may have it open for a moment longer.
        let watch = FolderWatch(path: folder.path("one/two/none"))
        for other in ["beside", "one/beside", "one/two/beside"] { try write(other) }
        try make("one/more")
        #expect(watch.changes() == 0)
    }

    @Test func `what leads to the file no more is watched no more`() throws {
        for number in 0..<20 { try make("folder \(number)") }
        let link = folder.path("link")
        try files.createSymbolicLink(atPath: link, withDestinationPath: "folder 0/file")
        let watch = FolderWatch(path: link)
        let first = watches(of: watch)
        for number in 1..<20 {
            try files.createSymbolicLink(atPath: link + ".new", withDestinationPath: "folder \(number)/file")
            move("link.new", "link")
            #expect(watch.changes() != 0)
        }
        #expect(first > 2 && watches(of: watch) == first)
        try write("folder 0/file")
        #expect(watch.changes() == 0)
    }

    @Test func `links in a circle are no way`() throws {
        try files.createSymbolicLink(atPath: folder.path("a"), withDestinationPath: "b")
        try files.createSymbolicLink(atPath: folder.path("b"), withDestinationPath: "a")
        let watch = FolderWatch(path: folder.path("a"))
        #expect(unlink(folder.path("b")) == 0)
        #expect(watch.changes() != 0)
    }

    /// How many folders the kernel watches for it.
    private func watches(of watch: FolderWatch) -> Int {
        let text = try? String(contentsOfFile: "/proc/self/fdinfo/\(watch.descriptor)", encoding: .utf8)
        return text?.split(separator: "\n").count { $0.hasPrefix("inotify ") } ?? 0
    }
}
