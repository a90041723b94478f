import AldabaConfiguration
import Crypto
import Logging
import NATSCarrier
import PostgresStore
import PushCore
import PushServer

/// The carrier and the keys that a server shares with the other nodes.
struct NodeParts: Sendable {
    let carrier: NATSCarrier

    /// The addresses of the setting `nats`; `nil` for a server that is alone.
    ///
    /// - Throws: ``CommandError`` where they cannot be used, or there is no database that servers can share.
    static func address(_ values: ConfigurationValues) throws -> NATSAddress? {
        guard let text = values.text(.nats) else { return nil }
        guard values.text(.postgres) != nil else {
            throw CommandError(.invalidInput, "nats is for servers that share a database; set postgres too")
        }
        do { return try NATSAddress(text) } catch { throw CommandError(.invalidInput, error.description) }
    }

    /// Connects to the other nodes, once the keys of the data folder are those of all of them.
    ///
    /// - Returns: `nil` for a server that is alone.
    init?(_ configuration: ServerConfiguration, store: any ServerStore, logger: Logger) throws {
        guard let address = try Self.address(configuration.values), let store = store as? PostgresStore else {
            return nil
        }
        let keys = try Self.shareKeys(configuration.folder.sealingKeys, store)
        let key = HKDF<SHA256>.deriveKey(
            inputKeyMaterial: SymmetricKey(data: keys), info: Array("aldaba messages of nodes".utf8),
            outputByteCount: 32)
        carrier = NATSCarrier(
            address, cluster: try store.cluster.clusterName(), key: key,
            name: "aldaba \(AldabaVersion.number) node \(store.node)",
            logger: logger)
        logger.info("this server is node \(store.node)")
    }

    /// Gives the folder the keys of all nodes, or all nodes those of the folder.
    ///
    /// - Returns: The current key.
    private static func shareKeys(_ path: String, _ store: PostgresStore) throws -> [UInt8] {
        let name = "sealing-keys"
        let isNew = try PrivateFile.secret(path) == nil
        if isNew, try store.cluster.sharedSecret(name, own: nil) == nil {
            guard try !store.cluster.hasRegistrations() else {
                throw CommandError(
                    .invalidInput,
                    "the keys of the database's device tokens are in the data folder of the server that made them; start that one first"
                )
            }
            _ = try SealingKeys.ensure(path)
        }
        let own = try PrivateFile.secret(path)?.wrappedValue
        let shared = try store.cluster.sharedSecret(name, own: own)
        // Of servers that start together, one gives all the others its keys.
        if isNew, let shared, own != shared { try PrivateFile.write(Array(shared.utf8), to: path) }
        guard isNew || own == shared, let key = try SealingKeys.ensure(path).wrappedValue.first else {
            throw CommandError(
                .invalidInput,
                "the keys in \(path) are not those of the other servers; device tokens of one would be unknown to the other"
            )
        }
        return key
    }
}
