/// The outcome of a ``MediaRequest``.
public enum MediaAnswer: Hashable, Sendable {
    /// A file of this user's, whose name ends as its content is: to be attached within two minutes, or it is gone.
    case file(path: String)
    /// Nothing, and why.
    case failed(MediaFailure)
}

extension MediaAnswer: Codable {
    private enum Key: String, CodingKey {
        case path
    }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        if let path = try members.decodeIfPresent(String.self, forKey: .path) {
            self = .file(path: path)
        } else {
            self = .failed(try MediaFailure(from: decoder))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .file(let path):
            var members = encoder.container(keyedBy: Key.self)
            try members.encode(path, forKey: .path)
        case .failed(let failure): try failure.encode(to: encoder)
        }
    }
}
