import Foundation
import RelayProtocol
import Testing

@Suite struct CommandQueueTests {
    var queue = CommandQueue()

    mutating func enter(
        _ client: ClientNumber = 1, _ device: String = "b", over connection: UUID? = nil, size: Int = 0, count: Int = 1
    ) -> [(id: UUID, entry: CommandQueue.Entry)] {
        (0..<count).map { _ in
            let id = UUID()
            return (id, queue.enter(id, of: client, for: device, over: connection, size: size))
        }
    }

    mutating func rest() -> [UUID] {
        var ids: [UUID] = []
        while let id = queue.next() { ids.append(id) }
        return ids
    }

    @Test("A client has 64 under way, a device 256, a connection 32; the next waits, and says for what")
    mutating func limits() {
        let line = UUID()
        let over = enter(over: line, count: 33)
        #expect(over.filter { $0.entry == .begun }.count == 32)
        #expect(queue.limit(of: over[32].id) == .connection(line))
        let alone = enter(count: 33)
        #expect(alone.filter { $0.entry == .begun }.count == 32)
        #expect(queue.limit(of: alone[32].id) == .client(1))
        for client: ClientNumber in [2, 3, 4] { #expect(enter(client, count: 64).allSatisfy { $0.entry == .begun }) }
        let late = enter(9)
        #expect(queue.limit(of: late[0].id) == .device("b"))
        #expect(enter(9, "c")[0].entry == .begun)
        #expect(queue.waitingCount == 3)
    }

    @Test("What waits leaves in its order, one for each that ends")
    mutating func order() {
        let all = enter(count: 80).map(\.id)
        #expect(rest().isEmpty)
        queue.leave(all[3])
        queue.leave(all[7])
        #expect(rest() == [all[64], all[65]])
        for id in all[8..<30] { queue.leave(id) }
        #expect(rest() == Array(all[66...]))
        #expect(queue.waitingCount == 0)
    }

    @Test("Commands of one app over a busy connection do not hold back its others")
    mutating func lanes() {
        let line = UUID()
        let over = enter(over: line, count: 40)
        #expect(enter()[0].entry == .begun)
        queue.leave(over[0].id)
        #expect(rest() == [over[32].id])
    }

    @Test("Two apps that wait for one device take turns")
    mutating func turns() {
        let clients: [ClientNumber] = [2, 3, 4, 5]
        let running = clients.flatMap { client in (0..<64).map { _ in client } }.map { enter($0)[0].id }
        let first = enter(7, count: 3).map(\.id)
        let second = enter(8, count: 3).map(\.id)
        for id in running.prefix(4) { queue.leave(id) }
        #expect(rest() == [first[0], second[0], first[1], second[1]])
    }

    @Test("What is taken back while it waits leaves no gap, and nothing of it is kept")
    mutating func commandCancelled() {
        let running = enter(count: 64).map(\.id)
        let waiting = enter(count: 3).map(\.id)
        queue.leave(waiting[0])
        for _ in 0..<10_000 {
            let id = enter()[0].id
            queue.leave(id)
        }
        queue.leave(running[0])
        #expect(rest() == [waiting[1]])
        queue.leave(waiting[2])
        #expect(queue.waitingCount == 0)
        queue.leave(running[1])
        #expect(rest().isEmpty)
        #expect(enter()[0].entry == .begun)
    }

    @Test("1,024 of one client wait, and 16 MiB; what is beyond is refused")
    mutating func bounds() {
        _ = enter(count: 64)
        #expect(enter(count: 1024).allSatisfy { $0.entry == .waits })
        #expect(enter()[0].entry == .full(.client(1)))
        _ = enter(2, "c", count: 64)
        #expect(enter(2, "c", size: 1 << 20, count: 16).allSatisfy { $0.entry == .waits })
        #expect(enter(2, "c", size: 1)[0].entry == .full(.client(2)))
        #expect(enter(2, "c", size: 0)[0].entry == .waits)
    }

    @Test("Whatever is entered, ends and is taken back: no limit is exceeded, none that has room waits, orders stay")
    mutating func simulation() {
        var seed: UInt64 = 11
        func draw(_ range: Int) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(seed >> 33) % range
        }
        struct Known { var client: ClientNumber, device: String, line: UUID?, number: Int }
        let lines = (0..<4).map { _ in UUID() }
        var running: [UUID: Known] = [:]
        var waiting: [UUID: Known] = [:]
        func count(_ body: (Known) -> Bool) -> Int { running.values.filter(body).count }
        func hasRoom(_ known: Known) -> Bool {
            count { $0.client == known.client } < 64 && count { $0.device == known.device } < 256
                && (known.line == nil || count { $0.line == known.line } < 32)
        }
        for number in 0..<2400 {
            if draw(100) < (number < 1200 ? 75 : 30) {
                let place = draw(9)
                let line = place < 4 ? lines[place] : nil
                let known = Known(
                    client: ClientNumber(integerLiteral: place < 4 ? place : draw(8)),
                    device: place < 4 ? "a" : ["a", "b"][draw(2)], line: line,
                    number: number)
                let id = UUID()
                switch queue.enter(id, of: known.client, for: known.device, over: line, size: 10) {
                case .begun: running[id] = known
                case .waits: waiting[id] = known
                case .full: break
                }
            } else {
                let ids = (draw(4) == 0 ? waiting : running).keys.sorted { $0.uuidString < $1.uuidString }
                guard !ids.isEmpty else { continue }
                let id = ids[draw(ids.count)]
                queue.leave(id)
                running[id] = nil
                waiting[id] = nil
            }
            while let id = queue.next() {
                guard let known = waiting.removeValue(forKey: id) else {
                    Issue.record("one that does not wait was named")
                    continue
                }
                let isFirst = !waiting.values.contains {
                    $0.client == known.client && $0.device == known.device && $0.line == known.line
                        && $0.number < known.number
                }
                #expect(isFirst && hasRoom(known))
                running[id] = known
            }
            if number % 50 == 0 { #expect(!waiting.values.contains(where: hasRoom)) }
            #expect(queue.waitingCount == waiting.count)
        }
    }
}
