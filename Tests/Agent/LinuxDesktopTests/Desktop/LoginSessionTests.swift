import Testing

@testable import LinuxDesktop

/// How the session of the user is found at the login manager, and what makes it ask again.
struct LoginSessionTests {
    private typealias Question = LoginSession.Question

    /// A session that was found by its id, and whose hint says no.
    private func found() -> LoginSession {
        var session = LoginSession(id: "c1")
        _ = session.handle(.started)
        _ = session.handle(.answered(.session(id: "c1"), .path("/c1")))
        _ = session.handle(.answered(.lockedHint(session: "/c1"), .locked(false)))
        return session
    }

    @Test func `a session with an id is asked for by it, and then for its hint`() {
        var session = LoginSession(id: "c1")
        #expect(session.handle(.started) == [.ask(.session(id: "c1"))])
        #expect(
            session.handle(.answered(.session(id: "c1"), .path("/c1"))) == [.ask(.lockedHint(session: "/c1"))])
        #expect(
            session.handle(.answered(.lockedHint(session: "/c1"), .locked(true))) == [.tell(isLocked: true)])
    }

    @Test func `without an id the process is asked for, then what the user sees`() {
        var session = LoginSession(id: nil)
        #expect(session.handle(.started) == [.ask(.sessionOfProcess)])
        #expect(session.handle(.answered(.sessionOfProcess, .nothing)) == [.ask(.user)])
        #expect(session.handle(.answered(.user, .path("/user"))) == [.ask(.display(user: "/user"))])
        #expect(
            session.handle(.answered(.display(user: "/user"), .path("/2"))) == [.ask(.lockedHint(session: "/2"))])
    }

    @Test func `an id that is not known leads to the process`() {
        var session = LoginSession(id: "gone")
        _ = session.handle(.started)
        #expect(session.handle(.answered(.session(id: "gone"), .nothing)) == [.ask(.sessionOfProcess)])
    }

    @Test func `a user without a session has no locked screen until one begins`() {
        var session = LoginSession(id: nil)
        _ = session.handle(.started)
        _ = session.handle(.answered(.sessionOfProcess, .nothing))
        #expect(session.handle(.answered(.user, .nothing)) == [.tell(isLocked: false)])
        #expect(session.handle(.sessionsChanged) == [.ask(.sessionOfProcess)])
    }

    @Test func `a change of the own session is asked about, one of another is not`() {
        var session = found()
        #expect(session.handle(.changed(session: "/c2")) == [])
        #expect(session.handle(.changed(session: "/c1")) == [.ask(.lockedHint(session: "/c1"))])
    }

    @Test func `what changes while a question is under way is asked about after it, once`() {
        var session = found()
        _ = session.handle(.changed(session: "/c1"))
        #expect(session.handle(.changed(session: "/c1")) == [])
        #expect(session.handle(.changed(session: "/c1")) == [])
        #expect(
            session.handle(.answered(.lockedHint(session: "/c1"), .locked(true)))
                == [.tell(isLocked: true), .ask(.lockedHint(session: "/c1"))])
        #expect(
            session.handle(.answered(.lockedHint(session: "/c1"), .locked(false))) == [.tell(isLocked: false)])
    }

    @Test func `a search that is wished for meanwhile stands above a question for the hint`() {
        var session = found()
        _ = session.handle(.changed(session: "/c1"))
        _ = session.handle(.sessionsChanged)
        _ = session.handle(.changed(session: "/c1"))
        #expect(
            session.handle(.answered(.lockedHint(session: "/c1"), .locked(true)))
                == [.tell(isLocked: true), .ask(.session(id: "c1"))])
    }

    @Test func `silence does not unlock the screen, and an answer to another question counts for nothing`() {
        var session = found()
        _ = session.handle(.changed(session: "/c1"))
        #expect(session.handle(.answered(.user, .path("/user"))) == [])
        #expect(session.handle(.answered(.lockedHint(session: "/c1"), .silence)) == [.rest(.seconds(1))])
        #expect(session.handle(.changed(session: "/c1")) == [.ask(.lockedHint(session: "/c1"))])
        #expect(session.handle(.rested) == [], "it has been asked meanwhile")
    }

    @Test func `who does not answer is asked again after pauses that grow to a minute`() {
        var session = LoginSession(id: "c1")
        #expect(session.handle(.started) == [.ask(.session(id: "c1"))])
        for pause in [1, 2, 4, 8, 16, 32, 64, 64] {
            #expect(session.handle(.answered(.session(id: "c1"), .silence)) == [.rest(.seconds(pause))])
            #expect(session.handle(.rested) == [.ask(.session(id: "c1"))])
        }
        _ = session.handle(.answered(.session(id: "c1"), .path("/c1")))
        #expect(session.handle(.answered(.lockedHint(session: "/c1"), .silence)) == [.rest(.seconds(1))])
    }

    @Test func `without a login manager nothing is asked until one comes`() {
        var session = LoginSession(id: "c1")
        _ = session.handle(.started)
        #expect(session.handle(.answered(.session(id: "c1"), .unknown)) == [])
        #expect(session.handle(.rested) == [])
        #expect(session.handle(.sessionsChanged) == [.ask(.session(id: "c1"))])
    }

    @Test func `the screen is locked as long as one of those who say so does`() {
        var lock = LockState()
        lock.receive(true, from: .saver(.gnome))
        lock.receive(true, from: .login)
        lock.receive(false, from: .saver(.gnome))
        #expect(lock.isLocked)
        lock.receive(true, from: .saver(.xfce))
        lock.receive(false, from: .login)
        #expect(lock.isLocked)
        lock.lostSavers()
        #expect(!lock.isLocked)
    }

    @Test func `what a screen saver said ends with its successor's word, or with its silence`() {
        var lock = LockState()
        lock.receive(true, from: .saver(.gnome))
        lock.wasSilent(.gnome)
        #expect(lock.isLocked, "it said so itself")
        lock.ownerChanged(of: .gnome)
        #expect(lock.isLocked, "the successor has not been heard")
        lock.receive(true, from: .saver(.gnome))
        lock.wasSilent(.gnome)
        #expect(lock.isLocked, "the successor has said so")
        lock.ownerChanged(of: .gnome)
        lock.wasSilent(.gnome)
        #expect(!lock.isLocked)
    }

    @Test func `the system bus is where the environment says, else at its well-known place`() {
        let named = LoginPlace(environment: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:x", "XDG_SESSION_ID": "c1"])
        #expect((named.busAddress, named.sessionID) == ("unix:x", "c1"))
        let plain = LoginPlace(environment: ["DBUS_SYSTEM_BUS_ADDRESS": "", "XDG_SESSION_ID": ""])
        #expect((plain.busAddress, plain.sessionID) == ("unix:path=/var/run/dbus/system_bus_socket", nil))
    }
}
