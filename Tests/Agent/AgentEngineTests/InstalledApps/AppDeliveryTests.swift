import AgentProtocol
import DeviceTestSupport
import PushCore
import Testing

@testable import AgentEngine

struct AppDeliveryTests {
    private func ids(_ directives: [AppDelivery.Directive]) -> [Int64] {
        directives.compactMap {
            if case .deliver(let notification, _) = $0 { notification.sequence.rawValue } else { nil }
        }
    }

    /// An app that is ready and has been given the first page of what waits.
    private func ready(_ page: ClosedRange<Int64>? = nil) -> AppDelivery {
        var delivery = AppDelivery(mayShow: true)
        _ = delivery.handle(.connected)
        _ = delivery.handle(.ready)
        _ = delivery.handle(.page(page.map { $0.map { waiting($0) } } ?? [], limit: AppDelivery.window))
        _ = delivery.handle(.responsePage([], limit: AppDelivery.responseWindow))
        return delivery
    }

    @Test func `nothing is handed over before the app is ready`() {
        var delivery = AppDelivery(mayShow: true)
        #expect(delivery.handle(.stored) == [])
        #expect(delivery.handle(.connected) == [])
        #expect(delivery.handle(.stored) == [])
        #expect(delivery.handle(.responded) == [])
        #expect(delivery.handle(.page([waiting(1)], limit: 64)) == [])
        #expect(delivery.handle(.ready) == [.readResponses(after: 0, limit: 16), .read(after: 0, limit: 64)])
        #expect(delivery.handle(.ready) == [])
    }

    @Test func `a call goes to PushKit's handler, in front and in the background, and never appears by itself`() {
        for isInFront in [true, false] {
            var delivery = ready()
            delivery.isInFront = isInFront
            _ = delivery.handle(.stored)
            let call = waiting(1, pushType: .voip)
            #expect(delivery.handle(.page([call], limit: 64)) == [.deliver(call, .call)])
            _ = delivery.handle(.answersDue)
            #expect(delivery.handle(.answersDue) == [])
        }
    }

