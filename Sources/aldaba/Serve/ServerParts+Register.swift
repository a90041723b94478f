import AldabaConfiguration
import HubServer
import PushServer
import SQLiteStore

extension ServerParts {
    /// The interfaces that change the register and the hubs.
    func registerInterfaces(
        _ configuration: ServerConfiguration, ports: BoundPorts, changes: AuditedChanges
    ) -> [any ControlInterface] {
        let folder = configuration.folder
        let authority: @Sendable () -> String? = { [host = configuration.clientHost] in
            ports.control.current.map { ServerAddresses.authority(host, $0) }
        }
        let files = RegisterFolder(
            folder: folder, store: store.register, address: { authority().map { "https://\($0)" } },
            certificate: (configuration.certificate, configuration.certificateKey),
            isOwnCertificate: configuration.values.flag(.development) && configuration.values.text(.certificate) == nil,
            clock: clock)
        return [
            RegisterInterface(
                register: store.register, webhooks: store, answers: webhookAnswers, files: files, changes: changes,
                clock: clock),
            HubRegisterInterface(
                database: databases.hub, apps: { [store] in try await store.register.apps() }, answers: webhookAnswers,
                authority: { authority() ?? configuration.clientHost },
                // Without it the server logs the change at its next look, half a minute later.
                changed: { try? SQLiteRegister.noteChange(besideDatabase: folder.database) }, changes: changes,
                clock: clock),
        ]
    }
}
