import AgentProtocol

/// A request that is to be added, from an app or a terminal, with or without files.
package struct AddedRequest: Hashable, Sendable {
    /// The sender of a request: an app, or a person at a terminal.
    package enum Asker: Hashable, Sendable {
        /// The app of this bundle id.
        case app(BundleID)
        /// A person at a terminal; `waits` for the outcome of the notification.
        case terminal(waits: Bool)
    }

    /// The sender of the request.
    package let asker: Asker
    /// The asker's number for it, which the answer repeats.
    package let number: Int64
    /// The requested notification. Once its files are copied it names the copies.
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
