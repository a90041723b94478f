import AldabaTestSupport
import Foundation
import Platform
import Testing

struct FolderLockTests {
    private let folder: TemporaryFolder
    private var path: String { folder.path("lock") }

    init() throws { folder = try TemporaryFolder() }

    @Test func `a second lock is refused and names who holds the first`() throws {
        let first = try FolderLock(path: path)
        #expect(throws: FolderLock.Refusal.inUse(process: getpid())) { try FolderLock(path: path) }
        #expect(FolderLock.refusal(path: path) == .inUse(process: getpid()))
        withExtendedLifetime(first) {}
    }

    @Test func `a lock ends with its holder`() throws {
        do { _ = try FolderLock(path: path) }
        #expect(FolderLock.refusal(path: path) == nil)
        #expect(throws: Never.self) { try FolderLock(path: path) }
    }

    @Test func `a file that tells no process is held by one that is not known`() throws {
        let first = try FolderLock(path: path)
        #expect(truncate(path, 0) == 0)
        #expect(FolderLock.refusal(path: path) == .inUse(process: nil))
        withExtendedLifetime(first) {}
    }

    @Test func `a file that cannot be opened is refused with the system's words`() {
        let refusal = FolderLock.Refusal.unusable(action: "open", reason: String(cString: strerror(EISDIR)))
        #expect(throws: refusal) { try FolderLock(path: folder.url.path) }
    }
}
