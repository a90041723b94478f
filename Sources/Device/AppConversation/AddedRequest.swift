import AgentWire
import DeviceModel

/// A request that is to be added, whoever asks for that and whether or not files come with it.
package struct AddedRequest: Hashable, Sendable {
    /// Who asks.
    package enum Asker: Hashable, Sendable {
        /// The app of this bundle id.
        case app(BundleID)
        /// A person at a terminal, who `waits` for what becomes of it.
        case terminal(waits: Bool)
    }

    /// Who asks.
    package let asker: Asker
    /// The asker's number for it, which the answer repeats.
    package let number: Int64
    /// What is asked. Once its files are copied it names the copies.
    package var request: NotificationRequest

    /// A request as it was asked.
    package init(asker: Asker, number: Int64, request: NotificationRequest) {
        self.asker = asker
        self.number = number
        self.request = request
    }

    /// The app whose request it is. All terminals are one app.
    package var app: BundleID {
        switch asker {
        case .app(let app): app
        case .terminal: AppManifest.terminalID
        }
    }

    /// Whether files come with it.
    package var hasFiles: Bool { !request.content.attachments.isEmpty }
}
