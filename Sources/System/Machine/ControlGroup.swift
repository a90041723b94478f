import CLinux
import Foundation

/// A control group for one program (cgroups(7), version 2), beside this process's own: in it the kernel itself keeps the
/// program's memory within a limit, and finds all that the program started.
package struct ControlGroup: Sendable {
    /// What the groups' names begin with.
    private static let prefix = "aldaba-program-"

    /// Its folder in the file system of control groups.
    package let folder: String

    /// The folder in which this process may make groups: that of its own group's parent, where somebody has delegated it
    /// to this user, as systemd says by the attribute `user.delegate`. `nil` where there is none.
    ///
    /// - Parameters:
    ///   - groups: What `/proc/self/cgroup` says.
    ///   - root: Where the file system of control groups is.
    ///   - isDelegated: Whether a folder has been delegated.
    package static func delegated(
        groups: String? = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8),
        root: String = "/sys/fs/cgroup", isDelegated: (String) -> Bool = isMarked
    ) -> String? {
        // Version 2 has the one line that begins so.
        guard let line = groups?.split(separator: "\n").first(where: { $0.hasPrefix("0::/") }) else { return nil }
        let names = line.dropFirst(4).split(separator: "/")
        guard names.count >= 2, !names.contains("..") else { return nil }
        let parent = ([root] + names.dropLast().map(String.init)).joined(separator: "/")
        guard isDelegated(parent), access("\(parent)/cgroup.procs", W_OK) == 0 else { return nil }
        let controllers = (try? String(contentsOfFile: "\(parent)/cgroup.controllers", encoding: .utf8)) ?? ""
        guard controllers.split(whereSeparator: \.isWhitespace).contains("memory") else { return nil }
        return parent
    }

    /// Whether systemd has marked a folder as delegated.
    @Sendable package static func isMarked(_ folder: String) -> Bool {
        var value: [UInt8] = [0, 0]
        return getxattr(folder, "user.delegate", &value, value.count) == 1 && value[0] == UInt8(ascii: "1")
    }

    /// Makes a group in a delegated folder, and deletes those that earlier programs left empty.
    ///
    /// - Parameter memoryLimit: Bytes that its programs may have together, those of files among them (`memory.max`).
    /// - Returns: `nil` where the kernel does not let this process.
    package static func make(in parent: String, memoryLimit: Int64) -> ControlGroup? {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] where name.hasPrefix(prefix) {
            // One with a program in it cannot be deleted.
            rmdir("\(parent)/\(name)")
        }
        let group = ControlGroup(folder: "\(parent)/\(prefix)\(UUID().uuidString.lowercased())")
        guard write("+memory", to: "\(parent)/cgroup.subtree_control"), mkdir(group.folder, 0o755) == 0 else {
            return nil
        }
        guard write("\(memoryLimit)", to: "\(group.folder)/memory.max"),
            write("1", to: "\(group.folder)/memory.oom.group")
        else {
            group.remove()
            return nil
        }
        return group
    }

    /// Puts a process into the group, and with it what it starts from now on.
    package func add(_ process: pid_t) -> Bool { Self.write("\(process)", to: "\(folder)/cgroup.procs") }

    /// Kills all that is in the group (Linux 5.14).
    package func kill() { _ = Self.write("1", to: "\(folder)/cgroup.kill") }

    /// The limit, in bytes, that its programs went beyond and for which the kernel killed them; `nil` where it killed none.
    package var exceededLimit: Int64? {
        let told = (try? String(contentsOfFile: "\(folder)/memory.events", encoding: .utf8)) ?? ""
        let killed = told.split(separator: "\n").first { $0.hasPrefix("oom_kill ") }
        guard let killed, killed != "oom_kill 0" else { return nil }
        let limit = try? String(contentsOfFile: "\(folder)/memory.max", encoding: .utf8)
        return limit.flatMap { Int64($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// Deletes the group, where nothing is in it.
    package func remove() { rmdir(folder) }

    private static func write(_ text: String, to path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return Glibc.write(file, text, text.utf8.count) == text.utf8.count
    }
}
