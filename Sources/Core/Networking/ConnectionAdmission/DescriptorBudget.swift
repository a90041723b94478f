import Glibc

/// The maximum numbers of the listeners' connections, so that the process never runs out of descriptors.
///
/// Of the limit of open files (RLIMIT_NOFILE) 96 are kept for the store, logs and listeners. Of the rest,
/// a quarter goes to the providers, an eighth to the control API, and a thirty-second to the metrics. A sixteenth goes to the
/// old binary interface where that is served. Each of them has an upper bound; the devices have what is left.
package struct DescriptorBudget: Hashable, Sendable {
    /// The descriptors reserved for everything except listeners' connections.
    package static let reserved = 96

    /// The maximum number of connections of the provider API, `8 ... 10,000`.
    package let providers: Int
    /// The maximum number of connections of the control API, `8 ... 4,096`.
    package let control: Int
    /// The maximum number of connections of the old binary interface, `8 ... 1,024`; 0 where it is not served.
    package let legacy: Int
    /// Connections that the listener of metrics and health may have, `8 ... 64`.
    package let metrics: Int
    /// Connections that the device endpoint may have, `8 ... 200,000`.
    package let devices: Int

    /// Divides a limit of open files. A limit below the reserve leaves each listener eight.
    package init(openFiles: Int, servesLegacy: Bool = false) {
        let free = max(64, openFiles - Self.reserved)
        providers = max(8, min(10_000, free / 4))
        control = max(8, min(4096, free / 8))
        legacy = servesLegacy ? max(8, min(1024, free / 16)) : 0
        metrics = max(8, min(64, free / 32))
        devices = max(8, min(200_000, free - providers - control - legacy - metrics))
    }

    /// Raises this process's soft limit of open files to its hard limit.
    ///
    /// - Returns: The limit that holds from now on.
    package static func raiseLimit() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return 1024 }
        if limit.rlim_cur < limit.rlim_max {
            var raised = limit
            raised.rlim_cur = limit.rlim_max
            if setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
