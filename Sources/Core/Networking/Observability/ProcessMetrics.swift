import Glibc

/// The system's metrics of this process, under the names that Prometheus' own clients use.
package enum ProcessMetrics {
    /// Reads the metrics; unreadable ones are left out.
    package static func samples() -> [MetricSample] {
        var samples: [MetricSample] = []
        func add(_ name: String, _ value: Double?, _ kind: MetricSample.Kind = .gauge) {
            if let value { samples.append(MetricSample(kind, "process_\(name)", value: value)) }
        }
        let fields = file("/proc/self/stat").flatMap(statFields) ?? []
        func field(_ number: Int) -> Double? { fields.indices.contains(number - 3) ? Double(fields[number - 3]) : nil }
        let ticks = Double(max(1, sysconf(Int32(_SC_CLK_TCK))))
        if let user = field(14), let system = field(15) { add("cpu_seconds_total", (user + system) / ticks, .counter) }
        add("threads", field(20))
        if let began = field(22), let boot = bootTime() { add("start_time_seconds", boot + began / ticks) }
        add("virtual_memory_bytes", field(23))
        add("resident_memory_bytes", field(24).map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) })
        add("open_fds", openFiles())
        var limit = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 {
            add("max_fds", Double(limit.rlim_cur))
        }
        return samples
    }

    /// The fields of `/proc/PID/stat` from the third on (proc(5)): the second is a name, which may contain any
    /// character.
    static func statFields(_ text: String) -> [Substring]? {
        guard let end = text.lastIndex(of: ")") else { return nil }
        return text[text.index(after: end)...].split(whereSeparator: { $0 == " " || $0 == "\n" })
    }

    /// The time at which the machine started, in seconds since 1970.
    private static func bootTime() -> Double? {
        file("/proc/stat")?.split(separator: "\n").first { $0.hasPrefix("btime ") }
            .flatMap { Double($0.dropFirst("btime ".count)) }
    }

    private static func openFiles() -> Double? {
        // Since Linux 6.2 the folder's size is the number of its entries. Before, they must be counted.
        var status = stat()
        if stat("/proc/self/fd", &status) == 0, status.st_size > 0 { return Double(status.st_size) }
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // The count leaves out the folder's own descriptor, and the entries `.` and `..`.
        return Double(max(0, count - 3))
    }

    /// The text of a file of `/proc`, at most 64 KiB of it.
    private static func file(_ path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        var length = 0
        while length < bytes.count {
            let count = bytes.withUnsafeMutableBytes {
                let rest = UnsafeMutableRawBufferPointer(rebasing: $0[length...])
                return read(descriptor, rest.baseAddress, rest.count)
            }
            guard count > 0 else { break }
            length += count
        }
        return String(decoding: bytes.prefix(length), as: UTF8.self)
    }
}
