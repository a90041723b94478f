import Crypto
import Foundation
import RelayProtocol

/// The list of the user's devices, which they exchange, signed as a whole by the account's key. The server neither
/// keeps nor reads it. A device that the list marks as removed is not accepted from the server.
extension RelayHost {
    /// Adds this device where the list does not contain it, and sends the list to all present devices.
    mutating func joinList() {
        enterList()
        tellList()
    }

    private mutating func enterList() {
        guard let ownID = directory.ownID, let key = settings.ownKey else { return }
        var list = settings.list ?? RelayDeviceList()
        list.set(ownID, key: key, isRemoved: false)
        keep(list)
    }

    /// Sends the list to one device, or to all that are present.
    mutating func tellList(to device: String? = nil) {
        guard let list = settings.list, let account = settings.account, let known else { return }
        let signature = account.signature(of: list)
        for other in known.values.sorted(by: { $0.id < $1.id })
        where other.id != directory.ownID && other.presence == .online && (device == nil || other.id == device) {
            send(.list(list, signature: signature), to: other.id, deadline: nil)
        }
    }

    /// Handles the list of another device.
    mutating func receive(_ list: RelayDeviceList, signature: [UInt8], from device: String, at now: Int64) {
        guard settings.account?.hasSigned(list, signature) == true else {
            return log(RelayLogEntry(device: device, what: "a device list that is not the account's", status: .denied))
        }
        let own = settings.list ?? RelayDeviceList()
        let merged = own.merged(with: list)
        guard merged != own else {
            if merged.entries != list.entries { tellList(to: device) }
            return
        }
        keep(merged)
        for (id, device) in known ?? [:] where id != directory.ownID && merged.isRemoved(id, key: device.key) {
            gone(id, now)
            for client in members.keys { tellWatcher(client) }
        }
        // The device that reported this one as removed did not know that it has joined again.
        enterList()
        if settings.list?.entries != list.entries { tellList() }
    }

    private mutating func keep(_ list: RelayDeviceList) {
        guard list != settings.list else { return }
        settings.list = list
        directives.append(.save(settings))
    }

    /// How many devices of the list the server does not know under the account's key, as where that changed while this
    /// device was away.
    var missingCount: Int64 {
        let others =
            settings.list?.entries.filter { !$0.isRemoved && $0.id != directory.ownID && known($0.id) == nil } ?? []
        return Int64(others.count)
    }

    /// This device leaves: the others learn it from this device.
    mutating func leaveList() {
        guard let ownID = directory.ownID, let key = settings.ownKey, var list = settings.list else { return }
        list.set(ownID, key: key, isRemoved: true)
        settings.list = list
        tellList()
    }
}

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
