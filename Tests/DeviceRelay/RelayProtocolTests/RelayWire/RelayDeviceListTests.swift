import Foundation
import RelayProtocol
import Testing

@Suite struct RelayDeviceListTests {
    static func key(_ byte: UInt8) -> [UInt8] { [UInt8](repeating: byte, count: 32) }

    @Test("The counter rises with each change, and with nothing else")
    func counter() {
        var list = RelayDeviceList()
        list.set("a", key: Self.key(1), isRemoved: false)
        list.set("a", key: Self.key(1), isRemoved: false)
        #expect(list.counter == 1)
        list.set("a", key: Self.key(1), isRemoved: true)
        list.set("b", key: [1], isRemoved: false)
        #expect(list.counter == 2 && list.entries.map(\.id) == ["a"])
        #expect(list.isRemoved("a", key: Self.key(1)) && !list.isRemoved("a", key: Self.key(2)))
    }

    @Test("An older list changes nothing: who was taken out stays out")
    func older() {
        var list = RelayDeviceList()
        list.set("a", key: Self.key(1), isRemoved: false)
        let old = list
        list.set("a", key: Self.key(1), isRemoved: true)
        #expect(list.merged(with: old) == list)
        #expect(old.merged(with: list) == list)
    }

    @Test("Lists that were changed apart come to one, in whatever order they meet", arguments: 0..<50)
    func converging(seed: Int) {
        var state = UInt64(seed) &* 7919 &+ 3
        func draw(_ count: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(count))
        }
        var lists = [RelayDeviceList](repeating: RelayDeviceList(), count: 4)
        for _ in 0..<60 {
            let place = draw(4)
            if draw(3) == 0 {
                let before = lists[place].counter
                lists[place] = lists[place].merged(with: lists[draw(4)])
                #expect(lists[place].counter >= before)
            } else {
                lists[place].set("\(draw(6))", key: Self.key(UInt8(draw(2))), isRemoved: draw(3) == 0)
            }
        }
        for _ in 0..<4 {
            for one in 0..<4 { for other in 0..<4 { lists[one] = lists[one].merged(with: lists[other]) } }
        }
        #expect(Set(lists.map(\.entries)).count == 1)
    }

    @Test("No more entries are kept than the limit, and devices that are there do not give way")
    func bounded() {
        var list = RelayDeviceList()
        list.set("kept", key: Self.key(9), isRemoved: false)
        for number in 0..<RelayDeviceList.limit + 20 { list.set("\(number)", key: Self.key(1), isRemoved: true) }
        #expect(list.entries.count == RelayDeviceList.limit)
        #expect(list["kept"] != nil && list["0"] == nil && list["\(RelayDeviceList.limit)"] != nil)
    }

    @Test("A list is read as it was written; numbers beyond what can be are refused")
    func coding() throws {
        var list = RelayDeviceList()
        list.set("a", key: Self.key(1), isRemoved: false)
        list.set("b", key: Self.key(2), isRemoved: true)
        let content = RelayContent.list(list, signature: [1, 2])
        #expect(try RelayContent(try content.encoded()) == content)
        for (counter, at) in [(Int64.max, Int64(1)), (-1, 0), (3, 4), (3, -1)] {
            let map: RelayMap = [
                "type": "list", "signature": .data([]),
                "list": [
                    "counter": .integer(counter),
                    "entries": [["id": "a", "key": .data(Self.key(1)), "at": .integer(at), "isRemoved": false]],
                ],
            ]
            let bytes = try RelayEncoder.encode(map, limits: .largestMessage)
            #expect(throws: RelayFault.self) { try RelayContent(bytes) }
        }
    }
}
