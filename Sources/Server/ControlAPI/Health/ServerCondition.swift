import PushCore

/// A certificate or another credential that ends at a known time.
package struct EndingCertificate: Sendable, Hashable {
    /// The purpose of a certificate.
    package enum Kind: String, Sendable {
        /// The server shows it to its clients.
        case server
        /// A provider shows it to the server.
        case provider
        /// A hub sends with it to another push service.
        case hub
    }

    /// The purpose.
    package var kind: Kind
    /// The certificate's name for people; no path.
    package var name: String
    /// The time at which it ends.
    package var endsAt: Timestamp
    /// Whether it can be used: `false` where the server's files hold what cannot be.
    package var isUsable: Bool

    /// Creates an instance from its properties.
    package init(kind: Kind, name: String, endsAt: Timestamp, isUsable: Bool = true) {
        self.kind = kind
        self.name = name
        self.endsAt = endsAt
        self.isUsable = isUsable
    }

    /// The whole days that are left at an instant; below 0 once it has ended.
    package func daysLeft(at now: Timestamp) -> Int {
        Int((Double(endsAt.milliseconds(since: now)) / 86_400_000).rounded(.down))
    }
}

/// The space on the disk of a folder.
package struct DiskSpace: Sendable, Hashable {
    /// The bytes that are free for this process.
    package var free: Int64
    /// The size of the disk in bytes.
    package var total: Int64
    /// Whether it is mounted for reading alone.
    package var isReadOnly: Bool

    /// Below so many bytes there is little space: the database's log alone takes up to 40 MiB.
    package static let little: Int64 = 64 << 20
    /// Below so many bytes the disk counts as full.
    package static let none: Int64 = 4 << 20

    /// Creates an instance from its properties.
    package init(free: Int64, total: Int64, isReadOnly: Bool) {
        self.free = free
        self.total = total
        self.isReadOnly = isReadOnly
    }

    /// Whether nothing can be written, there is little space, or all is well.
    var state: String { isReadOnly ? "readOnly" : free < Self.none ? "full" : free < Self.little ? "low" : "ok" }
}

/// The condition of a server, as far as it knows it.
package struct ServerCondition: Sendable {
    /// The status of `/health` and `/ready`.
    package var status: ServerStatus
    /// The history of the metrics.
    package var recorder: MetricsRecorder
    /// The certificates that end, in any order.
    package var certificates: @Sendable () async throws -> [EndingCertificate]
    /// The space for the data folder; `nil` where it cannot be read.
    package var disk: @Sendable () -> DiskSpace?

    /// Creates an instance from its properties.
    package init(
        status: ServerStatus, recorder: MetricsRecorder,
        certificates: @escaping @Sendable () async throws -> [EndingCertificate],
        disk: @escaping @Sendable () -> DiskSpace?
    ) {
        self.status = status
        self.recorder = recorder
        self.certificates = certificates
        self.disk = disk
    }
}
