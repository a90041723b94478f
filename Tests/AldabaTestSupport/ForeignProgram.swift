import CLinux
import Foundation

/// A program of the system's that a test runs, in a session of its own, with an empty standard input.
///
/// Foundation's `Process` is no choice here: CoreFoundation waits for children by select(2), and its copies of the descriptor
/// sets reach past their end in a process that has some thousands of descriptors open, as that of all tests has.
package final class ForeignProgram {
    /// Its process.
    package let id: pid_t
    private let output: FileHandle
    private var status: Int32?

    /// Starts it.
    ///
    /// - Throws: `POSIXError` when it cannot be started.
    package init(_ path: String, _ arguments: [String] = [], variables: [String: String] = [:]) throws {
        var ends: [Int32] = [-1, -1]
        guard aldaba_pipe(&ends) == 0 else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        output = FileHandle(fileDescriptor: ends[0], closeOnDealloc: true)
        defer { close(ends[1]) }
        let environment = ["PATH": "/usr/bin:/bin"].merging(variables) { $1 }.map { "\($0)=\($1)" }
        var words = ([path] + arguments).map { strdup($0) } + [nil]
        var settings = environment.map { strdup($0) } + [nil]
        defer { for text in words + settings { free(text) } }
        var process: pid_t = 0
        let result = aldaba_spawn(&process, path, -1, ends[1], -1, -1, 1, &words, &settings)
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: result) ?? .EIO) }
        id = process
    }

    /// The next line that it prints; what it has printed where it has ended.
    package func readLine() throws -> String {
        var line = ""
        while let byte = try output.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
            line.unicodeScalars.append(Unicode.Scalar(byte))
        }
        return line
    }

    /// What it prints until it ends.
    package func readToEnd() throws -> String {
        let bytes = try output.readToEnd() ?? Data()
        waitUntilExit()
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Its exit code, once it has ended; -1 where a signal ended it.
    @discardableResult
    package func waitUntilExit() -> Int32 {
        if let status { return status }
        var word: Int32 = 0
        while waitpid(id, &word, 0) < 0, errno == EINTR {}
        let code = word & 0x7f == 0 ? word >> 8 & 0xff : -1
        status = code
        return code
    }

    /// Ends it.
    package func end() {
        guard status == nil else { return }
        kill(id, SIGKILL)
        waitUntilExit()
    }

    deinit { end() }
}
