import PushCore

/// A path of the interface for broadcast channels. Clients reach it under several hosts, so the path decides.
///
/// Source: Apple, "Sending channel management requests to APNs" and "Sending broadcast push notification requests to
/// APNs".
package enum BroadcastPath: Hashable, Sendable {
    /// `/1/apps/BUNDLE/channels`: creates, reads or deletes a channel.
    case channels(String)
    /// `/1/apps/BUNDLE/all-channels`: lists the channels.
    case allChannels(String)
    /// `/4/broadcasts/apps/BUNDLE`: sends to a channel.
    case broadcasts(String)

    /// Reads a path; `nil` for one of another interface.
    package init?(_ sent: ArraySlice<UInt8>) {
        // Device pushes, which are most of the requests, are told apart by one byte.
        guard sent.dropFirst().first != UInt8(ascii: "3") else { return nil }
        let plain = sent.contains(UInt8(ascii: "%")) ? PlainPath.bytes(sent)[...] : sent
        guard plain.starts(with: "/1/apps/".utf8) || plain.starts(with: "/4/broadcasts/apps/".utf8) else { return nil }
        let parts = String(decoding: plain, as: UTF8.self).split(separator: "/", omittingEmptySubsequences: false)
        switch (parts.count, parts.last) {
        case (5, "channels") where parts[1] == "1": self = .channels(String(parts[3]))
        case (5, "all-channels") where parts[1] == "1": self = .allChannels(String(parts[3]))
        case (5, _) where parts[1] == "4": self = .broadcasts(String(parts[4]))
        default: return nil
        }
    }

    /// The bundle id in the path.
    package var app: String {
        switch self {
        case .channels(let app), .allChannels(let app), .broadcasts(let app): app
        }
    }

    /// The methods that the path has.
    package var methods: [String] {
        switch self {
        case .channels: ["DELETE", "GET", "POST"]
        case .allChannels: ["GET"]
        case .broadcasts: ["POST"]
        }
    }
}
