import Foundation
import RelayProtocol
import Synchronization
import Testing

@testable import ConnectedDevices

@Suite struct StreamTests {
    private static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { String(UInt16($0) + 256, radix: 16).suffix(2) }.joined()
    }

    @Test(
        "The digest is that of the standard",
        arguments: [
            ("", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 1,
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
            ("a", 1_000_000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"),
        ])
    func digest(text: String, times: Int, expected: String) {
        var position = StreamPosition()
        for _ in 0..<times { position.append(text.utf8) }
        #expect(Self.hex(position.whole) == expected)
        #expect(position.offset == Int64(text.utf8.count * times))
    }

    @Test("How the bytes are cut does not change the digest", arguments: [1, 55, 56, 63, 64, 65, 200])
    func cuts(_ length: Int) {
        let data = [UInt8]((0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31) })
        var whole = StreamPosition()
        whole.append(data)
        var cut = StreamPosition()
        for start in stride(from: 0, to: data.count, by: length) {
            cut.append(AnySequence(data[start..<min(start + length, data.count)]))
        }
        #expect(cut.whole == whole.whole && cut.offset == whole.offset)
    }

    /// A giver with a queue of its own; `heard` waits for what it says.
    private func steps(
        _ source: some RemoteStreamSource, _ pulls: [RelayStreamStep],
        until isLast: @escaping @Sendable (RelayStreamStep) -> Bool
    ) async -> [RelayStreamStep] {
        let (said, saying) = AsyncStream.makeStream(of: RelayStreamStep.self)
        let giver = StreamSender(source) {
            saying.yield($0)
            if isLast($0) { saying.finish() }
        } fail: {
            saying.finish()
        }
        for pull in pulls { giver.receive(pull) }
        var all: [RelayStreamStep] = []
        for await step in said { all.append(step) }
        return all
    }

    private func begin(of steps: [RelayStreamStep]) -> Int64? {
        if case .piece(let offset, _)? = steps.first { offset } else { nil }
    }

    @Test("What was asked for is given, in pieces; the digest of what began at 0 is the agent's")
    func giving() async {
        let data = Data((0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let all = await steps(
            DataStreamSource(data),
            [.pull(offset: 0, length: 100_000, prefix: []), .pull(offset: 100_000, length: 100_000, prefix: [])]
        ) { if case .allGiven = $0 { true } else { false } }
        var there = StreamPosition()
        for step in all {
            guard case .piece(let offset, let bytes) = step else { continue }
            #expect(offset == there.offset && bytes.count <= RelayStreamStep.pieceSize)
            there.append(bytes)
        }
        var whole = StreamPosition()
        whole.append(data)
        #expect(there.whole == whole.whole)
        #expect(all.last == .allGiven(digest: []))
    }

    @Test("It goes on after what is there, and begins anew where that is something else")
    func goingOn() async {
        let data = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        let isEnd: @Sendable (RelayStreamStep) -> Bool = { if case .allGiven = $0 { true } else { false } }
        var there = StreamPosition()
        there.append(data.prefix(70_000))
        let rest = await steps(
            DataStreamSource(data), [.pull(offset: 70_000, length: 30_000, prefix: there.prefix)], until: isEnd)
        var whole = StreamPosition()
        whole.append(data)
        #expect(begin(of: rest) == 70_000)
        #expect(rest.last == .allGiven(digest: whole.whole))
        let other = await steps(
            DataStreamSource(data),
            [
                .pull(offset: 70_000, length: 30_000, prefix: [1]), .pull(offset: 30_000, length: 70_000, prefix: []),
            ], until: isEnd)
        #expect(begin(of: other) == 0)
        #expect(other.last == .allGiven(digest: []))
    }

    @Test("Where as much is there as there is, the digest says whether it is the same", arguments: [true, false])
    func sameSize(_ isSame: Bool) async {
        let data = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
        var whole = StreamPosition()
        whole.append(data)
        var there = StreamPosition()
        there.append(isSame ? data : Data(count: data.count))
        let said = await steps(
            DataStreamSource(data), [.pull(offset: 100_000, length: 0, prefix: there.prefix)]
        ) { _ in true }
        #expect(said == [.allGiven(digest: whole.whole)])
        #expect((there.whole == whole.whole) == isSame)
        let anew = await steps(
            DataStreamSource(data),
            [
                .pull(offset: 100_000, length: 0, prefix: there.prefix), .pull(offset: 0, length: 100_000, prefix: []),
            ]
        ) { if case .piece(65_536, _) = $0 { true } else { false } }
        #expect(begin(of: Array(anew.dropFirst())) == 0)
    }

    @Test("A source that has less than it said fails, and gives no digest")
    func short() async {
        struct Short: RemoteStreamSource {
            var size: Int64 { 10 }
            func read(at offset: Int64, count: Int) -> Data { Data(repeating: 1, count: offset == 0 ? 4 : 0) }
        }
        let all = await steps(Short(), [.pull(offset: 0, length: 10, prefix: [])]) { _ in false }
        #expect(all == [.piece(offset: 0, [1, 1, 1, 1])])
    }
}
