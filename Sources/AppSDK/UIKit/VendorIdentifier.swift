import AppHost
import Foundation

/// An identifier of this app on this machine, made of what stays the same: the app's id, the machine's id and the
/// user's number. Nothing is stored.
enum VendorIdentifier {
    static let current: UUID? = {
        let machine = try? String(contentsOfFile: "/etc/machine-id", encoding: .utf8)
        return make(app: AppHostConfiguration.current().app?.rawValue, machine: machine, user: UInt32(getuid()))
    }()

    /// `nil` without an app or a machine.
    static func make(app: String?, machine: String?, user: UInt32) -> UUID? {
        guard let app, let machine = machine?.trimmingCharacters(in: .whitespacesAndNewlines), !machine.isEmpty else {
            return nil
        }
        // Two runs of the hash with different beginnings give the 128 bits. Only the hash hides the machine's
        // id in them, which is enough: the identifier names an app to itself.
        let text = "aldaba vendor \(app)\n\(machine)\n\(user)"
        let high = hash(text, from: 0xCBF2_9CE4_8422_2325)
        let low = hash(text, from: ~0xCBF2_9CE4_8422_2325)
        var bytes = (0..<8).map { UInt8(truncatingIfNeeded: high >> (56 - 8 * $0)) }
        bytes += (0..<8).map { UInt8(truncatingIfNeeded: low >> (56 - 8 * $0)) }
        // Version 8 (made by the application's own rule) and the variant, by RFC 9562.
        bytes[6] = bytes[6] & 0x0F | 0x80
        bytes[8] = bytes[8] & 0x3F | 0x80
        return UUID(
            uuid: (
                bytes[0], bytes[1], bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7], bytes[8], bytes[9],
                bytes[10], bytes[11], bytes[12], bytes[13], bytes[14], bytes[15]
            ))
    }

    /// FNV-1a, then mixed so that every bit depends on all.
    private static func hash(_ text: String, from start: UInt64) -> UInt64 {
        var value = start
        for byte in text.utf8 { value = (value ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}
