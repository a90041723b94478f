/// The answer to an app that has an address opened.
public enum OpeningAnswer: Hashable, Sendable {
    /// The desktop has taken the address; of a trial, it may be opened.
    case opened
    /// The address has a scheme of the app's own manifest: the app opens it itself.
    case own
    /// Nothing was opened, and why.
    case refused(String)
}

extension OpeningAnswer: Codable {
    private enum Key: String, CodingKey { case outcome, message }

    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Key.self)
        switch try members.decode(String.self, forKey: .outcome) {
        case "opened": self = .opened
        case "own": self = .own
        default: self = .refused(try members.member(.message, else: ""))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        switch self {
        case .opened: try members.encode("opened", forKey: .outcome)
        case .own: try members.encode("own", forKey: .outcome)
        case .refused(let message):
            try members.encode("refused", forKey: .outcome)
            try members.encode(message, forKey: .message)
        }
    }
}
