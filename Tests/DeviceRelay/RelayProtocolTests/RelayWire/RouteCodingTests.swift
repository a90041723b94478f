import Foundation
import Testing

@testable import RelayProtocol

private let id = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

private let routes: [RelayRoute] = {
    var routes: [RelayRoute] = []
    for peer in ["", "4711", String(repeating: "ü", count: 32)] {
        for size in [0, 23, 24, 255, 256, 65_535, 65_536] {
            for deadline: Int64? in [nil, 0, 23, 24, 1_764_000_000_000, .max, -1, .min] {
                let body = [UInt8](repeating: 0xd8, count: size)
                routes.append(RelayRoute(peer: peer, id: id, deadline: deadline, body: body))
                routes.append(RelayRoute(peer: peer, id: id, deadline: deadline, body: body, isBulk: true))
                routes.append(RelayRoute(peer: peer, id: id, deadline: deadline, body: body, isBulk: true, waits: true))
            }
        }
    }
    return routes
}()

@Suite struct RouteCodingTests {
    @Test("A route's bytes are those of the encoder for all messages, and are read as it")
    func agreeing() throws {
        for route in routes {
            let bytes = try RelayEncoder.encode(route.map, limits: .frame)
            #expect(route.encoded() == bytes)
            #expect(RelayRoute(frame: bytes) == route)
        }
    }

    @Test("What is cut off, longer, or changed in a byte is read as the decoder for all messages reads it")
    func disagreeing() throws {
        let route = RelayRoute(peer: "4711", id: id, deadline: 30, body: [1, 2, 3], isBulk: true, waits: true)
        let bytes = try #require(route.encoded())
        var count = 0
        for index in bytes.indices {
            for value in UInt8.min...UInt8.max {
                var changed = bytes
                changed[index] = value
                guard let read = RelayRoute(frame: changed) else { continue }
                count += 1
                #expect(try RelayEncoder.encode(RelayDecoder.decode(changed, limits: .frame)) == changed)
                #expect(try read.map == RelayDecoder.decode(changed, limits: .frame))
            }
            #expect(RelayRoute(frame: Array(bytes[..<index])) == nil)
        }
        #expect(count > bytes.count)
        #expect(RelayRoute(frame: bytes + [0]) == nil)
    }

    @Test("A frame that is larger than any may be is refused with its size")
    func large() {
        let route = RelayRoute(peer: "4711", id: id, deadline: nil, body: [UInt8](repeating: 0, count: 320 << 10))
        #expect(throws: RelayFault.self) { try RelayFrame.route(route).encoded() }
        let nearly = RelayRoute(
            peer: "4711", id: id, deadline: nil, body: [UInt8](repeating: 0, count: (320 << 10) - 100))
        #expect(throws: Never.self) { try RelayFrame(RelayFrame.route(nearly).encoded()) }
    }
}
