import AgentEngine
import CLinux
import Foundation
import Platform

/// The machine's position from a file: its last line, or the whole of it as a JSON object (see
/// `Docs/notification-centre-reference.md`).
///
/// Read at the start, and whenever the file was written and closed, replaced, made or removed. This also holds when it
/// is a link, or when its folder is made later. An empty file is taken to be one that is being written.
package final class FilePosition: PositionSource {
    /// `the file PATH`, with the absolute path.
    package let name: String
    private let thread: PositionThread

    /// Reads nothing before ``start(events:)``.
    ///
    /// - Parameter path: The file; relative ones count from the current folder.
    package init(path: String) {
        let path = URL(fileURLWithPath: path).path
        name = "the file \(path)"
        thread = PositionThread(name: "aldaba-place") { FileWork(path: path, teller: $0) }
    }

    /// Begins on a thread of its own; may be called again after ``rest()``.
    package func start(events: @escaping @Sendable (PositionEvent) -> Void) { thread.start(events: events) }
    /// Stops watching the file until the next start.
    package func rest() { thread.rest() }
    /// Ends the thread; nothing is reported any more.
    package func stop() { thread.stop() }
}

/// The thread's own: reads the file when it has changed.
private final class FileWork: PositionWork {
    /// How much of the file's end is read; a longer line is no position.
    private static let tail = 4_096

    private let path: String
    private let teller: PositionReporter
    private let watch: FolderWatch
    private var isFirst = true

    init(path: String, teller: PositionReporter) {
        self.path = path
        self.teller = teller
        watch = FolderWatch(path: path)
    }

    var descriptors: [pollfd] { [pollfd(fd: watch.descriptor, events: Int16(POLLIN), revents: 0)] }
    var deadline: ContinuousClock.Instant? { nil }

    func work() {
        let changes = watch.changes()
        guard isFirst || isComplete(changes) else { return }
        isFirst = false
        read()
    }

    func end() {}

    /// Whether what happened has left the file as it is to be. One that was only made is read when it is closed, unless
    /// it is a link to what was there before.
    private func isComplete(_ changes: UInt32) -> Bool {
        if changes & ~UInt32(IN_CREATE) != 0 { return true }
        var status = stat()
        return changes != 0 && (lstat(path, &status) != 0 || status.st_mode & S_IFMT != S_IFREG || status.st_nlink > 1)
    }

    private func read() {
        let words = "the file \(path)"
        // Opening a pipe or a terminal would wait, or change it.
        let file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY)
        guard file >= 0 else {
            let reason = errno == ENOENT ? "is not there" : "cannot be read: \(String(cString: strerror(errno)))"
            return teller.fail("\(words) \(reason); it is to hold \(PositionLine.form)")
        }
        defer { close(file) }
        var status = stat()
        guard fstat(file, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            return teller.fail("\(words) is no regular file; it is to hold \(PositionLine.form)")
        }
        var bytes = [UInt8](repeating: 0, count: Self.tail)
        let count = pread(file, &bytes, bytes.count, max(0, status.st_size - off_t(Self.tail)))
        guard count >= 0 else { return teller.fail("\(words) cannot be read: \(String(cString: strerror(errno)))") }
        report(bytes.prefix(count), isWhole: status.st_size <= off_t(Self.tail))
    }

    private func report(_ bytes: ArraySlice<UInt8>, isWhole: Bool) {
        let lines = bytes.split(separator: UInt8(ascii: "\n")).filter { !$0.allSatisfy(PositionLine.isSpace) }
        // A writer that has opened it and not written yet.
        guard let last = lines.last else { return }
        if isWhole, lines.count > 1, case .success(let position) = PositionLine.read(bytes) {
            return teller.report(position)
        }
        teller.report(PositionLine.read(last), of: "the last line of the file \(path)")
    }
}
