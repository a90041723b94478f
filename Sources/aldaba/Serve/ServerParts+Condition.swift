import AldabaConfiguration
import ControlAPI
import Glibc
import Networking
import PushCore
import PushServer
import RelayServer
import SQLiteStore
import ServiceLifecycle

extension ServerParts {
    /// The interfaces that tell how the server is, and who uses it.
    func conditionInterfaces(_ condition: ServerCondition) -> [any ControlInterface] {
        [
            DeviceInterface(
                store: store, register: store.register, authentication: authentication, sealer: tokens.sealer,
                cell: Self.cell, sessions: mailboxes, clock: clock),
            ConditionInterface(condition, clock: clock),
            RelayAccountsInterface(database: databases.relay, sessions: mailboxes),
        ]
    }

    /// The condition of this server, as far as it knows it.
    func condition(
        _ status: ServerStatus, recorder: MetricsRecorder, certificate: ServerCertificate, folder: DataFolder
    ) -> ServerCondition {
        ServerCondition(
            status: status, recorder: recorder,
            certificates: { [store, databases] in
                var found = [certificate.ending]
                found += try await store.register.providerCertificates().filter { $0.revokedAt == nil }.map {
                    EndingCertificate(
                        kind: .provider, name: "\($0.certificateID) (\($0.team))", endsAt: $0.certificate.notAfter)
                }
                // A hub database that cannot be used is told among the systems that stand still.
                return found + ((try? await Self.credentials(databases)) ?? [])
            }, disk: { DiskSpace(of: folder.root) })
    }

    /// The credentials of hubs that end.
    private static func credentials(_ databases: ServerDatabases) async throws -> [EndingCertificate] {
        var found: [EndingCertificate] = []
        for hub in try await databases.hub.hubs() {
            found += try await databases.hub.credentials(of: hub.number).compactMap { credential in
                credential.expiresAt.map {
                    EndingCertificate(
                        kind: .hub, name: "\(hub.name): \(credential.kind.rawValue) \(credential.name)", endsAt: $0)
                }
            }
        }
        return found
    }
}

extension DiskSpace {
    /// Reads the space on the disk of a folder; `nil` where the system does not tell it.
    fileprivate init?(of folder: String) {
        var status = statvfs()
        guard statvfs(folder, &status) == 0 else { return nil }
        let size = Int64(status.f_frsize)
        self.init(
            free: Int64(status.f_bavail) * size, total: Int64(status.f_blocks) * size,
            isReadOnly: status.f_flag & UInt(ST_RDONLY) != 0)
    }
}

/// Records the metrics once a minute.
struct MetricsHistoryService: Service, CustomStringConvertible {
    let recorder: MetricsRecorder
    var description: String { "history of metrics" }

    func run() async throws {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(60))) != nil { recorder.record() }
        }
    }
}
