/// A connection that waits for one answer, such as that its command is durable.
package struct Confirmation: Sendable {
    /// The connection that waits for the answer.
    package var connection: AppConnectionID
    /// The number of its request, which the answer repeats.
    package var request: Int64

    /// Creates the address of an answer: a connection, and the number of its request.
    package init(connection: AppConnectionID, request: Int64) {
        self.connection = connection
        self.request = request
    }
}
