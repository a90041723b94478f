import PushCore
import Testing

@testable import PushServer

/// A request of APNs as the endpoint records it.
private func request(
    _ body: String = #"{"aps":{"alert":{"title":"Hello","body":"x"}}}"#,
    interface: ReceivedRequest.Interface = .apns, token: String = "ab", namespace: String? = "TEAM123456",
    fields: [ReceivedRequest.Field] = []
) -> ReceivedRequest {
    var parties = ReceivedRequest.Parties()
    parties.token = token
    parties.namespace = namespace
    return ReceivedRequest(
        at: Timestamp(rawValue: 1),
        content: ReceivedRequest.Content(
            interface: interface, connection: 1, method: "POST", path: "/3/device/\(token)", fields: fields,
            body: Array(body.utf8)), parties: parties)
}

private func id(_ number: Int) -> NotificationID { NotificationID(rawValue: Int64(number)) }

@Suite struct ReceivedLogTests {
    @Test func `the newest requests are kept, and the others are counted`() {
        var log = ReceivedLog(limit: 3, byteLimit: 1 << 20)
        for number in 1...10 { #expect(log.append(request(token: "\(number)")) == number) }
        #expect(log.newestFirst.map(\.number) == [10, 9, 8])
        #expect(log.forgotten == 7)
        #expect(log.request(7) == nil)
        #expect(log.request(9)?.parties.token == "9")
    }

    @Test func `bodies beyond the bytes end the oldest requests`() {
        var log = ReceivedLog(limit: 100, byteLimit: 10_000)
        for _ in 1...5 { _ = log.append(request(String(repeating: "x", count: 4000))) }
        #expect(log.newestFirst.map(\.number) == [5, 4])
        #expect(log.forgotten == 3)
    }

    @Test func `a state that is known before its notification is that of the request`() {
        var log = ReceivedLog()
        let number = log.append(request())
        #expect(log.set(id(7), "acked") == nil)
        log.add(ReceivedRequest.Accepted(id: id(7), app: "com.example.App", payload: []), to: number)
        #expect(log.request(number).map(log.state) == "acked")
        #expect(log.set(id(7), "presented") == number)
        #expect(log.request(number).map(log.state) == "presented")
    }

    @Test(arguments: [false, true])
    func `a send to a topic has the state of its first copy`(isAnsweredFirst: Bool) throws {
        let device = try #require(DeviceID(4242))
        let received = ReceivedRequests()
        let number = received.append(request(interface: .fcm))
        func copy(_ number: Int) -> RowChange {
            .insertNotification(
                NotificationRecord(
                    id: id(number),
                    subject: TokenSubject(
                        cell: 0, device: device, app: AppID(rawValue: 1), environment: .sandbox,
                        generation: 1), apnsID: nil, pushType: nil, priority: .immediate, collapseID: nil,
                    acceptedAt: Timestamp(rawValue: 1), expiresAt: nil, waits: true, lane: .fcm,
                    payload: .shared(PayloadID(rawValue: 50))))
        }
        if isAnsweredFirst { received.addBroadcast(id(50), to: number) }
        received.committed([copy(51), copy(52)])
        if !isAnsweredFirst { received.addBroadcast(id(50), to: number) }
        received.committed([
            .appendLine(TimelineEntry(at: Timestamp(rawValue: 2), state: .acked, source: .server), to: id(51))
        ])
        let item = received.page(ReceivedFilter(), limit: 1).items.first
        #expect(item?.request.accepted.map(\.id) == [id(50), id(51), id(52)])
        #expect(item?.states == ["accepted", "acked", "accepted"])
        #expect(item?.state == "acked")
    }

    @Test(arguments: [(nil, "open"), (200, "answered"), (410, "refused")])
    func `a request without a notification has the state of its answer`(status: Int?, state: String) {
        var log = ReceivedLog()
        let number = log.append(request())
        if let status {
            log.update(number) {
                $0.answer = ReceivedRequest.Answer(
                    status: status, reason: nil, fields: [], body: [], duration: .milliseconds(1))
            }
        }
        #expect(log.request(number).map(log.state) == state)
    }

    @Test func `a namespace is forgotten alone, and numbers go on`() {
        var log = ReceivedLog()
        for namespace in ["A", "B", "A"] { _ = log.append(request(namespace: namespace)) }
        #expect(log.forget(namespace: "A") == 2)
        #expect(log.newestFirst.map(\.number) == [2])
        #expect(log.request(2) != nil)
        #expect(log.forget(namespace: nil) == 1)
        #expect(log.append(request()) == 4)
        #expect(log.forgotten == 0)
    }

    @Test func `the field aldaba-namespace is the request's namespace`() {
        let named = request(fields: [ReceivedRequest.Field("Aldaba-Namespace", "test-7")])
        #expect(named.parties.namespace == "test-7")
    }

    @Test(arguments: [
        ("Authorization", "bearer eyJhbGciOi.secret", "bearer …"), ("authorization", "key=SECRETabc", "key …"),
        ("authorization", "SECRETabc", "…"), ("authorization", "bearer\tSECRET", "bearer …"),
        ("Cookie", "sid=SECRET", "…"),
        ("X-Goog-Api-Key", "SECRET", "…"), ("proxy-authorization", "Basic c2VjcmV0", "Basic …"),
        ("accept", "*/*", "*/*"),
    ])
    func `of a credential the scheme is kept`(name: String, value: String, kept: String) {
        #expect(ReceivedRequest.Field(name, value).value == kept)
    }

    @Test func `memory does not grow beyond the bound`() {
        var log = ReceivedLog(limit: 100, byteLimit: 1 << 20)
        let largest = request(String(repeating: "x", count: 2 << 20))
        for _ in 1...1000 { _ = log.append(largest) }
        let kept = log.newestFirst.reduce(0) { $0 + $1.content.body.count }
        #expect(kept <= 1 << 20)
        #expect(log.forgotten + log.newestFirst.map(\.number).count == 1000)
    }

    /// A request's interface and body, and the title and text of its alert.
    struct AlertCase: Sendable {
        var interface = ReceivedRequest.Interface.fcm
        var body: String
        var title: String?
        var text: String?
    }

    @Test(arguments: [
        AlertCase(interface: .apns, body: #"{"aps":{"alert":"text alone"}}"#, text: "text alone"),
        AlertCase(interface: .apns, body: #"{"aps":{"alert":{"title":"T","body":"B"}}}"#, title: "T", text: "B"),
        AlertCase(body: #"{"message":{"notification":{"title":"T","body":"B"}}}"#, title: "T", text: "B"),
        AlertCase(body: #"{"message":{"android":{"notification":{"title":"A"}}}}"#, title: "A"),
        AlertCase(body: #"{"message":{"apns":{"payload":{"aps":{"alert":{"title":"P"}}}}}}"#, title: "P"),
        AlertCase(interface: .legacyFCM, body: #"{"to":"t","notification":{"title":"L"}}"#, title: "L"),
        AlertCase(body: #"{"message":{"data":{"a":"1"}}}"#), AlertCase(interface: .apns, body: "no JSON"),
    ])
    func `title and text are those of the alert`(sample: AlertCase) {
        let request = request(sample.body, interface: sample.interface)
        #expect(request.title == sample.title)
        #expect(request.text == sample.text)
    }

    @Test func `a message of FCM names its token, topic or condition`() {
        func parties(_ body: String) -> ReceivedRequest.Parties {
            ReceivedRequest(
                at: Timestamp(rawValue: 1),
                content: ReceivedRequest.Content(
                    interface: .fcm, connection: 1, method: "POST", path: "/", fields: [], body: Array(body.utf8)),
                parties: ReceivedRequest.Parties()
            ).parties
        }
        #expect(parties(#"{"message":{"token":"t"}}"#).token == "t")
        #expect(parties(#"{"message":{"topic":"news"}}"#).topic == "news")
        #expect(parties(#"{"message":{"condition":"'a' in topics"}}"#).condition == "'a' in topics")
    }
}

@Suite struct ReceivedFilterTests {
    @Test(arguments: [
        ("aps.alert.title=Hello", true), ("aps.alert.title=hello", false), ("aps.alert=Hello", false),
        ("aps.badge=3", true), ("aps.content-available=1", false), ("list.1.name=b", true), ("list.2.name=b", false),
        ("flag=true", true), ("text=a=b", true),
    ])
    func `a value inside the JSON is compared as text`(match: String, fits: Bool) throws {
        let body =
            #"{"aps":{"alert":{"title":"Hello"},"badge":3},"list":[{"name":"a"},{"name":"b"}],"flag":true,"text":"a=b"}"#
        var filter = ReceivedFilter()
        filter.matches = [try #require(ReceivedFilter.Match(match))]
        var log = ReceivedLog()
        let number = log.append(request(body))
        #expect(filter.fits(try #require(log.request(number)), state: "open") == fits)
    }

    @Test(arguments: ["aps.alert", "=x", ""]) func `a match needs a path and a value`(text: String) {
        #expect(ReceivedFilter.Match(text) == nil)
    }

    @Test func `values are compared as a whole, and since counts later ones`() throws {
        var log = ReceivedLog()
        let number = log.append(request(token: "abc"))
        let known = try #require(log.request(number))
        func fits(_ values: [ReceivedFilter.Name: String], since: Int = 0) -> Bool {
            var filter = ReceivedFilter()
            filter.values = values
            filter.since = since
            return filter.fits(known, state: "refused")
        }
        #expect(fits([:]))
        #expect(fits([.token: "abc", .state: "refused", .interface: "apns", .title: "Hello", .body: "x"]))
        #expect(!fits([.token: "ab"]))
        #expect(!fits([.status: "200"]))
        #expect(!fits([:], since: number))
    }
}

@Suite(.timeLimit(.minutes(1))) struct ReceivedRequestsTests {
    @Test func `a wait ends when enough requests fit`() async {
        let received = ReceivedRequests()
        var filter = ReceivedFilter()
        filter.values = [.token: "b"]
        func receive(_ token: String) {
            let number = received.append(request(token: token))
            received.answered(
                number,
                ReceivedRequest.Answer(status: 200, reason: nil, fields: [], body: [], duration: .milliseconds(1)))
        }
        receive("b")
        async let wait: Void = received.wait(for: filter, count: 2, timeout: .seconds(600))
        receive("a")
        receive("b")
        await wait
        let page = received.page(filter, limit: 1)
        #expect(page.matching == 2)
        #expect(page.items.map(\.request.number) == [3])
        #expect(page.last == 3)
    }

    @Test func `a wait ends when a notification reaches its state`() async {
        let received = ReceivedRequests()
        var filter = ReceivedFilter()
        filter.values = [.state: "acked"]
        let number = received.append(request())
        async let wait: Void = received.wait(for: filter, count: 1, timeout: .seconds(600))
        received.add(ReceivedRequest.Accepted(id: id(9), app: "a", payload: []), to: number)
        received.committed([
            .appendLine(TimelineEntry(at: Timestamp(rawValue: 2), state: .acked, source: .server), to: id(9))
        ])
        await wait
        #expect(received.page(filter, limit: 10).items.first?.states == ["acked"])
    }

    @Test func `requests that were forgotten do not count`() async {
        let received = ReceivedRequests()
        var filter = ReceivedFilter()
        filter.values = [.state: "open"]
        _ = received.append(request())
        let begun = ContinuousClock.now
        async let wait: Void = received.wait(for: filter, count: 2, timeout: .milliseconds(300))
        #expect(received.forget(namespace: nil) == 1)
        _ = received.append(request())
        await wait
        #expect(begun.duration(to: .now) >= .milliseconds(300))
        #expect(received.page(filter, limit: 10).matching == 1)
    }

    @Test func `a wait ends with its time or its task`() async {
        let received = ReceivedRequests()
        await received.wait(for: ReceivedFilter(), count: 1, timeout: .milliseconds(1))
        let task = Task { await received.wait(for: ReceivedFilter(), count: 1, timeout: .seconds(600)) }
        task.cancel()
        await task.value
        #expect(received.page(ReceivedFilter(), limit: 1).matching == 0)
    }
}
