import NIOCore
import Networking
import PushCore
import Testing

@testable import HubServer

@Suite struct WriteRateTests {
    private let now = Timestamp(seconds: 1_780_272_000)
    private let listen = HubWriter(key: "listen", isPublished: true)

    private func hub(_ number: Int64 = 1, perSecond: Int = 10) -> HubRecord {
        HubRecord(
            number: number, name: "h\(number)", team: TeamID(rawValue: "TEAM000001"), topic: Topic(rawValue: "a.b"),
            isStrict: false, createdAt: now, limits: HubLimits(writesPerSecond: perSecond))
    }

    private func address(_ number: Int) throws -> SocketAddress {
        try SocketAddress(ipAddress: "10.\(number >> 16).\(number >> 8 & 255).\(number & 255)", port: 1)
    }

    @Test func `of several servers each takes its part of a rate`() throws {
        let rates = HubWriteRates(servers: { 4 })
        let taken = try (0..<2 * HubWriteRates.addressBurst).count(where: { _ in
            try rates.take(by: listen, of: hub(1, perSecond: 1000), from: address(1), isSecured: true, at: now) == nil
        })
        #expect(taken == HubWriteRates.addressBurst / 4)
    }

    @Test func `one address writes so often, whatever hub and key it has`() throws {
        let rates = HubWriteRates()
        func taken(_ writes: Int, _ hub: HubRecord, after milliseconds: Int64 = 0) throws -> Int {
            try (0..<writes).count(where: { _ in
                try rates.take(
                    by: listen, of: hub, from: address(1), isSecured: true, at: now.adding(milliseconds: milliseconds))
                    == nil
            })
        }
        #expect(try taken(400, hub(1, perSecond: 1000)) == 400)
        #expect(try taken(2 * HubWriteRates.addressBurst, hub(2, perSecond: 1000)) == HubWriteRates.addressBurst - 400)
        #expect(
            try rates.take(by: listen, of: hub(), from: address(1), isSecured: true, at: now)
                == .writes(.address, retryAfter: 1))
        #expect(try taken(1000, hub(), after: 2000) == 2 * HubWriteRates.perAddress)
        #expect(try rates.take(by: listen, of: hub(), from: address(2), isSecured: true, at: now) == nil)
    }

    @Test func `one published key writes so often, from however many addresses`() throws {
        let rates = HubWriteRates()
        func taken(_ writer: HubWriter, _ hub: HubRecord) throws -> Int {
            try (0..<1000).count(where: {
                try rates.take(by: writer, of: hub, from: address($0), isSecured: true, at: now) == nil
            })
        }
        #expect(try taken(listen, hub()) == 10 * HubLimits.burst)
        #expect(
            try rates.take(by: listen, of: hub(), from: address(5000), isSecured: true, at: now)
                == .writes(.key, retryAfter: 1))
        #expect(try taken(listen, hub(2)) == 10 * HubLimits.burst, "another hub's key of that name is another key")
        #expect(try taken(HubWriter(key: "other", isPublished: true), hub()) == 10 * HubLimits.burst)
        #expect(try taken(listen, hub(perSecond: 20)) == 20 * HubLimits.burst, "the hub was given another rate")
        #expect(try taken(HubWriter(key: nil, isPublished: true), hub()) == 10 * HubLimits.burst)
        #expect(try taken(HubWriter(key: "full", isPublished: false), hub()) == 1000)
    }

    @Test func `a proxy's address stands for many, but not on the development listener`() throws {
        let rates = HubWriteRates(proxies: [AddressRange("10.0.0.0/24")].compactMap { $0 })
        func taken(isSecured: Bool) throws -> Int {
            try (0..<(2 * HubWriteRates.addressBurst)).count(where: { _ in
                try rates.take(
                    by: listen, of: hub(perSecond: 10_000), from: address(1), isSecured: isSecured, at: now) == nil
            })
        }
        #expect(try taken(isSecured: true) == 2 * HubWriteRates.addressBurst)
        #expect(try taken(isSecured: false) == HubWriteRates.addressBurst)
    }

    @Test func `the addresses that are remembered are bounded`() throws {
        let rates = HubWriteRates()
        for number in 0..<(3 * HubWriteRates.mostAddresses) {
            _ = try rates.take(
                by: listen, of: hub(perSecond: 1_000_000), from: address(number), isSecured: true, at: now)
            if number % 1000 == 0 { #expect(rates.addresses <= HubWriteRates.mostAddresses) }
        }
        #expect(rates.addresses <= HubWriteRates.mostAddresses)
        #expect(rates.addresses >= HubWriteRates.mostAddresses / 2)
    }
}
