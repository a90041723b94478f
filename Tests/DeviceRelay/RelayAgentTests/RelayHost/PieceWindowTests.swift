import CoreValues
import Testing

@testable import RelayAgent

@Suite struct PieceWindowTests {
    /// Asks and gets for a while over a path of so many milliseconds that carries so many bytes in each.
    private func window(after rounds: Int, milliseconds: Int64, bytesEach: Int64) -> Int64 {
        var window = PieceWindow()
        var (now, arrived): (Timestamp, Int64) = (1000, 0)
        for _ in 0..<rounds {
            // All of the window is asked for; its first piece comes after the way there and back, the rest at the way's rate.
            window.asked(from: arrived, arrived: arrived, at: now)
            let asked = arrived + window.bytes
            now += milliseconds
            while arrived < asked {
                arrived += min(64 << 10, asked - arrived)
                window.arrived(upTo: arrived, at: now)
                now += max(1, (64 << 10) / bytesEach)
            }
        }
        return window.bytes
    }

    @Test(
        "A short way keeps little under way", arguments: [(1, 190_000), (1, 10_000), (2, 50_000)] as [(Int64, Int64)])
    func short(milliseconds: Int64, bytesEach: Int64) {
        let bytes = window(after: 100, milliseconds: milliseconds, bytesEach: bytesEach)
        #expect(bytes <= 512 << 10)
        #expect(bytes % (64 << 10) == 0)
    }

    @Test("A long way has as much under way as comes in the time there and back, and that again")
    func long() {
        var window = PieceWindow()
        #expect(window.bytes == 256 << 10)
        // All of the window comes within the time that its question takes, so it is what bounds the rate.
        var (now, arrived): (Timestamp, Int64) = (0, 0)
        for _ in 0..<6 {
            window.asked(from: arrived + window.bytes - 1, arrived: arrived, at: now)
            (now, arrived) = (now + 50, arrived + window.bytes)
            window.arrived(upTo: arrived, at: now)
        }
        #expect(window.bytes == 8 << 20)
    }

    @Test("What waits in a queue does not count as the way's length")
    func queue() {
        var window = PieceWindow()
        window.asked(from: 0, arrived: 0, at: 0)
        window.arrived(upTo: 200_000, at: 2)
        for moment in stride(from: 100 as Int64, to: 5000, by: 100) {
            window.asked(from: moment * 1000, arrived: moment * 1000 - 1, at: Timestamp(rawValue: moment))
            window.arrived(upTo: moment * 1000 + 400_000, at: Timestamp(rawValue: moment + 40))
        }
        #expect(window.bytes == 256 << 10)
    }

    @Test(
        "Beside talk a piece of a short way is under way, and of a long one what the way holds",
        arguments: [1, 30] as [Int64])
    func besideTalk(milliseconds: Int64) {
        var window = PieceWindow()
        #expect(window.bytesBesideTalk == 64 << 10)
        for round in 0..<4 as Range<Int64> {
            window.asked(from: round << 20, arrived: round << 20, at: Timestamp(rawValue: round * 1000))
            window.arrived(upTo: (round + 1) << 20, at: Timestamp(rawValue: round * 1000 + milliseconds))
        }
        #expect(window.bytes == 2 << 20)
        #expect(window.bytesBesideTalk == (milliseconds == 1 ? 64 << 10 : 1 << 20))
    }

    @Test("A clock that is set back, and numbers of any size, trap nothing")
    func hostile() {
        var window = PieceWindow()
        window.asked(from: 0, arrived: 0, at: 5000)
        window.arrived(upTo: .max, at: 0)
        #expect(PieceWindow.range.contains(window.bytes))
        window.asked(from: 0, arrived: 0, at: 0)
        window.arrived(upTo: 1, at: 1_000_000_000_000)
        #expect(PieceWindow.range.contains(window.bytes))
    }
}
