import Testing

@testable import PushServer

@Test func `a caller with a thousand entries delays another's next entry by one`() {
    var queue = FairQueue<String, Int>(perCaller: 8)
    for entry in 0..<1000 { queue.append(entry, of: "many") }
    queue.append(0, of: "one")
    #expect(queue.next()?.caller == "many")
    #expect(queue.next()?.caller == "one")
    #expect(queue.next()?.caller == "many")
}

@Test func `callers are served in rotation, each in the order of its entries`() {
    var queue = FairQueue<String, Int>(perCaller: 3)
    for entry in 0..<3 {
        for caller in ["a", "b", "c"] { queue.append(entry, of: caller) }
    }
    var served: [String] = []
    while let (caller, entry) = queue.next() { served.append("\(caller)\(entry)") }
    #expect(served == ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2", "c2"])
}

@Test func `a caller has no more entries under way than its share`() {
    var queue = FairQueue<String, Int>(perCaller: 2)
    for entry in 0..<8 { queue.append(entry, of: "many") }
    #expect(queue.next()?.entry == 0)
    #expect(queue.next()?.entry == 1)
    #expect(queue.next() == nil)
    #expect(!queue.hasNext)
    queue.append(0, of: "one")
    #expect(queue.next()?.caller == "one")
    queue.finish("many")
    #expect(queue.next()?.entry == 2)
    #expect(queue.next() == nil)
}

@Test func `a caller without entries is forgotten`() {
    var queue = FairQueue<Int, Int>(perCaller: 1)
    for caller in 0..<1000 { queue.append(0, of: caller) }
    #expect(queue.callers == 1000)
    while let (caller, _) = queue.next() { queue.finish(caller) }
    #expect(queue.callers == 0)
    #expect(!queue.hasNext)
}
