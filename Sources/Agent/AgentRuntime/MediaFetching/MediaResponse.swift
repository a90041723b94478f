import AgentEngine

/// The head of a host's response: its status and header fields.
package struct MediaResponse: Hashable, Sendable {
    /// The HTTP status.
    package var status: Int
    /// The target of a redirect, from `Location`.
    package var location: String?
    /// The media type, from `Content-Type`.
    package var contentType: String?
    /// The number of bytes, from `Content-Length`.
    package var length: Int64?
    /// How the bytes are coded; `nil` and `identity` are as they are.
    package var coding: String?
    /// `ETag` or `Last-Modified`, for revalidation; `nil` where the file may not be kept.
    package var validator: MediaValidator?

    /// A response of these parts.
    package init(
        status: Int, location: String? = nil, contentType: String? = nil, length: Int64? = nil,
        coding: String? = nil, validator: MediaValidator? = nil
    ) {
        self.status = status
        self.location = location
        self.contentType = contentType
        self.length = length
        self.coding = coding
        self.validator = validator
    }
}

/// The validator of a file's version (RFC 9110, section 8.8).
package struct MediaValidator: Codable, Hashable, Sendable {
    /// `ETag`, with its quotation marks.
    package var entityTag: String?
    /// `Last-Modified`, as the host wrote it.
    package var lastModified: String?

    /// The longest text of either that is kept, in bytes.
    private static let lengthLimit = 256

    /// `nil` where there is neither, or only what is too long.
    package init?(entityTag: String?, lastModified: String?) {
        func kept(_ text: String?) -> String? {
            text.flatMap { $0.isEmpty || $0.utf8.count > Self.lengthLimit ? nil : $0 }
        }
        self.entityTag = kept(entityTag)
        self.lastModified = kept(lastModified)
        if self.entityTag == nil, self.lastModified == nil { return nil }
    }
}
