import APNsProtocol
import AldabaTestSupport
import PushCore
import Testing

@Suite struct DeviceTokenTests {
    private let key = [UInt8](repeating: 7, count: 32)

    private func subject(_ random: inout SeededGenerator) throws -> TokenSubject {
        TokenSubject(
            cell: UInt16.random(in: 0...UInt16.max, using: &random),
            device: try #require(DeviceID(UInt64.random(in: 1...UInt64(Int64.max), using: &random))),
            app: AppID(rawValue: UInt32.random(in: 0...UInt32.max, using: &random)),
            environment: Bool.random(using: &random) ? .production : .sandbox,
            generation: UInt16.random(in: 0...0x7FFF, using: &random))
    }

    @Test func `a sealed registration is read back, and looks the same every time`() throws {
        let sealer = try #require(DeviceTokenSealer(keys: [key]))
        var random = SeededGenerator(seed: 1)
        for _ in 0..<500 {
            let subject = try subject(&random)
            let token = try sealer.seal(subject)
            #expect(token.description.count == 64)
            #expect(sealer.open(token) == subject)
            #expect(try sealer.seal(subject) == token)
        }
    }

    @Test func `the sealing keys are not shown with the sealer`() throws {
        let text = shown(try #require(DeviceTokenSealer(keys: [[UInt8](repeating: 0xA7, count: 32)])))
        for form in ["167", "a7a7", "A7A7"] { #expect(!text.contains(form)) }
    }

    @Test func `either case of the digits is the same token`() throws {
        let sealer = try #require(DeviceTokenSealer(keys: [key]))
        var random = SeededGenerator(seed: 2)
        let token = try sealer.seal(subject(&random))
        #expect(DeviceToken(text: token.description.uppercased()) == token)
    }

    @Test func `a flipped bit anywhere makes a token that no key opens`() throws {
        let sealer = try #require(DeviceTokenSealer(keys: [key]))
        var random = SeededGenerator(seed: 3)
        let token = try sealer.seal(subject(&random))
        for position in 0..<64 {
            var digits = Array(token.description.utf8)
            digits[position] = digits[position] == UInt8(ascii: "0") ? UInt8(ascii: "1") : UInt8(ascii: "0")
            let forged = try #require(DeviceToken(hexadecimal: digits[...]))
            #expect(sealer.open(forged) == nil)
        }
    }

    @Test func `an earlier key still opens what it sealed, and another key does not`() throws {
        let old = try #require(DeviceTokenSealer(keys: [key]))
        let renewed = try #require(DeviceTokenSealer(keys: [[UInt8](repeating: 9, count: 32), key]))
        let foreign = try #require(DeviceTokenSealer(keys: [[UInt8](repeating: 9, count: 32)]))
        var random = SeededGenerator(seed: 4)
        let subject = try subject(&random)
        let token = try old.seal(subject)
        #expect(renewed.open(token) == subject)
        #expect(foreign.open(token) == nil)
        #expect(try renewed.seal(subject) != token)
        #expect(try renewed.everyToken(of: subject) == [renewed.seal(subject), token])
    }

    @Test(arguments: [
        "", "00", String(repeating: "0", count: 63), String(repeating: "0", count: 65),
        String(repeating: "g", count: 64), String(repeating: "é", count: 32),
    ])
    func `what is not 64 hexadecimal digits is no token`(text: String) {
        #expect(DeviceToken(text: text) == nil)
    }

    @Test(arguments: [[], [0], [UInt8](repeating: 1, count: 31), [UInt8](repeating: 1, count: 33)])
    func `a key of another length than 32 bytes is refused`(bytes: [UInt8]) {
        #expect(DeviceTokenSealer(keys: [bytes]) == nil)
        #expect(DeviceTokenSealer(keys: []) == nil)
    }
}

@Suite struct ServerAPNsIDTests {
    @Test(arguments: [1, 42, 0xFFFF, 0x1234_5678_9ABC_DEF0, Int64.max])
    func `an internal id is read back from the UUID that carries it`(value: Int64) {
        let id = NotificationID(rawValue: value)
        let text = ServerAPNsID.text(of: id)
        #expect(text.count == 36)
        #expect(ServerAPNsID.id(of: text) == id)
        #expect(ServerAPNsID.id(of: text.uppercased()) == id)
    }

    @Test(arguments: [
        "", "c0ffee00-0000-4000-8000-000000000000", "00000000-0000-8000-8000-000000000000",
        "00000000-0000-8000-8000-616c64616261", "not-a-uuid-not-a-uuid-not-a-uuid-not",
    ])
    func `a UUID of another origin carries none`(text: String) {
        #expect(ServerAPNsID.id(of: text) == nil)
    }
}
