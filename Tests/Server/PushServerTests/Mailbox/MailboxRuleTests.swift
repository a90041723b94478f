import PushCore
import PushServer
import Testing

@Suite struct MailboxRuleTests {
    private let now = Timestamp(seconds: 1_780_272_000)
    private let later = Timestamp(seconds: 1_790_000_000)
    private let app = AppID(rawValue: 1)

    private func entry(
        _ id: Int64, app: AppID = AppID(rawValue: 1), environment: PushEnvironment = .sandbox, lane: Lane = .apns,
        collapse: String? = nil,
        expiresAt: Timestamp = Timestamp(seconds: 1_790_000_000)
    ) -> Mailbox.Entry {
        Mailbox.Entry(
            id: NotificationID(rawValue: id), app: app, environment: environment, lane: lane, collapseID: collapse,
            expiresAt: expiresAt)
    }

    private func id(_ value: Int64) -> NotificationID { NotificationID(rawValue: value) }

    /// A mailbox to which these entries were appended.
    private func mailbox(_ entries: [Mailbox.Entry], policy: MailboxPolicy = MailboxPolicy()) -> Mailbox {
        var mailbox = Mailbox()
        for entry in entries { _ = mailbox.appended(entry, policy: policy, now: now) }
        return mailbox
    }

    @Test func `what is appended waits in order`() {
        let mailbox = mailbox([entry(1), entry(2, app: AppID(rawValue: 2)), entry(3)])
        #expect(mailbox.ids == [id(1), id(2), id(3)])
        #expect(mailbox.count == 3)
    }

    @Test func `an acknowledgement takes away what it names and nothing else`() {
        var mailbox = mailbox([entry(1), entry(2), entry(3)])
        #expect(mailbox.acknowledged([id(2), id(9)]) == [.remove(id(2), .acked)])
        #expect(mailbox.acknowledged([id(2)]).isEmpty)
        #expect(mailbox.ids == [id(1), id(3)])
    }

    @Test func `a collapse id replaces what waits`() {
        var mailbox = mailbox([entry(1, collapse: "score"), entry(2)])
        let directives = mailbox.appended(entry(3, collapse: "score"), policy: MailboxPolicy(), now: now)
        #expect(directives == [.remove(id(1), .replaced)])
        #expect(mailbox.ids == [id(2), id(3)])
    }

    @Test func `a collapse id acts within its app, environment and lane only`() {
        var mailbox = mailbox([entry(1, collapse: "score")])
        #expect(
            mailbox.appended(
                entry(2, app: AppID(rawValue: 2), collapse: "score"), policy: MailboxPolicy(), now: now
            ).isEmpty)
        #expect(
            mailbox.appended(entry(3, lane: .fcm, collapse: "score"), policy: MailboxPolicy(), now: now).isEmpty)
        #expect(
            mailbox.appended(
                entry(4, environment: .production, collapse: "score"), policy: MailboxPolicy(), now: now
            ).isEmpty)
    }

    @Test func `what is in flight is replaced only at the next login`() {
        var mailbox = mailbox([entry(1, collapse: "score")])
        mailbox.sent([id(1)])
        #expect(mailbox.appended(entry(2, collapse: "score"), policy: MailboxPolicy(), now: now).isEmpty)
        #expect(mailbox.ids == [id(1), id(2)])
        #expect(mailbox.sessionOpened(now: now) == [.remove(id(1), .replaced)])
        #expect(mailbox.ids == [id(2)])
    }

    @Test func `what is in flight and overtaken can still be acknowledged`() {
        var mailbox = mailbox([entry(1, collapse: "score")])
        mailbox.sent([id(1)])
        _ = mailbox.appended(entry(2, collapse: "score"), policy: MailboxPolicy(), now: now)
        #expect(mailbox.acknowledged([id(1)]) == [.remove(id(1), .acked)])
        #expect(mailbox.sessionOpened(now: now).isEmpty)
    }

    @Test func `beyond the limit the oldest is dropped`() {
        var mailbox = mailbox([entry(1), entry(2)], policy: MailboxPolicy(limit: 2))
        let directives = mailbox.appended(entry(3), policy: MailboxPolicy(limit: 2), now: now)
        #expect(directives == [.remove(id(1), .dropped(.overflow))])
    }

    @Test func `what has expired makes capacity before anything is dropped`() {
        let soon = now.adding(milliseconds: 10)
        var mailbox = mailbox([entry(1), entry(2, expiresAt: soon)], policy: MailboxPolicy(limit: 2))
        let directives = mailbox.appended(
            entry(3), policy: MailboxPolicy(limit: 2), now: now.adding(milliseconds: 10))
        #expect(directives == [.remove(id(2), .expired)])
        #expect(mailbox.ids == [id(1), id(3)])
    }

    @Test func `the limit counts one app and lane`() {
        var mailbox = mailbox([entry(1), entry(2, lane: .fcm)], policy: MailboxPolicy(limit: 1))
        #expect(
            mailbox.appended(entry(3, app: AppID(rawValue: 2)), policy: MailboxPolicy(limit: 1), now: now).isEmpty)
    }

    @Test func `keeping the newest replaces all that is not in flight`() {
        let policy = MailboxPolicy(overflow: .keepNewest)
        var mailbox = mailbox([entry(1)], policy: policy)
        mailbox.sent([id(1)])
        #expect(mailbox.appended(entry(2), policy: policy, now: now).isEmpty)
        #expect(mailbox.appended(entry(3), policy: policy, now: now) == [.remove(id(2), .replaced)])
        #expect(mailbox.ids == [id(1), id(3)])
    }

    @Test func `time takes away what has expired, at its instant and not before`() {
        var mailbox = mailbox([entry(1, expiresAt: now.adding(milliseconds: 5)), entry(2)])
        #expect(mailbox.expired(now: now.adding(milliseconds: 4)).isEmpty)
        #expect(mailbox.expired(now: now.adding(milliseconds: 5)) == [.remove(id(1), .expired)])
        #expect(mailbox.expired(now: now.adding(milliseconds: 6)).isEmpty)
    }

    @Test func `an unregistered app's mail leaves with its reason`() {
        var mailbox = mailbox([entry(1), entry(2, app: AppID(rawValue: 2)), entry(3)])
        #expect(
            mailbox.unregistered(app: app, environment: .sandbox)
                == [.remove(id(1), .dropped(.unregistered)), .remove(id(3), .dropped(.unregistered))])
        #expect(mailbox.ids == [id(2)])
    }

    @Test func `the end of one environment's registration leaves the other's mail alone`() {
        var mailbox = mailbox([entry(1), entry(2, environment: .production), entry(3)])
        #expect(
            mailbox.unregistered(app: app, environment: .production) == [.remove(id(2), .dropped(.unregistered))])
        #expect(mailbox.ids == [id(1), id(3)])
    }

    @Test func `a mailbox from the store knows that earlier mail of a collapse id was overtaken`() {
        var mailbox = Mailbox(entries: [entry(1, collapse: "score"), entry(2), entry(3, collapse: "score")])
        #expect(mailbox.sessionOpened(now: now) == [.remove(id(1), .replaced)])
    }
}
