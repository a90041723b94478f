import Foundation
import RelayProtocol
import Testing

@testable import ConnectedDevices

@Suite struct ConnectedDevicesTests {
    @Test("The values of Rome's enumerations keep their numbers")
    func numbers() {
        #expect(RemoteLaunchUriStatus(RelayStatus.refusedHere) == .deniedByLocalSystem)
        #expect(AppServiceConnectionStatus(RelayStatus.refusedHere) == .invalidRequest)
        #expect(RemoteLaunchUriStatus.allCases.map(\.rawValue).filter { $0 < 100 } == Array(0...7))
        #expect(AppServiceConnectionStatus.allCases.map(\.rawValue).filter { $0 < 100 } == Array(0...11))
        #expect(AppServiceResponseStatus.allCases.map(\.rawValue).filter { $0 < 100 } == Array(0...10))
        #expect(StatelessAppServiceResponseStatus.allCases.map(\.rawValue).filter { $0 < 100 } == Array(0...14))
        #expect(AppServiceClosedStatus.allCases.map(\.rawValue) == Array(0...3))
        #expect(RemoteSystemStatus.allCases.map(\.rawValue) == Array(0...3))
        #expect(RemoteSystemPlatform.linux.rawValue == 4)
        #expect(ConnectedDevicesNotificationRegistrationStatus.allCases.map(\.rawValue) == Array(0...6))
        #expect(ConnectedDevicesAccountAddedStatus.allCases.map(\.rawValue) == Array(0...5))
        #expect(RemoteLaunchUriStatus.deniedByRemoteSystem.rawValue == 7)
        #expect(AppServiceConnectionStatus.notAuthorized.rawValue == 7)
        #expect(AppServiceResponseStatus.messageSizeTooLarge.rawValue == 5)
        #expect(StatelessAppServiceResponseStatus.notAuthorized.rawValue == 6)
    }

    @Test("That it did not arrive and that nobody knows are different statuses, of every kind of command")
    func ends() {
        #expect(RemoteLaunchUriStatus(.notDelivered) != RemoteLaunchUriStatus(.outcomeUnknown))
        #expect(AppServiceConnectionStatus(.notDelivered) != AppServiceConnectionStatus(.outcomeUnknown))
        #expect(AppServiceResponseStatus(.notDelivered) != AppServiceResponseStatus(.outcomeUnknown))
        #expect(
            StatelessAppServiceResponseStatus(.notDelivered) != StatelessAppServiceResponseStatus(.outcomeUnknown))
        for status in RelayStatus.allCases {
            #expect(RemoteLaunchUriStatus(status) != .unknown)
            #expect(AppServiceConnectionStatus(status) != .unknown)
            #expect(AppServiceResponseStatus(status) != .unknown)
            #expect(StatelessAppServiceResponseStatus(status) != .unknown)
        }
        for status in RelayStatus.allCases where status != .success {
            #expect(RemoteLaunchUriStatus(status) != .success)
            #expect(AppServiceResponseStatus(status) != .success)
        }
    }

    @Test("Swift's own values become a message and come back of their own types")
    func values() throws {
        let id = UUID()
        let date = Date(timeIntervalSince1970: 1_790_000_000.125)
        let message: ValueSet = [
            "text": "a", "int": 7, "small": Int8(-1), "double": 1.0, "bool": true, "date": date, "id": id,
            "data": Data([1, 2]), "list": [1, 2], "map": ["a": ["b": 2.5]],
        ]
        let map = try ValueSetCoding.relay(message, limit: 65_536)
        #expect(
            map == [
                "text": "a", "int": 7, "small": -1, "double": 1.0, "bool": true,
                "date": .date(milliseconds: 1_790_000_000_125), "id": .uuid(id), "data": .data([1, 2]), "list": [1, 2],
                "map": ["a": ["b": 2.5]],
            ])
        let back = ValueSetCoding.values(map)
        #expect(back["int"] as? Int == 7)
        #expect(back["double"] as? Int == nil)
        #expect(back["bool"] as? Bool == true)
        #expect(back["date"] as? Date == date)
        #expect(back["id"] as? UUID == id)
        #expect(back["data"] as? Data == Data([1, 2]))
    }

    @Test("Only bytes become data; an empty array of another type stays an array")
    func emptyArrays() throws {
        let message: ValueSet = [
            "texts": [String](), "numbers": [Int](), "any": [any Sendable](), "maps": [[String: Int]](),
            "bytes": [UInt8](), "data": Data(), "some": [UInt8]([1]),
        ]
        let map = try ValueSetCoding.relay(message, limit: 65_536)
        #expect(
            map == [
                "texts": [], "numbers": [], "any": [], "maps": [], "bytes": .data([]), "data": .data([]),
                "some": .data([1]),
            ])
    }

    @Test("What cannot be sent is told with its place")
    func faults() throws {
        struct Own: Sendable {}
        let mixed: [any Sendable] = [1, true]
        for (message, path) in [
            (["a": Own()], "a"), (["a": ["b": Own()]], "a.b"), (["l": mixed], "l[1]"), (["n": UInt64.max], "n"),
        ] as [(ValueSet, String)] {
            let fault = #expect(throws: ValueSetFault.self) { try ValueSetCoding.relay(message, limit: 65_536) }
            #expect(fault?.path == path)
            #expect(fault?.isTooLarge == false)
        }
        let fault = #expect(throws: ValueSetFault.self) {
            try ValueSetCoding.relay(["d": Data(count: 70_000)], limit: 65_536)
        }
        #expect(fault?.isTooLarge == true)
    }
}
