import PushCore
import Testing
import WebPushProtocol

@testable import PushServer

/// What comes for a browser and is not sent: messages of ended subscriptions, and notices.
@Suite(.timeLimit(.minutes(2))) struct AutopushWithdrawalTests {
    private let first = channelID(1)
    private let ended = channelID(2)

    private func withdrawn(_ number: Int64, _ id: PushClientID) -> RecordedWithdrawals.Entry {
        .init(id: NotificationID(rawValue: number), device: id.device)
    }

    private func recall(_ number: Int64) -> OutgoingNotification {
        OutgoingNotification(
            .withdrawn(NotificationID(rawValue: 1)), id: NotificationID(rawValue: number),
            team: BrowserEnrolment.team, topic: BrowserEnrolment.topic, environment: .sandbox, lane: .apns,
            at: Timestamp(rawValue: number))
    }

    @Test func `a message of an ended subscription is withdrawn and not sent, and others are`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            world.gateway.base.accept([pushed(1, to: ended), pushed(2, to: first)], for: id.device)
            await browser.run()
            #expect(browser.versions == [2])
            await world.withdrawals.entries.wait { $0.count == 1 }
            #expect(world.withdrawals.entries.value == [withdrawn(1, id)])
            #expect(world.gateway.told.sent.map(\.rawValue) == [2] && world.closed.isEmpty)
        }
    }

    @Test func `a message that is for no subscription at all is withdrawn`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            world.register.fail(.webChannel)
            world.gateway.base.accept([notification(1)], for: id.device)
            await browser.run()
            await world.withdrawals.entries.wait { $0.count == 1 }
            #expect(world.withdrawals.entries.value == [withdrawn(1, id)] && browser.versions.isEmpty)
        }
    }

    @Test func `an attempt for an ended subscription is not sent, and nothing is withdrawn`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            world.gateway.base.accept([pushed(1, to: ended, stored: false)], for: id.device)
            await browser.run()
            #expect(world.gateway.told.notSent.map(\.rawValue) == [1] && browser.versions.isEmpty)
            try await browser.disconnect()
            #expect(world.gateway.told.unacknowledged.isEmpty && world.withdrawals.entries.value.isEmpty)
        }
    }

    @Test func `a subscription that is ended gets nothing from its answer on`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            let hold = world.register.hold(.removeWebChannel)
            try await browser.unregister(first)
            await hold.waiting.wait { $0 == 1 }
            world.gateway.base.accept([pushed(1, to: first, stored: false)], for: id.device)
            await browser.run()
            #expect(browser.versions == [1])
            hold.released.open()
            await browser.texts(3)
            world.gateway.base.accept([pushed(2, to: first)], for: id.device)
            await browser.run()
            await world.withdrawals.entries.wait { $0 == [withdrawn(2, id)] }
            #expect(browser.versions == [1])
        }
    }

    @Test func `a message for a subscription that another connection has just made stays, and the browser comes again`()
        async throws
    {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            try await world.subscribe(ended, of: DeviceCredentials(device: id.device, secret: id.secret))
            world.gateway.base.accept([pushed(1, to: ended)], for: id.device)
            await browser.run()
            #expect(await browser.closing(1013) == "try again later")
            #expect(world.withdrawals.entries.value.isEmpty && browser.versions.isEmpty)
            let again = try await world.connect()
            #expect(try await again.hello(id) == id)
            await again.texts(2)
            #expect(again.versions == [1])
        }
    }

    @Test func `a message whose subscription the register cannot look up is not withdrawn`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            world.register.fail(.webChannel)
            world.gateway.base.accept([pushed(1, to: ended)], for: id.device)
            await browser.run()
            #expect(await browser.closing(1013) != nil)
            #expect(world.withdrawals.entries.value.isEmpty && world.closed == [1])
        }
    }

    @Test func `what is not sent takes no place of the window`() async throws {
        try await withBrowsers { world in
            world.services.session.windowLimit = 2
            let (browser, id) = try await world.live(first)
            let lost = [pushed(1, to: ended), pushed(2, to: ended, stored: false), recall(3)]
            for message in lost + [pushed(4, to: first), pushed(5, to: first)] {
                world.gateway.base.accept([message], for: id.device)
                await browser.run()
            }
            #expect(browser.versions == [4, 5])
        }
    }

    @Test func `a notice is acknowledged and not sent, in whatever way it comes`() async throws {
        try await withBrowsers { world in
            let id = try await world.enrolled(4242, first)
            world.gateway.base.accept([recall(1), pushed(2, to: first)], for: id.device)
            let browser = try await world.connect()
            #expect(try await browser.hello(id) == id)
            await browser.texts(2)
            world.gateway.base.state.change { $0.mailboxes[id.device]?.append(recall(3)) }
            browser.port.waitingChanged()
            world.gateway.base.accept([recall(4)], for: id.device)
            await browser.run()
            #expect(world.gateway.told.acknowledged.map(\.rawValue) == [1, 3, 4])
            #expect(browser.versions == [2] && world.gateway.told.sent.map(\.rawValue) == [2])
            #expect(world.withdrawals.entries.value.isEmpty)
        }
    }

    @Test func `a notice that is not deleted ends nothing, and comes again with the next session`() async throws {
        try await withBrowsers { world in
            let (browser, id) = try await world.live(first)
            world.gateway.script.change { $0.isAcknowledgementDurable = false }
            world.gateway.base.accept([recall(1), pushed(2, to: first, stored: false)], for: id.device)
            await browser.run()
            #expect(browser.versions == [2] && world.closed.isEmpty)
            try await browser.disconnect()
            world.gateway.script.change { $0.isAcknowledgementDurable = true }
            let next = try await world.connect()
            #expect(try await next.hello(id) == id)
            await next.run()
            #expect(world.gateway.told.acknowledged.map(\.rawValue) == [1])
        }
    }
}
