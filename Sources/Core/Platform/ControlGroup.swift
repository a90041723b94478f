import CLinux
import Foundation

/// A control group for one program (cgroups(7), version 2), next to this process's own. With it the kernel limits the
/// program's memory, and tracks all processes that the program started.
package struct ControlGroup: Sendable {
    /// The prefix of the groups' names.
    private static let prefix = "aldaba-program-"

    /// The group's folder in the file system of control groups.
    package let folder: String

    /// The folder in which this process may create groups: that of its own group's parent, if it is delegated to this
    /// user, which systemd marks by the attribute `user.delegate`. `nil` where there is none.
    ///
    /// - Parameters:
    ///   - groups: The contents of `/proc/self/cgroup`.
    ///   - root: The mount point of the file system of control groups.
    ///   - isDelegated: Whether a folder has been delegated.
    package static func delegated(
        groups: String? = try? String(contentsOfFile: "/proc/self/cgroup", encoding: .utf8),
        root: String = "/sys/fs/cgroup", isDelegated: (String) -> Bool = isMarked
    ) -> String? {
        // Version 2 has one line with this prefix.
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

    /// Creates a group in a delegated folder, and deletes those that earlier programs left empty.
    ///
    /// - Parameter memoryLimit: The maximum memory of its programs together, in bytes, including that of files
    ///   (`memory.max`).
    /// - Returns: `nil` where the kernel refuses it to this process.
    package static func make(in parent: String, memoryLimit: Int64) -> ControlGroup? {
        for name in (try? FileManager.default.contentsOfDirectory(atPath: parent)) ?? [] where name.hasPrefix(prefix) {
            // A group with a program in it cannot be deleted.
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

    /// Moves a process into the group, and with it the processes that it starts from now on.
    package func add(_ process: pid_t) -> Bool { Self.write("\(process)", to: "\(folder)/cgroup.procs") }

    /// Kills all processes in the group (Linux 5.14).
    package func kill() { _ = Self.write("1", to: "\(folder)/cgroup.kill") }

    /// The limit, in bytes, that its programs exceeded and for which the kernel killed them; `nil` where it killed
    /// none.
    package var exceededLimit: Int64? {
        let told = (try? String(contentsOfFile: "\(folder)/memory.events", encoding: .utf8)) ?? ""
        let killed = told.split(separator: "\n").first { $0.hasPrefix("oom_kill ") }
        guard let killed, killed != "oom_kill 0" else { return nil }
        let limit = try? String(contentsOfFile: "\(folder)/memory.max", encoding: .utf8)
        return limit.flatMap { Int64($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// Deletes the group, if it is empty.
    package func remove() { rmdir(folder) }

    private static func write(_ text: String, to path: String) -> Bool {
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return false }
        defer { close(file) }
        return Glibc.write(file, text, text.utf8.count) == text.utf8.count
    }
}
