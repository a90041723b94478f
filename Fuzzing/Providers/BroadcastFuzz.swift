import APNsProtocol
import Foundation
import PushCore

/// A request about broadcast channels: lines of `name: value`, then an empty line and the body. No request may trap, and
/// what is let through is within its limits.
enum BroadcastFuzz: FuzzTest {
    static func run(_ input: UnsafeBufferPointer<UInt8>) {
        let lines = input.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let head = lines.prefix { !$0.isEmpty }
        var block = HeaderBlock()
        for line in head {
            let separator = line.dropFirst().firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
            block.append(
                name: UnsafeBufferPointer(rebasing: line[line.startIndex..<separator]),
                value: UnsafeBufferPointer(rebasing: line[separator...].dropFirst()))
        }
        let body = Array(lines.dropFirst(head.count + 1).joined(separator: [UInt8(ascii: "\n")]))
        if let place = block.first(":path"), let path = BroadcastPath(block.value(place)) { check(path) }
        for path in [BroadcastPath.channels("a"), .allChannels("a"), .broadcasts("a")] {
            for method in path.methods {
                if let request = try? BroadcastRequest(path, method: method, headers: block, body: body) {
                    check(request)
                }
            }
        }
    }

    private static func check(_ path: BroadcastPath) {
        precondition(!path.app.contains("/"), "a bundle id has more than one part of the path")
        guard !path.app.contains("%") else { return }
        let text =
            switch path {
            case .channels(let app): "/1/apps/\(app)/channels"
            case .allChannels(let app): "/1/apps/\(app)/all-channels"
            case .broadcasts(let app): "/4/broadcasts/apps/\(app)"
            }
        precondition(BroadcastPath(Array(text.utf8)[...]) == path, "a path that is written is read as another")
    }

    private static func check(_ request: BroadcastRequest) {
        switch request {
        case .read(let id), .delete(let id): check(id)
        case .publish(let id, let fields):
            check(id)
            precondition(fields.payload.count <= APNsPayloadLimit.broadcastBytes, "a payload beyond the limit")
            precondition(JSONScanner.fault(inObject: fields.payload) == nil, "a payload that is no object")
        case .create, .list: break
        }
    }

    private static func check(_ id: ChannelID) {
        precondition(ChannelID(text: id.description) == id, "an id that is written is read as another")
    }
}
