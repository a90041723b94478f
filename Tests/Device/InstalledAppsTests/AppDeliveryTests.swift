import AgentWire
import DeviceModel
import DeviceTestSupport
import PushModel
import Testing

@testable import InstalledApps

struct AppDeliveryTests {
    private func ids(_ directives: [AppDelivery.Directive]) -> [Int64] {
        directives.compactMap { if case .deliver(let notification, _) = $0 { notification.sequence } else { nil } }
    }

    /// An app that is ready and has been given the first page of what waits.
    private func ready(_ page: ClosedRange<Int64>? = nil) -> AppDelivery {
        var handOver = AppDelivery(mayShow: true)
        _ = handOver.handle(.connected)
        _ = handOver.handle(.ready)
        _ = handOver.handle(.page(page.map { $0.map { waiting($0) } } ?? [], limit: AppDelivery.window))
        _ = handOver.handle(.responsePage([], limit: AppDelivery.responseWindow))
        return handOver
    }

    @Test func `nothing is handed over before the app is ready`() {
        var handOver = AppDelivery(mayShow: true)
        #expect(handOver.handle(.stored) == [])
        #expect(handOver.handle(.connected) == [])
        #expect(handOver.handle(.stored) == [])
        #expect(handOver.handle(.responded) == [])
        #expect(handOver.handle(.page([waiting(1)], limit: 64)) == [])
        #expect(handOver.handle(.ready) == [.readResponses(after: 0, limit: 16), .read(after: 0, limit: 64)])
        #expect(handOver.handle(.ready) == [])
    }

    @Test func `what waits goes out in the order of arrival`() {
        var handOver = AppDelivery(mayShow: true)
        _ = handOver.handle(.connected)
        _ = handOver.handle(.ready)
        #expect(ids(handOver.handle(.page([waiting(4), waiting(7)], limit: 64))) == [4, 7])
        #expect(handOver.handle(.stored) == [.read(after: 7, limit: 62)])
    }

    @Test func `what an app in front does not answer in time appears without it, once, and stays the app's`() {
        var handOver = ready(1...1)
        #expect(handOver.handle(.answersDue) == [], "it has had less than its time")
        #expect(handOver.handle(.answersDue) == [.appear(waiting(1), isForApp: true)])
        #expect(handOver.handle(.answersDue) == [] && handOver.awaitsAnswers)
        let id = NotificationID(rawValue: 10)
        #expect(handOver.handle(.handled(id, .notPresented)) == [.record(id, shows: .nothing, setsBadge: false)])
        #expect(!handOver.awaitsAnswers)
    }

    @Test func `a full window waits until half of it is answered`() {
        var handOver = ready(1...64)
        for sequence in Int64(1)...31 {
            let directives = handOver.handle(.handled(NotificationID(rawValue: sequence * 10), .notPresented))
            #expect(directives == [.record(NotificationID(rawValue: sequence * 10), shows: .nothing, setsBadge: false)])
        }
        let directives = handOver.handle(.handled(NotificationID(rawValue: 320), .notPresented))
        #expect(directives.last == .read(after: 64, limit: 32))
    }

    @Test func `an app that is idle is not read for again and again`() {
        var handOver = ready(1...1)
        #expect(handOver.handle(.handled(NotificationID(rawValue: 10), .notPresented)).count == 1)
    }

    @Test func `after a reconnection everything unhandled is read again from the start`() {
        var handOver = ready(1...10)
        _ = handOver.handle(.disconnected)
        #expect(handOver.handle(.stored) == [])
        _ = handOver.handle(.connected)
        #expect(handOver.handle(.ready) == [.readResponses(after: 0, limit: 16), .read(after: 0, limit: 64)])
    }

    @Test func `an answer that was given before the connection broke is recorded on the next one`() {
        var handOver = AppDelivery(mayShow: true)
        _ = handOver.handle(.connected)
        let id = NotificationID(rawValue: 5)
        #expect(
            handOver.handle(.handled(id, .presented(options: 16))) == [
                .record(id, shows: .screen, setsBadge: false)
            ])
    }

    static let answers: [(HandledOutcome, PresentationOptions)] = [
        (.presented(options: 16), .screen), (.presented(options: 8), .list),
        (.presented(options: 4), [.screen, .list]),
        (.presented(options: 3), .sound), (.presented(options: 26), [.screen, .list, .sound]),
        (.presented(options: 0), .nothing), (.presented(options: .max), [.screen, .list, .sound]),
        (.notPresented, .nothing), (.background(.newData), .nothing),
    ]

    @Test(arguments: answers)
    func `banner and alert put it on the screen, list into the list`(
        outcome: HandledOutcome, shows: PresentationOptions
    ) {
        var handOver = ready(1...1)
        let id = NotificationID(rawValue: 10)
        var badge = false
        if case .presented(let options) = outcome { badge = options & 1 != 0 }
        #expect(handOver.handle(.handled(id, outcome)).first == .record(id, shows: shows, setsBadge: badge))
    }

    @Test func `an app without authorization gets notifications in the background and shows nothing`() {
        var handOver = AppDelivery(mayShow: false)
        _ = handOver.handle(.connected)
        _ = handOver.handle(.ready)
        let both = waiting(1, payload: #"{"aps":{"alert":"Milk","content-available":1}}"#)
        #expect(handOver.handle(.page([both], limit: 64)) == [.deliver(both, .background)])
        #expect(
            handOver.handle(.handled(both.id, .presented(options: 16))) == [
                .record(both.id, shows: .nothing, setsBadge: false)
            ])
    }

    @Test func `an app that left the front is not asked: what it would have been asked about appears`() {
        var handOver = AppDelivery(mayShow: true)
        _ = handOver.handle(.connected)
        handOver.isInFront = false
        _ = handOver.handle(.ready)
        let alert = waiting(1)
        let both = waiting(2, payload: #"{"aps":{"alert":"Milk","content-available":1}}"#)
        let silent = waiting(3, payload: #"{"aps":{"content-available":1}}"#)
        #expect(
            handOver.handle(.page([alert, both, silent], limit: 64)) == [
                .appear(alert, isForApp: false), .appear(both, isForApp: true), .deliver(both, .background),
                .deliver(silent, .background),
            ])
    }

    @Test func `responses go out in order and are read for again only when there are more`() {
        var handOver = ready()
        #expect(handOver.handle(.responded) == [.readResponses(after: 0, limit: 16)])
        let response = WaitingResponse(
            sequence: 3, notification: waiting(1), action: NotificationAction.open, text: nil)
        #expect(handOver.handle(.responsePage([response], limit: 16)) == [.respond(response)])
        #expect(handOver.handle(.responded) == [.readResponses(after: 3, limit: 15)])
        #expect(handOver.handle(.responsePage([], limit: 15)) == [])
        #expect(handOver.handle(.responseHandled(3)) == [.recordResponse(3)])
    }
}
