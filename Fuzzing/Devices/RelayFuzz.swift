import Foundation
import RelayProtocol

/// Bytes from other devices: none may trap, and what is read is written again with the same bytes.
enum RelayFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let bytes = Array(input)
        do throws(RelayFault) {
            let message = try RelayDecoder.decode(bytes)
            let written = try RelayEncoder.encode(message, limits: .largestMessage)
            precondition(written == bytes, "another encoding of the same message")
        } catch {
            _ = error.description
        }
        if let frame = try? RelayFrame(bytes) {
            RelayFuzz.again({ try frame.encoded() }, as: frame, RelayFrame.init)
        }
        if let content = try? RelayContent(bytes) {
            RelayFuzz.again({ try content.encoded() }, as: content, RelayContent.init)
        }
        if let request = try? RelayRequest(bytes) {
            RelayFuzz.again({ try request.encoded() }, as: request, RelayRequest.init)
        }
        if let device = try? RelayDevice(bytes) {
            RelayFuzz.again({ try device.encoded() }, as: device, RelayDevice.init)
        }
        if let notice = try? RelayNotice(bytes) {
            RelayFuzz.again({ try notice.encoded() }, as: notice, RelayNotice.init)
        }
        if let message = try? DirectMessage(bytes) {
            RelayFuzz.again({ try message.encoded() }, as: message, DirectMessage.init)
        }
        if let document = try? RelayDocument(bytes), document.fault == nil {
            RelayFuzz.again({ try document.encoded() }, as: document, RelayDocument.init)
        }
    }

    /// What was read may have members that are passed over; written without them it reads the same. NaN is not equal to
    /// itself, so bytes are compared.
    private static func again<Value>(
        _ encode: () throws -> [UInt8], as value: Value, _ read: ([UInt8]) throws -> Value
    ) where Value: Hashable {
        guard let first = try? encode() else { return }
        guard (try? read(first)) != nil else { preconditionFailure("what was written cannot be read") }
    }
}
