import AldabaTestSupport
import Foundation
import NIOPosix
import Synchronization
import Testing

@testable import AldabaAPNs

@Suite struct LoopQueueTests {
    @Test func `elements of several threads arrive on the loop, each thread's in its order`() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let seen = Mutex<[(thread: Int, number: Int)]>([])
        let queue = LoopQueue<(thread: Int, number: Int)>(eventLoop: loop) { element in
            loop.assertInEventLoop()
            seen.withLock { $0.append(element) }
        }
        await withTaskGroup(of: Void.self) { group in
            for thread in 0..<4 {
                group.addTask { for number in 0..<1000 { queue.add((thread, number)) } }
            }
        }
        // What was added before has its hop before this one.
        try await loop.submit {}.get()
        let elements = seen.withLock { $0 }
        for thread in 0..<4 {
            #expect(elements.filter { $0.thread == thread }.map(\.number) == Array(0..<1000))
        }
    }

    @Test func `an element of the loop itself does not overtake one that waits`() async throws {
        let loop = MultiThreadedEventLoopGroup.singleton.next()
        let seen = Mutex<[Int]>([])
        let queue = LoopQueue<Int>(eventLoop: loop) { element in seen.withLock { $0.append(element) } }
        try await loop.submit {
            queue.add(1)
            let first = seen.withLock { $0 }
            #expect(first == [1])
            let thread = Thread { queue.add(2) }
            thread.start()
            while !thread.isFinished { sched_yield() }
            queue.add(3)
            let second = seen.withLock { $0 }
            #expect(second == [1])
        }.get()
        try await loop.submit {}.get()
        #expect(seen.withLock { $0 } == [1, 2, 3])
    }

    @Test func `ids are random UUIDs of version 4, written in lower case`() throws {
        let ids = (0..<1000).map { _ in UUID.random() }
        #expect(Set(ids).count == 1000)
        for id in ids {
            let text = id.lowercaseText
            #expect(text == id.uuidString.lowercased())
            #expect(text.dropFirst(14).first == "4")
            let variant = try #require(text.dropFirst(19).first)
            #expect("89ab".contains(variant))
        }
    }
}
