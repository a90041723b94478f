import Foundation
import RelayProtocol
import Synchronization
import Testing

@testable import RelayAgent

@Suite struct TakenQueuedMessagesFileTests {
    private func queuedMessage(until: Int64 = 100, _ status: RelayStatus = .success) -> ReceivedMessage {
        ReceivedMessage(key: QueuedMessageKey(sender: "9", id: UUID()), until: until, status: status)
    }

    private func folder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("messages-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.path
    }

    private func keep(_ queuedMessages: [ReceivedMessage], in file: ReceivedMessageLogFile) async -> [ReceivedMessage] {
        let (told, source) = AsyncStream.makeStream(of: ReceivedMessage.self)
        for queuedMessage in queuedMessages {
            file.keep(.taken(queuedMessage)) { written, failure in
                #expect(failure == nil)
                for queuedMessage in written { source.yield(queuedMessage) }
            }
        }
        var all: [ReceivedMessage] = []
        for await queuedMessage in told {
            all.append(queuedMessage)
            if all.count == queuedMessages.count { break }
        }
        return all
    }

    @Test("What was written is read by the next agent; what has expired or was broken off is not, and what follows is")
    func reading() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = ReceivedMessageLogFile(dataFolder: folder)
        #expect(try first.read(at: 0).taken.isEmpty)
        let queuedMessages = (0..<50).map { queuedMessage(until: $0 == 3 ? 5 : 100, $0 == 4 ? .denied : .success) }
        #expect(await keep(queuedMessages, in: first) == queuedMessages)
        let path = folder + "/relay-letters"
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(ReceivedMessageLogFile.line(.taken(queuedMessage())).utf8.dropLast(4)))
        try handle.close()
        let rest = queuedMessages.filter { $0.until == 100 }
        let second = ReceivedMessageLogFile(dataFolder: folder)
        #expect(try second.read(at: 10).taken == rest)
        let last = queuedMessage()
        #expect(await keep([last], in: second) == [last])
        #expect(try ReceivedMessageLogFile(dataFolder: folder).read(at: 10).taken == rest + [last])
        #expect(try ReceivedMessageLogFile(dataFolder: folder).read(at: 101).taken.isEmpty)
    }

    @Test("Attempts are read by the next agent until their message is taken, or its deadline has passed")
    func attempts() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let file = ReceivedMessageLogFile(dataFolder: folder)
        let (open, taken) = (queuedMessage(), queuedMessage())
        let attempts = [open, taken, open].map { DeliveryAttempt(key: $0.key, until: 50) }
        for attempt in attempts { file.keep(.attempt(attempt)) { _, _ in Issue.record("nothing was taken") } }
        #expect(await keep([taken], in: file) == [taken])
        let read = try ReceivedMessageLogFile(dataFolder: folder).read(at: 10)
        #expect(read.taken == [taken] && read.attempts == [attempts[0], attempts[2]])
        #expect(try ReceivedMessageLogFile(dataFolder: folder).read(at: 51).attempts.isEmpty)
    }

    @Test("A file that cannot be written is told, with all that was to go in it")
    func failing() async throws {
        let file = ReceivedMessageLogFile(dataFolder: "/nowhere/at/all")
        let one = queuedMessage()
        let told = await withCheckedContinuation { told in
            file.keep(.taken(one)) { told.resume(returning: ($0, $1 != nil)) }
        }
        #expect(told.0 == [one] && told.1)
    }
}