    @Test(arguments: [(BackgroundResult.newData, false), (.noData, false), (.failed, true)])
    func `a call that its app does not take in time is recorded as that`(result: BackgroundResult, isUntaken: Bool) {
        var delivery = ready()
        _ = delivery.handle(.stored)
        let call = waiting(1, pushType: .voip)
        _ = delivery.handle(.page([call], limit: 64))
        let directives = delivery.handle(.handled(call.id, .background(result)))
        #expect(
            directives.first
                == (isUntaken ? .recordUntakenCall(call.id) : .record(call.id, shows: .nothing, setsBadge: false)))
    }

    @Test func `what waits goes out in the order of arrival`() {
        var delivery = AppDelivery(mayShow: true)
        _ = delivery.handle(.connected)
        _ = delivery.handle(.ready)
        #expect(ids(delivery.handle(.page([waiting(4), waiting(7)], limit: 64))) == [4, 7])
        #expect(delivery.handle(.stored) == [.read(after: 7, limit: 62)])
    }

    @Test func `what an app in front does not answer in time appears without it, once, and stays the app's`() {
        var delivery = ready(1...1)
        #expect(delivery.handle(.answersDue) == [], "it has had less than its time")
        #expect(delivery.handle(.answersDue) == [.appear(waiting(1), isForApp: true)])
        #expect(delivery.handle(.answersDue) == [] && delivery.awaitsAnswers)
        let id = NotificationID(rawValue: 10)
        #expect(delivery.handle(.handled(id, .notPresented)) == [.record(id, shows: .nothing, setsBadge: false)])
        #expect(!delivery.awaitsAnswers)
    }

    @Test func `a full window waits until half of it is answered`() {
        var delivery = ready(1...64)
        for sequence in Int64(1)...31 {
            let directives = delivery.handle(.handled(NotificationID(rawValue: sequence * 10), .notPresented))
            #expect(directives == [.record(NotificationID(rawValue: sequence * 10), shows: .nothing, setsBadge: false)])
        }
        let directives = delivery.handle(.handled(NotificationID(rawValue: 320), .notPresented))
        #expect(directives.last == .read(after: 64, limit: 32))
    }

    @Test func `an app that is idle is not read for again and again`() {
        var delivery = ready(1...1)
        #expect(delivery.handle(.handled(NotificationID(rawValue: 10), .notPresented)).count == 1)
    }

    @Test func `after a reconnection everything unhandled is read again from the start`() {
        var delivery = ready(1...10)
        _ = delivery.handle(.disconnected)
        #expect(delivery.handle(.stored) == [])
        _ = delivery.handle(.connected)
        #expect(delivery.handle(.ready) == [.readResponses(after: 0, limit: 16), .read(after: 0, limit: 64)])
    }

    @Test func `an answer that was given before the connection broke is recorded on the next one`() {
        var delivery = AppDelivery(mayShow: true)
        _ = delivery.handle(.connected)
        let id = NotificationID(rawValue: 5)
        #expect(
            delivery.handle(.handled(id, .presented(options: 16))) == [
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
        var delivery = ready(1...1)
        let id = NotificationID(rawValue: 10)
        var badge = false
        if case .presented(let options) = outcome { badge = options & 1 != 0 }
        #expect(delivery.handle(.handled(id, outcome)).first == .record(id, shows: shows, setsBadge: badge))
    }

    @Test func `an app without authorization gets notifications in the background and shows nothing`() {
        var delivery = AppDelivery(mayShow: false)
        _ = delivery.handle(.connected)
        _ = delivery.handle(.ready)
        _ = delivery.handle(.responsePage([], limit: AppDelivery.responseWindow))
        let both = waiting(1, payload: #"{"aps":{"alert":"Milk","content-available":1}}"#)
        #expect(delivery.handle(.page([both], limit: 64)) == [.deliver(both, .background)])
        #expect(
            delivery.handle(.handled(both.id, .presented(options: 16))) == [
                .record(both.id, shows: .nothing, setsBadge: false)
            ])
    }

    @Test func `an app that left the front is not asked: what it would have been asked about appears`() {
        var delivery = AppDelivery(mayShow: true)
        _ = delivery.handle(.connected)
        delivery.isInFront = false
        _ = delivery.handle(.ready)
        let alert = waiting(1)
        let both = waiting(2, payload: #"{"aps":{"alert":"Milk","content-available":1}}"#)
        let silent = waiting(3, payload: #"{"aps":{"content-available":1}}"#)
        #expect(
            delivery.handle(.page([alert, both, silent], limit: 64)) == [
                .appear(alert, isForApp: false), .appear(both, isForApp: true), .deliver(both, .background),
                .deliver(silent, .background),
            ])
    }

    private func tried(_ sequence: Int64) -> WaitingNotification {
        var notification = waiting(sequence)
        notification.attempts = 1
        return notification
    }

    @Test func `what a run did not survive is handed to the next one alone, before the rest`() {
        var delivery = AppDelivery(mayShow: true)
        _ = delivery.handle(.connected)
        _ = delivery.handle(.ready)
        #expect(ids(delivery.handle(.page([tried(1), tried(2), waiting(3)], limit: 64))) == [1])
        #expect(delivery.handle(.stored) == [] && delivery.handle(.responded) == [])
        let answered = delivery.handle(.handled(NotificationID(rawValue: 10), .notPresented))
        #expect(
            answered.dropFirst() == [.readResponses(after: 0, limit: 16), .read(after: 1, limit: 64)])
        _ = delivery.handle(.responsePage([], limit: 16))
        #expect(ids(delivery.handle(.page([tried(2), waiting(3)], limit: 64))) == [2])
        #expect(delivery.unansweredNotifications == [NotificationID(rawValue: 20)])
        // An app that never answers does not wait for the rest without end.
        #expect(delivery.handle(.answersDue) == [])
        #expect(delivery.handle(.answersDue).last == .read(after: 2, limit: 63))
    }

    @Test func `what others have in their hands is answered before one that was not survived`() {
        var delivery = ready(1...1)
        _ = delivery.handle(.responded)
        var response = WaitingResponse(sequence: 3, notification: waiting(2), action: NotificationAction.open)
        response.attempts = 1
        #expect(delivery.handle(.responsePage([response], limit: 16)) == [])
        let answered = delivery.handle(.handled(NotificationID(rawValue: 10), .notPresented))
        #expect(answered.last == .readResponses(after: 0, limit: 16))
        #expect(delivery.handle(.responsePage([response], limit: 16)) == [.respond(response)])
        #expect(delivery.unansweredResponses == [3])
    }

    @Test func `responses go out in order and are read for again only when there are more`() {
        var delivery = ready()
        #expect(delivery.handle(.responded) == [.readResponses(after: 0, limit: 16)])
        let response = WaitingResponse(
            sequence: 3, notification: waiting(1), action: NotificationAction.open, text: nil)
        #expect(delivery.handle(.responsePage([response], limit: 16)) == [.respond(response)])
        #expect(delivery.handle(.responded) == [.readResponses(after: 3, limit: 15)])
        #expect(delivery.handle(.responsePage([], limit: 15)) == [])
        #expect(delivery.handle(.responseHandled(3)) == [.recordResponse(3)])
    }
}
