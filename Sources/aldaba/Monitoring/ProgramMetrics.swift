import AldabaConfiguration
import Glibc
import Networking

extension PrometheusRegistry {
    /// A registry with the help text of each of our metrics, and with metrics of the program and its process.
    package static func ofProgram() -> PrometheusRegistry {
        let registry = PrometheusRegistry(families: MetricFamilies.all)
        registry.collect {
            [MetricSample(.gauge, "aldaba_build_info", [("version", AldabaVersion.number)], value: 1)]
                + ProcessMetrics.samples()
        }
        return registry
    }

    /// Reports the size of a database's files.
    package func collect(database: String) {
        collect {
            [("database", database), ("log", database + "-wal")].compactMap { file, path in
                var status = stat()
                guard lstat(path, &status) == 0 else { return nil }
                return MetricSample(
                    .gauge, "aldaba_store_bytes", [("file", file)], value: Double(status.st_size))
            }
        }
    }
}
