import AldabaTestSupport
import Foundation
import Platform
import Testing

@Suite(.timeLimit(.minutes(5))) struct BoundedThreadsTests {
    @Test func `as many as may be are busy at a time, and a place is free when the work is told of`() async {
        let threads = BoundedThreads("aldaba-bounded", limit: 2)
        let mayEnd = DispatchSemaphore(value: 0)
        let (ends, continuation) = AsyncStream.makeStream(of: Int.self)
        @Sendable func begin(_ number: Int) -> Bool {
            threads.begin({
                mayEnd.wait()
                return number
            }) { continuation.yield($0) }
        }
        #expect(begin(1) && begin(2) && !begin(3))
        var end = ends.makeAsyncIterator()
        mayEnd.signal()
        let first = await end.next()
        #expect(first == 1 || first == 2)
        #expect(begin(4) && !begin(5))
        for _ in 0..<2 { mayEnd.signal() }
        let others = [await end.next(), await end.next()].compactMap { $0 }
        #expect(Set(others + [first].compactMap { $0 }) == [1, 2, 4])
    }
}
