import Testing

@testable import PushServer

@Suite struct HeldFramesTests {
    @Test("What is no piece of something large comes first, and each kind in its order")
    func order() {
        var held = HeldFrames(capacity: PendingBytesBudget())
        for (frame, isBulk) in [(1, true), (2, false), (3, true), (4, false)] as [(UInt8, Bool)] {
            let isTaken = held.hold([frame], isBulk: isBulk)
            #expect(isTaken)
        }
        var taken: [[UInt8]] = []
        while let frame = held.next() { taken.append(frame) }
        #expect(taken == [[2], [4], [1], [3]])
        #expect(held.isEmpty)
    }

    @Test("Pieces that fill their capacity leave that of messages free")
    func capacity() {
        var held = HeldFrames(capacity: PendingBytesBudget())
        let large = [UInt8](repeating: 0, count: HeldFrames.bulkLimit)
        let taken = [(large, true), ([1], true), ([2], false)].map { held.hold($0.0, isBulk: $0.1) }
        #expect(taken == [true, false, true])
        #expect(held.next() == [2])
        #expect(held.next() == large)
        let isTaken = held.hold([1], isBulk: true)
        #expect(isTaken)
    }

    @Test("All connections together hold no more than their capacity, and give it back")
    func sharedRoom() {
        let capacity = PendingBytesBudget()
        #expect(capacity.take(PendingBytesBudget.limit - 2))
        var (one, other) = (HeldFrames(capacity: capacity), HeldFrames(capacity: capacity))
        let taken = [one.hold([1], isBulk: false), other.hold([1, 2], isBulk: true), other.hold([3], isBulk: true)]
        #expect(taken == [true, false, true])
        other.drop()
        let isTaken = one.hold([4], isBulk: true)
        #expect(isTaken)
        one.drop()
        #expect(capacity.count == PendingBytesBudget.limit - 2)
        capacity.give(PendingBytesBudget.limit - 2)
    }
}
