import Foundation

/// A text file that grows by whole lines, each in one write, so that others may read while it grows.
final class AppendedFile {
    private let descriptor: Int32

    /// Opens or makes the file, readable by its owner only; `nil`, and a word on standard error, when it cannot.
    init?(path: String) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else {
            Terminal.warn("\(path) cannot be written: \(String(cString: strerror(errno)))")
            return nil
        }
    }

    deinit { close(descriptor) }

    func append(line: Data) {
        let bytes = Array(line) + [UInt8(ascii: "\n")]
        let written = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if written != bytes.count { Terminal.warn("a line was not written: \(String(cString: strerror(errno)))") }
    }

    /// The lines of a file; none where there is no file.
    static func lines(of path: String?) -> [String] {
        guard let path, let text = try? String(contentsOfFile: path, encoding: .utf8) else { return [] }
        return text.split(separator: "\n").map(String.init)
    }
}

/// Lines for people, at once also where they go into a pipe. One that nobody takes is lost.
enum Terminal {
    static func say(_ line: String) { try? FileHandle.standardOutput.write(contentsOf: Data("\(line)\n".utf8)) }
    static func warn(_ line: String) {
        try? FileHandle.standardError.write(contentsOf: Data("todolist: \(line)\n".utf8))
    }

    /// Does what may fail, and says when it does.
    @MainActor
    static func trying(_ what: String, _ body: () async throws -> Void) async {
        do { try await body() } catch { warn("no \(what): \(error.localizedDescription)") }
    }
}
