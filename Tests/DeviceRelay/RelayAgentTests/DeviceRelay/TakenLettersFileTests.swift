import Foundation
import RelayProtocol
import Synchronization
import Testing

@testable import RelayAgent

@Suite struct TakenLettersFileTests {
    private func letter(until: Int64 = 100, _ status: RelayStatus = .success) -> TakenLetter {
        TakenLetter(key: LetterKey(sender: "9", id: UUID()), until: until, status: status)
    }

    private func folder() throws -> String {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("letters-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder.path
    }

    private func keep(_ letters: [TakenLetter], in file: TakenLettersFile) async -> [TakenLetter] {
        let (told, source) = AsyncStream.makeStream(of: TakenLetter.self)
        for letter in letters {
            file.keep(letter) { written, failure in
                #expect(failure == nil)
                for letter in written { source.yield(letter) }
            }
        }
        var all: [TakenLetter] = []
        for await letter in told {
            all.append(letter)
            if all.count == letters.count { break }
        }
        return all
    }

    @Test("What was written is read by the next agent; what has expired or was broken off is not, and what follows is")
    func reading() async throws {
        let folder = try folder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let first = TakenLettersFile(dataFolder: folder)
        #expect(try first.read(at: 0).isEmpty)
        let letters = (0..<50).map { letter(until: $0 == 3 ? 5 : 100, $0 == 4 ? .denied : .success) }
        #expect(await keep(letters, in: first) == letters)
        let path = folder + "/relay-letters"
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let handle = try #require(FileHandle(forWritingAtPath: path))
        try handle.seekToEnd()
        try handle.write(contentsOf: Data(TakenLettersFile.line(letter()).utf8.dropLast(4)))
        try handle.close()
        let rest = letters.filter { $0.until == 100 }
        let second = TakenLettersFile(dataFolder: folder)
        #expect(try second.read(at: 10) == rest)
        let last = letter()
        #expect(await keep([last], in: second) == [last])
        #expect(try TakenLettersFile(dataFolder: folder).read(at: 10) == rest + [last])
        #expect(try TakenLettersFile(dataFolder: folder).read(at: 101).isEmpty)
    }

    @Test("A file that cannot be written is told, with all that was to go in it")
    func failing() async throws {
        let file = TakenLettersFile(dataFolder: "/nowhere/at/all")
        let one = letter()
        let told = await withCheckedContinuation { told in
            file.keep(one) { told.resume(returning: ($0, $1 != nil)) }
        }
        #expect(told.0 == [one] && told.1)
    }
}
