import AldabaConfiguration
import Foundation
import Networking

/// The bucket of the files of notifications, as the settings name it.
extension ConfigurationValues {
    /// Creates the client of the bucket; `nil` where none is set.
    ///
    /// - Throws: ``CommandError`` for settings that cannot be used.
    func mediaBucket() throws -> S3Bucket? {
        guard let address = text(.mediaBucket) else { return nil }
        guard text(.nats) != nil else {
            throw CommandError(.invalidInput, "media-bucket is for several servers; set postgres and nats too")
        }
        guard let path = text(.mediaBucketCredentials) else {
            throw CommandError(.invalidInput, "media-bucket needs its access key; set media-bucket-credentials too")
        }
        let credentials: @Sendable () throws -> S3Credentials = { try Self.credentials(in: path) }
        _ = try credentials()
        do {
            return try S3Bucket(
                address, region: text(.mediaBucketRegion) ?? "us-east-1", credentials: credentials)
        } catch { throw CommandError(.invalidInput, "\(origin(.mediaBucket)): \(error)") }
    }

    private static func credentials(in path: String) throws -> S3Credentials {
        guard let text = try PrivateFile.secret(path, limit: 16_384) else {
            throw CommandError(.invalidInput, "\(path): there is no such file; it has the access key of media-bucket")
        }
        do { return try S3Credentials(parsing: text.wrappedValue) } catch {
            throw CommandError(.invalidInput, "\(path): \(error)")
        }
    }
}

extension S3Bucket {
    /// Stores an object in the bucket, reads it and deletes it. Blocks.
    ///
    /// - Returns: The reason why the bucket cannot be used; `nil` where it can.
    func fault() -> String? {
        let key = "aldaba-check-\(UUID().uuidString.lowercased())"
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(key).path
        // A file that stays in the temporary folder has one byte, which is no secret.
        defer { try? FileManager.default.removeItem(atPath: path) }
        // The SHA-256 of that byte.
        let digest = "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb"
        do {
            try Data("a".utf8).write(to: URL(fileURLWithPath: path))
            try put(path, as: key, bytes: 1, sha256: digest)
            var read: [UInt8] = []
            let found = Result { try get(key, bytes: 1) { read += $0 } }
            // The object goes, whatever came of reading it.
            try delete(key)
            return try found.get() && read == Array("a".utf8) ? nil : "the bucket does not have what was stored in it"
        } catch { return "media-bucket: \(error)" }
    }
}
