import PushCore
import Testing
import WebPushProtocol

@testable import PushServer

/// Messages on their way to a browser, and what the gateway is told of them.
@Suite(.timeLimit(.minutes(2))) struct AutopushDeliveryTests {
    private let first = channelID(1)

    @Test func `a message is sent as the protocol has it, and acknowledged at the gateway`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            let (once, stored) = (pushed(1, to: first, stored: false), pushed(2, to: first))
            world.gateway.base.accept([once, stored], for: id.device)
            await browser.run()
            let message = try #require(ChannelMessage(bytes: once.payload))
            #expect(browser.sent[1] == .text(AutopushReply.notification(message, version: "1", ttl: 0).text))
            #expect(browser.versions == [1, 2])
            #expect(world.gateway.told.sent.map(\.rawValue).sorted() == [1, 2])
            try await browser.acknowledge(1, 2)
            #expect(world.gateway.told.acknowledged.map(\.rawValue).sorted() == [1, 2])
            #expect(world.gateway.told.mailboxes[id.device] == [])
        }
    }

    @Test func `what comes before the subscriptions are loaded is read from the mailbox, and sent once`() async throws {
        try await withBrowsers { world in
            let (id, browser) = (try await world.enrolled(4242, first), try await world.connect())
            let hold = world.register.hold(.webChannels)
            try await browser.write(#"{"messageType":"hello","uaid":"\#(id.text)"}"#)
            await hold.waiting.wait { $0 == 1 }
            world.gateway.base.accept([pushed(1, to: first), pushed(2, to: first, stored: false)], for: id.device)
            await browser.run()
            #expect(browser.sent.isEmpty && world.gateway.script.value.pages.isEmpty)
            #expect(world.gateway.told.notSent.map(\.rawValue) == [2])
            hold.released.open()
            await browser.texts(2)
            world.gateway.base.accept([pushed(3, to: first)], for: id.device)
            await browser.run()
            #expect(browser.versions == [1, 3] && world.gateway.script.value.pages == [nil])
            #expect(world.gateway.told.notSent.count == 1)
        }
    }

    @Test func `where nothing waits no page is read`() async throws {
        try await withBrowsers { world in
            let id = try await world.enrolled(4242, first)
            let session = DeviceSessionID(device: id.device, epoch: 7)
            world.gateway.script.change { $0.verdict = .welcome(session, hasWaiting: false) }
            let browser = try await world.connect()
            #expect(try await browser.hello(id) == id)
            browser.port.deliver([pushed(1, to: first)])
            await browser.run()
            #expect(browser.versions == [1] && world.gateway.script.value.pages.isEmpty)
            try await browser.disconnect()
            #expect(world.closed == [7])
        }
    }

    @Test func `attempts that were sent and not acknowledged are named when the connection ends, and no others`()
        async throws
    {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            let messages = (1...3).map { pushed($0, to: first, stored: false) } + [pushed(4, to: first)]
            world.gateway.base.accept(messages, for: id.device)
            await browser.run()
            try await browser.acknowledge(2)
            #expect(world.gateway.told.unacknowledged.isEmpty)
            try await browser.disconnect()
            let told = world.gateway.told
            #expect(told.unacknowledged.map(\.rawValue).sorted() == [1, 3])
            #expect(told.acknowledged.map(\.rawValue) == [2] && told.notSent.isEmpty)
            #expect(told.mailboxes[id.device]?.map(\.id.rawValue) == [4] && world.closed == [1])
        }
    }

    @Test func `attempts that are held while a page is read are not sent when the connection ends`() async throws {
        try await withBrowsers { world in
            world.gateway.script.change { $0.heldPages = [] }
            let (browser, id) = try await world.live(first)
            world.gateway.base.accept([pushed(1, to: first, stored: false), pushed(2, to: first)], for: id.device)
            await browser.run()
            #expect(world.gateway.told.notSent.isEmpty && browser.versions.isEmpty)
            try await browser.disconnect()
            #expect(world.gateway.told.notSent.map(\.rawValue) == [1])
            world.gateway.releasePages()
            await browser.run()
            #expect(browser.versions.isEmpty && world.gateway.told.unacknowledged.isEmpty)
            #expect(world.gateway.told.sent.isEmpty && world.closed == [1])
        }
    }

    @Test func `a connection that takes nothing gives attempts back, and reads the others later`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            await browser.setWritable(false)
            world.gateway.base.accept([pushed(1, to: first, stored: false), pushed(2, to: first)], for: id.device)
            await browser.run()
            #expect(browser.versions.isEmpty && world.gateway.told.notSent.map(\.rawValue) == [1])
            await browser.setWritable(true)
            #expect(browser.versions == [2])
        }
    }

    @Test func `no more is sent than the window has capacity for, until something is acknowledged`() async throws {
        try await withBrowsers { world in
            world.services.session.windowLimit = 2
            let (browser, id) = try await world.live(first)
            world.gateway.base.accept((1...5).map { pushed($0, to: first) }, for: id.device)
            await browser.run()
            #expect(browser.versions == [1, 2])
            try await browser.acknowledge(1)
            #expect(browser.versions == [1, 2, 3])
            try await browser.acknowledge(2, 3)
            #expect(browser.versions == [1, 2, 3, 4, 5])
        }
    }

    @Test func `an acknowledged attempt makes place for another`() async throws {
        try await withBrowsers { world in
            world.services.session.windowLimit = 1
            let (browser, id) = try await world.live(first)
            for number in Int64(1)...3 {
                world.gateway.base.accept([pushed(number, to: first, stored: false)], for: id.device)
                await browser.run()
                try await browser.acknowledge(number)
            }
            #expect(browser.versions == [1, 2, 3] && world.gateway.told.notSent.isEmpty)
        }
    }

    @Test func `an acknowledgement that is not stored ends the connection and its session`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            world.gateway.base.accept([pushed(1, to: first)], for: id.device)
            await browser.run()
            world.gateway.script.change { $0.isAcknowledgementDurable = false }
            try await browser.acknowledge(1)
            #expect(await browser.closing(1013) == "try again later")
            #expect(world.closed == [1] && world.gateway.told.mailboxes[id.device]?.count == 1)
        }
    }

    @Test func `a mailbox that cannot be read ends the connection, and what was held is given back`() async throws {
        try await withBrowsers { world in
            world.gateway.script.change {
                $0.heldPages = []
                $0.isMailboxReadable = false
            }
            let (browser, id) = try await world.live(first)
            world.gateway.base.accept([pushed(1, to: first, stored: false)], for: id.device)
            await browser.run()
            world.gateway.releasePages()
            #expect(await browser.closing(1013) != nil)
            #expect(world.gateway.told.notSent.map(\.rawValue) == [1] && world.closed == [1])
        }
    }

    // MARK: Reports

    @Test(arguments: [
        (100, NotificationState.presented), (101, .undecryptable("browser")), (102, .failed("NotDelivered")),
    ])
    func `an acknowledgement is reported to the timeline`(code: Int, state: NotificationState) async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            world.gateway.base.accept([pushed(1, to: first)], for: id.device)
            await browser.run()
            try await browser.acknowledge(1, code: code)
            let receipts = world.gateway.told.receipts
            #expect(receipts.map(\.id.rawValue) == [1] && receipts.first?.entry.state == state)
            #expect(receipts.first?.entry.source == .agent)
        }
    }

    @Test func `a service worker that failed is reported; a report that is not recorded ends nothing`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            world.gateway.base.accept([pushed(1, to: first), pushed(2, to: first)], for: id.device)
            await browser.run()
            try await browser.write(#"{"messageType":"nack","version":"1","code":303}"#)
            #expect(world.gateway.told.receipts.map(\.entry.state) == [.failed("ServiceWorker")])
            #expect(world.gateway.told.receipts.first?.entry.note?.contains("303") == true)
            world.gateway.base.state.change { $0.recordsDurably = false }
            try await browser.acknowledge(2)
            try await browser.write("{}")
            #expect(await browser.texts(4).last == "{}")
        }
    }
}
