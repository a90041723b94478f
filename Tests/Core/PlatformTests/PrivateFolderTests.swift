import AldabaTestSupport
import Foundation
import Platform
import Testing

struct PrivateFolderTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("made/here") }

    init() throws { folder = try TemporaryFolder() }

    private var mode: Int? {
        (try? FileManager.default.attributesOfItem(atPath: path))?[.posixPermissions] as? Int
    }

    @Test func `a missing folder is made for its owner alone`() throws {
        try PrivateFolder.prepare(path, shut: false)
        #expect(mode == 0o700)
    }

    @Test(arguments: [(false, 0o755), (true, 0o700)])
    func `others' reading is taken away where that is asked for`(shut: Bool, mode: Int) throws {
        try PrivateFolder.prepare(path, shut: true)
        #expect(chmod(path, 0o755) == 0)
        try PrivateFolder.prepare(path, shut: shut)
        #expect(self.mode == mode)
    }

    @Test func `a folder where others can write, and what is no folder, are refused and left as they are`() throws {
        try PrivateFolder.prepare(path, shut: true)
        #expect(chmod(path, 0o777) == 0)
        let open = MachineError(
            what: path, reason: "others can write to it; look what is in it, then take that away: chmod go-w \(path)")
        #expect(throws: open) { try PrivateFolder.prepare(path, shut: true) }
        #expect(mode == 0o777)
        #expect(FileManager.default.createFile(atPath: folder.path("file"), contents: nil))
        let file = folder.path("file")
        #expect(throws: MachineError(what: file, reason: "it cannot be made")) {
            try PrivateFolder.prepare(file, shut: false)
        }
    }
}
