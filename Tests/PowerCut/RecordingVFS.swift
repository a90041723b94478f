import Foundation
import GRDBSQLite
import Synchronization

/// Everything that SQLite writes to one folder, in order.
///
/// Recording is done by a file system of SQLite's own kind (`sqlite3_vfs`), which becomes the default of this process, hands
/// everything on to the one that was the default before, and notes what concerns a recorded folder. Indexes of logs
/// (`-shm`) are mapped, not written, and do not survive a power cut: they are not noted.
package final class DiskRecording: Sendable {
    private let folder: String
    private let changes = Mutex<[DiskChange]>([])

    /// Begins to record. Databases in the folder must be opened after this.
    ///
    /// - Parameter folder: A path without symbolic links, to a folder without a database.
    package init(folder: String) {
        self.folder = folder
        RecordingVFS.begin(folder, self)
    }

    /// Ends the recording and returns what was recorded. The databases must be closed by then.
    package func end() -> [DiskChange] {
        RecordingVFS.end(folder)
        return changes.withLock { $0 }
    }

    /// How many changes were made so far.
    package var count: Int { changes.withLock { $0.count } }

    fileprivate func note(_ change: DiskChange) { changes.withLock { $0.append(change) } }
}

/// SQLite's side of the recordings.
private enum RecordingVFS {
    struct State {
        var recordings: [String: DiskRecording] = [:]
        var isInstalled = false
        /// The files of recorded folders, by the address of SQLite's object.
        var files: [UInt: (path: String, recording: DiskRecording)] = [:]
        /// The paths that were opened already.
        var paths: Set<String> = []
        /// Our methods that stand for SQLite's, by the address of those.
        var methods: [UInt: UInt] = [:]
        /// SQLite's methods that ours stand for, by the address of ours.
        var originals: [UInt: UInt] = [:]
    }

    static let state = Mutex(State())

    /// SQLite's own; it is never unregistered.
    nonisolated(unsafe) static let base: UnsafeMutablePointer<sqlite3_vfs> = {
        guard let base = sqlite3_vfs_find(nil) else { preconditionFailure("SQLite has a default file system") }
        return base
    }()

    static func begin(_ folder: String, _ recording: DiskRecording) {
        state.withLock { state in
            if !state.isInstalled {
                state.isInstalled = true
                install()
            }
            state.recordings[folder] = recording
        }
    }

    static func end(_ folder: String) {
        state.withLock { state in
            state.recordings[folder] = nil
            state.paths = state.paths.filter { !$0.hasPrefix(folder + "/") }
        }
    }

    /// Never undone: connections keep a pointer to the file system they were opened by.
    private static func install() {
        let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
        own.initialize(to: base.pointee)
        own.pointee.pNext = nil
        own.pointee.zName = UnsafePointer(strdup("aldaba-recording"))
        own.pointee.xOpen = { _, name, file, flags, outFlags in
            guard let xOpen = RecordingVFS.base.pointee.xOpen else { return SQLITE_ERROR }
            let code = xOpen(RecordingVFS.base, name, file, flags, outFlags)
            if code == SQLITE_OK, let name, let file { RecordingVFS.opened(String(cString: name), file) }
            return code
        }
        own.pointee.xDelete = { _, name, syncsFolder in
            guard let xDelete = RecordingVFS.base.pointee.xDelete else { return SQLITE_ERROR }
            let code = xDelete(RecordingVFS.base, name, syncsFolder)
            if code == SQLITE_OK, let name { RecordingVFS.removed(String(cString: name)) }
            return code
        }
        sqlite3_vfs_register(own, 1)
    }

    static func opened(_ path: String, _ file: UnsafeMutablePointer<sqlite3_file>) {
        state.withLock { state in
            let folder = (path as NSString).deletingLastPathComponent
            guard let recording = state.recordings[folder], let methods = file.pointee.pMethods else { return }
            if state.paths.insert(path).inserted {
                let bytes = FileManager.default.contents(atPath: path).map { [UInt8]($0) } ?? []
                recording.note(.opened(path, bytes))
            }
            state.files[UInt(bitPattern: file)] = (path, recording)
            let address = UInt(bitPattern: methods)
            let own = state.methods[address] ?? UInt(bitPattern: noting(methods))
            state.methods[address] = own
            state.originals[own] = address
            file.pointee.pMethods = UnsafePointer(bitPattern: own)
        }
    }

    static func removed(_ path: String) {
        state.withLock { state in
            guard state.paths.remove(path) != nil else { return }
            state.recordings[(path as NSString).deletingLastPathComponent]?.note(.removed(path))
        }
    }

    /// SQLite's methods of a file, with those that change it replaced. They stay for good: SQLite never frees methods.
    private static func noting(_ methods: UnsafePointer<sqlite3_io_methods>) -> UnsafePointer<sqlite3_io_methods> {
        let own = UnsafeMutablePointer<sqlite3_io_methods>.allocate(capacity: 1)
        own.initialize(to: methods.pointee)
        own.pointee.xWrite = { file, bytes, count, offset in
            guard let file, let bytes, let xWrite = RecordingVFS.original(file)?.pointee.xWrite else {
                return SQLITE_IOERR
            }
            let code = xWrite(file, bytes, count, offset)
            let new = Array(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
            if code == SQLITE_OK { RecordingVFS.note(file) { .written($0, offset: Int(offset), new) } }
            return code
        }
        own.pointee.xTruncate = { file, length in
            guard let file, let xTruncate = RecordingVFS.original(file)?.pointee.xTruncate else { return SQLITE_IOERR }
            let code = xTruncate(file, length)
            if code == SQLITE_OK { RecordingVFS.note(file) { .truncated($0, length: Int(length)) } }
            return code
        }
        own.pointee.xSync = { file, flags in
            guard let file, let xSync = RecordingVFS.original(file)?.pointee.xSync else { return SQLITE_IOERR }
            let code = xSync(file, flags)
            if code == SQLITE_OK { RecordingVFS.note(file) { .synced($0) } }
            return code
        }
        own.pointee.xClose = { file in
            guard let file, let xClose = RecordingVFS.original(file)?.pointee.xClose else { return SQLITE_IOERR }
            RecordingVFS.closed(file)
            return xClose(file)
        }
        return UnsafePointer(own)
    }

    static func original(_ file: UnsafeMutablePointer<sqlite3_file>) -> UnsafePointer<sqlite3_io_methods>? {
        state.withLock { $0.originals[UInt(bitPattern: file.pointee.pMethods)] }
            .flatMap { UnsafePointer(bitPattern: $0) }
    }

    static func note(_ file: UnsafeMutablePointer<sqlite3_file>, _ change: (String) -> DiskChange) {
        let noted = state.withLock { $0.files[UInt(bitPattern: file)] }
        if let noted { noted.recording.note(change(noted.path)) }
    }

    static func closed(_ file: UnsafeMutablePointer<sqlite3_file>) {
        _ = state.withLock { $0.files.removeValue(forKey: UInt(bitPattern: file)) }
    }
}
