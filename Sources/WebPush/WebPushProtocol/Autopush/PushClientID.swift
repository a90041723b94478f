import PushCore

/// The credential of a browser, the protocol's `uaid`: the id and the secret of its device as 32 hexadecimal digits.
package struct PushClientID: Hashable, Sendable {
    /// The device.
    package let device: DeviceID
    /// The device's secret; never logged.
    @Secret package var secret: UInt64

    /// Takes the parts; nothing is checked.
    package init(device: DeviceID, secret: UInt64) {
        self.device = device
        self.secret = secret
    }

    /// Reads 32 hexadecimal digits, of which hyphens are ignored; `nil` for anything else, as other servers' ids mostly are.
    package init?(text: String) {
        let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
        guard text.utf8.count <= 36, digits.count == 32 else { return nil }
        var numbers: [UInt64] = [0, 0]
        for (index, character) in digits.enumerated() {
            guard let digit = Hexadecimal.value(character) else { return nil }
            numbers[index / 16] = numbers[index / 16] << 4 | UInt64(digit)
        }
        guard let device = DeviceID(numbers[0]) else { return nil }
        self.init(device: device, secret: numbers[1])
    }

    /// The 32 digits, in lower case; as secret as ``secret``.
    package var text: String {
        var bytes: [UInt8] = []
        withUnsafeBytes(of: device.rawValue.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: secret.bigEndian) { bytes.append(contentsOf: $0) }
        return Hexadecimal.text(bytes)
    }
}
