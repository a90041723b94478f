import Foundation
import RelayProtocol

/// The devices that this one knows, and its session with the server.
struct RelayNeighbours {
    /// The user's devices according to the server; `nil` while there is no session.
    var devices: [String: RelayDevice]?
    /// The devices of the user whose apps the server has not listed yet.
    var undescribed: Set<String> = []
    /// The user's devices that described themselves over a direct connection.
    var met: [String: RelayDevice] = [:]
    /// Devices of other persons that have asked for this one, and that this one has asked for.
    var guests: [String: RelayDevice] = [:]
    var hosts: [String: RelayDevice] = [:]
    /// The requests for another user's device, by its id.
    var finds: [String: [(client: ClientNumber, request: Int64)]] = [:]
    /// The devices that are reached without the server.
    var direct: Set<String> = []
    var ownID: String?
    var isOpen = false
}

/// The connections over which apps call services of other devices.
struct CallConnections {
    var lines: [UUID: RelayHost.Line] = [:]
    /// When to look at the connections next.
    var linesDue: Int64?
    /// How many bytes of questions are kept for connections.
    var askedBytes = 0
    /// The reasons of closed connections that could not be reported to their devices.
    var untoldCloses: [UUID: RelayCloseReason] = [:]
    /// The queued commands whose connection was closed before they were sent.
    var unaskable: [UUID] = []
}

/// Messages to devices that are away, in both directions.
struct MessageQueues {
    /// The deadlines of this device's messages that the server has not confirmed yet.
    var sentQueuedMessages: [UUID: Int64] = [:]
    /// The requests that cancel queued messages, by message id.
    var recalls: [UUID: [(client: ClientNumber, request: Int64)]] = [:]
    /// The messages of other devices, until their outcome is on the disk.
    var queuedMessages: [QueuedMessageKey: RelayHost.IncomingMessage] = [:]
    var queuedMessageLanes: [RelayHost.QueuedMessageLane: [QueuedMessageKey]] = [:]
    /// The lanes whose current message has ended, so that the next one is due.
    var endedLanes: [RelayHost.QueuedMessageLane] = []
    /// The lanes whose next message is due, but was deferred because ``RelayHost/taskLimit`` was reached.
    var busyLanes: [RelayHost.QueuedMessageLane] = []
    var taken = ReceivedMessageLog()
    /// The outcomes of queued messages that could not be reported to their senders yet.
    var untoldEnds: [RelayHost.QueuedMessageEnd] = []
    /// The outcomes reported last, by the ids of their reports, the oldest first.
    var toldEnds: [UUID: RelayHost.QueuedMessageEnd] = [:]
    var toldOrder: [UUID] = []
}

/// The commands of other devices that are carried out here.
struct IncomingCommands {
    var answered = AnsweredCommands()
    /// The tasks whose question waits until another one about the same device is answered, in order.
    var unasked: [Int64] = []
    /// Whether what is being carried out was allowed by the person.
    var isAllowing = false
    var tasks: [Int64: RelayHost.Task] = [:]
    var lastTask: Int64 = 0
    /// The descriptions of other devices' commands for the log, by command id.
    var described: [UUID: String] = [:]
}

/// The files and streams that go to other devices and come from them.
struct RelayStreams {
    /// Files that go to other devices and come from them.
    var outgoing: [UUID: RelayHost.Outgoing] = [:]
    var incoming: [UUID: RelayHost.Incoming] = [:]
    /// The time of the last message from another device that belongs to no stream.
    var talkedAt: Int64 = .min
    /// Streams of apps, in both directions.
    var appStreams: [UUID: RelayHost.AppStream] = [:]
}
