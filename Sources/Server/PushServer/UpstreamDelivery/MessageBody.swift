import APNsProtocol
import Foundation
import PushCore

/// The JSON object of a message from an app, for its provider's stream or webhook.
package struct MessageBody: Encodable, Sendable {
    /// The app's own id of the message; with ``from`` it identifies the message, however often it is delivered.
    var id: String
    /// The sequence number, as a decimal text: the cursor.
    var number: String
    /// The app's topic.
    var topic: String
    /// The device token of the app that sent it, to which a response can be sent.
    var from: String
    /// The device.
    var device: String
    /// The time at which the server received it.
    var receivedAt: String
    /// The time at which it expires.
    var expiresAt: String
    /// The keys and values, as the app sent them.
    var data: [String: String]
    /// The bytes that the app sent in addition, as base64; left out where there are none.
    var raw: String?

    /// Creates the body of a queued message.
    ///
    /// - Throws: The cryptographic library's error when the token cannot be sealed.
    package init(_ waiting: WaitingMessage, sealer: DeviceTokenSealer, cell: UInt16) throws {
        let message = waiting.message
        id = message.messageID
        number = String(waiting.number)
        topic = waiting.topic.rawValue
        from = try sealer.seal(
            TokenSubject(
                cell: cell, device: message.device, app: message.app, environment: waiting.environment,
                generation: waiting.generation)
        ).description
        device = message.device.description
        receivedAt = waiting.receivedAt.description
        expiresAt = message.expiresAt.description
        data = message.data
        raw = message.raw.isEmpty ? nil : Data(message.raw).base64EncodedString()
    }

    /// The JSON bytes, in one line, with sorted keys.
    package func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }
}
