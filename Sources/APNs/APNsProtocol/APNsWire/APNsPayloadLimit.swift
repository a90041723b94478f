import PushCore

/// How many bytes a payload may have. Source: Apple, "Generating a remote notification".
package enum APNsPayloadLimit {
    /// The limit of a message to a broadcast channel.
    package static let broadcastBytes = 5120

    /// 5120 for `voip`, 4096 for everything else.
    package static func bytes(for type: PushType?) -> Int { type == .voip ? 5120 : 4096 }
}
