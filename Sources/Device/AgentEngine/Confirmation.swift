import AppConnections

/// A connection that waits for one answer, such as that its command is durable.
package struct Confirmation: Sendable {
    /// Who waits.
    package var connection: AppConnection
    /// The number of its request, which the answer repeats.
    package var request: Int64

    /// Somebody who waits.
    package init(connection: AppConnection, request: Int64) {
        self.connection = connection
        self.request = request
    }
}
