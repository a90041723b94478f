import AgentProtocol
import Foundation
import Testing

@testable import UserNotifications

struct UserInfoTests {
    private static var exact: [([AnyHashable: Any], isJSON: Bool)] {
        [
            ([:], true),
            (["n": 7, "d": 0.1, "big": Int64.max, "huge": UInt64.max, "small": Int8(-3)], true),
            (["on": true, "off": false, "s": "Grüße / ✓\u{0}", "empty": ""], true),
            (["list": [1, "a", [true]], "map": ["k": ["l": 2]]], true),
            (["null": NSNull(), "number": NSNumber(value: 2.5), "text": NSString(string: "x")], true),
            (["when": Date(timeIntervalSince1970: 1)], false),
            (["raw": Data([0, 255]), "deep": ["raw": NSData(), "n": 1]], false),
            (["infinite": Double.infinity], false),
            (["nil": String?.none as Any, "deep": [Int?.none as Any, Int??.some(nil) as Any]], true),
            (["text": String?.some("x") as Any, "number": Int??.some(3) as Any], true),
        ]
    }

    @Test(arguments: exact.indices)
    func `what an app keeps comes back as it was, by JSON where that can say it`(index: Int) throws {
        let (info, isJSON) = Self.exact[index]
        let wire = try NotificationContent.UserInfo(info)
        if case .json = wire { #expect(isJSON) } else { #expect(!isJSON) }
        #expect(NotificationContent.UserInfo.areEqual(wire.dictionary, info), "\(wire.dictionary)")
    }

    @Test func `nil in a dictionary is a null, and what an optional holds is itself`() throws {
        let wire = try NotificationContent.UserInfo(["a": Int?.none as Any, "b": Int?.some(3) as Any])
        #expect(wire == .json(#"{"a":null,"b":3}"#))
        #expect(wire.dictionary["a"] is NSNull && wire.dictionary["b"] as? Int == 3)
    }

    @Test func `the types that iOS code asks for are there`() throws {
        let info = try NotificationContent.UserInfo([
            "n": 7, "on": true, "list": [1, 2], "s": "x", "d": ["k": "v"], "r": 1.0,
        ]).dictionary
        #expect(info["n"] as? Int == 7 && info["on"] as? Bool == true && info["s"] as? String == "x")
        #expect(info["list"] as? [Int] == [1, 2] && info["d"] as? [String: String] == ["k": "v"])
        #expect(info["r"] as? Double == 1.0)
    }

    @Test func `dictionaries are equal by what they say, whoever made their numbers`() {
        let same: [([AnyHashable: Any], [AnyHashable: Any])] = [
            (["n": 7, "l": [1.5]], ["l": [NSNumber(value: 1.5)], "n": NSNumber(value: 7)]),
            (["u": URL(fileURLWithPath: "/")], ["u": URL(fileURLWithPath: "/")]),
        ]
        let different: [([AnyHashable: Any], [AnyHashable: Any])] = [
            (["n": 7], ["n": 8]), (["n": 7], ["m": 7]), (["n": 7], ["n": "7"]), ([:], ["n": 7]),
            (["l": [1]], ["l": [1, 2]]),
        ]
        #expect(same.map { NotificationContent.UserInfo.areEqual($0, $1) } == [true, true])
        #expect(different.map { NotificationContent.UserInfo.areEqual($0, $1) } == Array(repeating: false, count: 5))
    }

    private struct Strange: Hashable {}

    private static var impossible: [([AnyHashable: Any], place: String)] {
        [
            (["u": URL(fileURLWithPath: "/")], #"userInfo["u"]"#),
            (["a": [1, Strange()]], #"userInfo["a"][1]"#),
            (["m": [7: "x"]], #"userInfo["m"]"#),
            ([7: "x"], "userInfo"),
            (["null": NSNull(), "when": Date()], "userInfo"),
        ]
    }

    @Test(arguments: impossible.indices)
    func `what no format can keep is refused with its place`(index: Int) {
        let (info, place) = Self.impossible[index]
        let error = #expect(throws: UnsendableContent.self) { try NotificationContent.UserInfo(info) }
        #expect(error?.sentence.contains(place) == true, "\(error?.sentence ?? "-")")
    }
}
