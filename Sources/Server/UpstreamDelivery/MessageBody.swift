import APNsWire
import Foundation
import PushModel

/// A message from an app as its provider gets it, by the stream or by a webhook: one JSON object.
package struct MessageBody: Encodable, Sendable {
    /// The app's own name of the message; with ``from`` it is one message, however often it comes.
    var id: String
    /// Its place among all messages, as a decimal text: the cursor.
    var number: String
    /// The app's topic.
    var topic: String
    /// The device token of the app that sent it: an answer can be sent to it.
    var from: String
    /// The device.
    var device: String
    /// When the server had it.
    var receivedAt: String
    /// Until when it is worth anything.
    var expiresAt: String
    /// Keys and values, as the app gave them.
    var data: [String: String]
    /// What the app sent beside them, as base64; left out where there is nothing.
    var raw: String?

    /// What is told of a message.
    ///
    /// - Throws: what the cryptographic library says when the token cannot be sealed.
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

    /// The bytes, in one line, with sorted keys.
    package func json() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(self))
    }
}
