import CoreValues
import Foundation
import RelayProtocol

/// The files and streams that go to other devices and come from them.
struct RelayStreams {
    var outgoing = OutgoingFiles()
    var incoming = IncomingFiles()
    /// Streams of apps, in both directions.
    var apps = AppStreams()
    /// The time of the last message from another device that belongs to no stream.
    var lastOtherMessageAt = Timestamp.distantPast

    /// The time after another message during which little of a file is in transit, since more messages may follow.
    static var pause: Duration { .milliseconds(50) }

    /// Whether other devices may be about to say something, since they just did.
    func isTalking(at now: Timestamp) -> Bool {
        // A clock that was set back makes it no longer than the pause.
        lastOtherMessageAt <= now && now.duration(since: lastOtherMessageAt) < Self.pause
    }

    /// The devices with which a file or a stream is in progress.
    var devices: [String] { outgoing.devices + incoming.files.values.map(\.device) + apps.devices }

    /// When a file or a stream has something to do next; `distantFuture` for never.
    var nextMoment: Timestamp { min(incoming.nextMoment ?? .distantFuture, apps.nextMoment ?? .distantFuture) }
}
