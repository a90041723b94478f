import Crypto
import Foundation
import RelayProtocol

extension RelaySettings {
    /// Belongs to another account, or to none. The device has another key then: what lists say of the old one stays
    /// true.
    mutating func change(account new: AccountKey?) {
        guard new != account else { return }
        account = new
        list = nil
        if deviceKey != nil { deviceKey = RelaySeals.newKey() }
    }

    /// The public half of the device's key.
    var ownKey: [UInt8]? {
        deviceKey.flatMap { try? Curve25519.KeyAgreement.PrivateKey(rawRepresentation: $0) }
            .map { Array($0.publicKey.rawRepresentation) }
    }
}

extension AccountKey {
    /// Signs a list as a whole; nothing where that cannot be.
    func signature(of list: RelayDeviceList) -> [UInt8] {
        guard let claim = Self.claim(list), let signature = try? signingKey.signature(for: claim) else { return [] }
        return Array(signature)
    }

    /// Whether the account's key signed a list.
    func hasSigned(_ list: RelayDeviceList, _ signature: [UInt8]) -> Bool {
        guard let claim = Self.claim(list) else { return false }
        return signingKey.publicKey.isValidSignature(signature, for: claim)
    }

    private static func claim(_ list: RelayDeviceList) -> [UInt8]? {
        (try? list.encoded()).map { Array("aldaba relay list 1".utf8) + [0] + $0 }
    }
}
