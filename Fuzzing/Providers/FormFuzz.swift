import Foundation
import NIOCore
import Networking
import PushServer

/// Forms, and addresses that are set by whoever manages an app: none may trap; a form's values have their lengths, a webhook's
/// address reads the same again, and a range of addresses has a beginning.
enum FormFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let text = String(decoding: input, as: UTF8.self)
        FormFuzz.checkForm(text)
        if let address = try? WebhookAddress(text) {
            precondition((try? WebhookAddress(address.description)) == address, "an address has two spellings")
            precondition((1...65_535).contains(address.port) && !address.host.isEmpty, "no host or port")
        }
        if let range = AddressRange(text) {
            let address = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)[0]
            guard let first = try? SocketAddress(ipAddress: String(address), port: 0) else {
                preconditionFailure("a range without an address")
            }
            precondition(range.contains(first), "a range lacks the address that it names")
        }
    }

    /// The value of the first field whose name is written without escapes.
    private static func checkForm(_ text: String) {
        guard let form = try? FormFields(text) else { return }
        for name in ["a", "sender", "X-subtype"] {
            guard let value = form.first(name) else { continue }
            // Escapes make bytes that are no text longer, three bytes for one.
            precondition(value.utf8.count <= 3 * text.utf8.count, "a value is longer than its form")
        }
    }
}
