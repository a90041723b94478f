import HubProtocol
import PushCore
import Testing

@Suite struct PayloadLimitTests {
    @Test(arguments: [
        (#""notification":{"title":"ab"},"data":{"k":"v"}"#, 7 + 2),
        (#""apns":{"payload":{"aps":{"alert":"x"}}}"#, 3 + 5 + 1),
        (#""notification":{"title":"ab","body":"c"},"apns":{"payload":{"aps":{"badge":1}}}"#, 7 + 5 + 3 + 6),
        (#""notification":{"title":"ab"},"apns":{"payload":{"aps":{"alert":"x"}}}"#, 3 + 5 + 1),
        (#""notification":{"title":"ab"},"apns":{"payload":{"aps":{"alert":{"title":"x"}}}}"#, 3 + 5 + 6),
        (#""data":{"k":"v","l":"v"},"apns":{"payload":{"aps":{},"k":1}}"#, 2 + 3 + 2),
        (#""apns":{"headers":{"apns-priority":"5"}}"#, 0),
    ])
    func `names and values of a message of FCM count, also those for Apple's devices`(members: String, count: Int) {
        #expect(PayloadLimit.counted(Array("{\"message\":{\(members)}}".utf8), for: .fcmv1) == count)
    }

    @Test func `an alert for Apple's devices may fill FCM's limit with its names, and no more`() {
        func message(_ count: Int) -> [UInt8] {
            let alert = String(repeating: "x", count: count - 8)
            return Array(#"{"message":{"apns":{"payload":{"aps":{"alert":"\#(alert)"}}}}}"#.utf8)
        }
        #expect(PayloadLimit.allows(message(4096), for: .fcmv1))
        #expect(!PayloadLimit.allows(message(4097), for: .fcmv1))
    }
}
