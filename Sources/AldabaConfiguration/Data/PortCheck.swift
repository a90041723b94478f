import Foundation
import Glibc

/// Checks whether a TCP port on loopback is free, and else which process has it, as far as this user may see.
package enum PortCheck {
    /// A port that is taken.
    package struct Taken: Sendable, Equatable {
        /// The TCP port.
        package var port: Int
        /// The process that listens there, as far as this user may see it.
        package var process: Int32?
        /// The name of that process, where it can be determined.
        package var program: String?

        /// ` by pid N (NAME)`, or nothing.
        package var holder: String {
            guard let process else { return "" }
            return " by pid \(process)" + (program.map { " (\($0))" } ?? "")
        }
    }

    /// Tries the port of `127.0.0.1` by binding it for a moment; `nil` when it is free, or 0.
    package static func taken(_ port: Int) -> Taken? {
        guard port != 0 else { return nil }
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0 && listen(descriptor, 1) == 0
            }
        }
        if bound { return nil }
        // The kernel gives its table in pieces, and a look may miss a line while the table changes: hence
        // several looks.
        let process = (0..<5).lazy.compactMap { _ in listener(port) }.first
        let program = process.flatMap { try? String(contentsOfFile: "/proc/\($0)/comm", encoding: .utf8) }
        return Taken(port: port, process: process, program: program?.trimmingCharacters(in: .whitespacesAndNewlines))
    }

    /// The process that listens on a port (proc(5): `/proc/net/tcp` names the socket, `/proc/PID/fd` its owners).
    /// The one that started first is named, since others inherited the socket from it.
    private static func listener(_ port: Int) -> Int32? {
        let hexadecimal = String(port, radix: 16, uppercase: true)
        let suffix = ":" + String(repeating: "0", count: max(0, 4 - hexadecimal.count)) + hexadecimal
        var sockets: Set<String> = []
        for table in ["/proc/net/tcp", "/proc/net/tcp6"] {
            for line in text(of: table).split(separator: "\n") {
                let columns = line.split(separator: " ")
                // Column 3 is the state, 0A means listening; column 9 is the socket's inode.
                if columns.count > 9, columns[1].hasSuffix(suffix), columns[3] == "0A" {
                    sockets.insert("socket:[\(columns[9])]")
                }
            }
        }
        guard !sockets.isEmpty else { return nil }
        let all = names(in: "/proc").compactMap { Int32($0) }
        return all.filter { holds($0, sockets) }.min { beginning(of: $0) < beginning(of: $1) }
    }

    /// Reads a file whose size the kernel does not report to its end: it returns a page at a time, and Foundation takes
    /// the first for all.
    private static func text(of path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        var text: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = read(file, &piece, piece.count), count > 0 { text += piece.prefix(count) }
        return String(decoding: text, as: UTF8.self)
    }

    private static func holds(_ process: Int32, _ sockets: Set<String>) -> Bool {
        let folder = "/proc/\(process)/fd"
        var target = [CChar](repeating: 0, count: 64)
        return names(in: folder).contains { name in
            let length = readlink("\(folder)/\(name)", &target, target.count)
            let bytes = target.prefix(max(0, length)).map(UInt8.init(bitPattern:))
            return sockets.contains(String(decoding: bytes, as: UTF8.self))
        }
    }

    /// The names in a folder, read entry by entry: Foundation's list is none at all when an entry goes meanwhile.
    private static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    /// When a process began, in ticks since the system did: the 22nd field of its `stat`. The second field, in
    /// parentheses, may hold any character.
    private static func beginning(of process: Int32) -> UInt64 {
        let stat = (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)) ?? ""
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
        return fields.count > 20 ? UInt64(fields[20]) ?? .max : .max
    }
}
