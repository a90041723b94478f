import AldabaTestSupport
import Testing

@testable import HubProtocol

/// Numbers in clumps, so that all kinds of containers come about.
private func numbers(_ generator: inout SeededGenerator) -> Set<UInt32> {
    var result: Set<UInt32> = []
    for _ in 0..<3 {
        let base = UInt32.random(in: 0..<4, using: &generator) << 16
        for _ in 0..<Int.random(in: 0..<9000, using: &generator) {
            result.insert(base | UInt32.random(in: 0..<12_000, using: &generator))
        }
    }
    return result
}

@Test(arguments: 0..<8) func `bitmaps are the sets that they stand for`(seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let (left, right) = (numbers(&generator), numbers(&generator))
    var (one, other) = (Bitmap(left.shuffled(using: &generator)), Bitmap(right))
    #expect(one.count == left.count)
    #expect(one.numbers() == left.sorted())
    #expect(one.union(other).numbers() == left.union(right).sorted())
    #expect(one.intersection(other).numbers() == left.intersection(right).sorted())
    #expect(one.subtracting(other).numbers() == left.subtracting(right).sorted())
    #expect(Bitmap(portable: one.portable) == one)
    for number in right { one.remove(number) }
    #expect(one.numbers() == left.subtracting(right).sorted())
    #expect(one == Bitmap(left.subtracting(right)))
    for number in left { other.insert(number) }
    #expect(other.count == left.union(right).count)
}

@Test func `a page begins where it is told to`() {
    let all = Bitmap((0..<100_000).lazy.map { UInt32($0 * 3) })
    #expect(all.numbers(from: 65_536, limit: 2) == [65_538, 65_541])
    #expect(all.numbers(from: 299_997, limit: 2) == [299_997])
    #expect(all.numbers(from: 300_000).isEmpty)
    #expect(Bitmap(below: 70_000).numbers(from: 65_535, limit: 2) == [65_535, 65_536])
    #expect(Bitmap(below: 70_000).count == 70_000)
}

/// Made with the specification of the portable format at hand.
@Test func `the portable form is that of Roaring bitmaps`() {
    #expect(
        Bitmap([1, 2, 65_536 + 7]).portable == [
            0x3A, 0x30, 0, 0, 2, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 24, 0, 0, 0, 28, 0, 0, 0, 1, 0, 2, 0, 7, 0,
        ])
    #expect(Bitmap().portable == [0x3A, 0x30, 0, 0, 0, 0, 0, 0])
}

@Test func `bytes that are no bitmap are refused`() {
    let good = Bitmap([1, 2, 70_000]).portable
    for length in 0..<good.count { #expect(Bitmap(portable: Array(good.prefix(length))) == nil) }
    #expect(Bitmap(portable: good + [0]) == nil)
}
