import Networking

/// An object store with the files of all servers, besides those that each server has. Every call blocks.
package protocol MediaBucket: Sendable {
    /// Stores a file as an object; see ``S3Bucket/put(_:as:bytes:sha256:)``.
    func put(_ path: String, as key: String, bytes: Int64, sha256: String) throws
    /// Reads an object in pieces; see ``S3Bucket/get(_:bytes:write:)``.
    ///
    /// - Returns: Whether there is such an object.
    func get(_ key: String, bytes: Int64, write: ([UInt8]) throws -> Void) throws -> Bool
    /// Deletes an object; one that is missing counts as deleted.
    func delete(_ key: String) throws
}

extension S3Bucket: MediaBucket {}

/// The requests to a bucket; the label's values.
enum MediaBucketAction: String, CaseIterable {
    /// An upload is stored.
    case put
    /// A server reads a file that it does not have.
    case get
    /// The object of a deleted or expired file is deleted.
    case delete
}
