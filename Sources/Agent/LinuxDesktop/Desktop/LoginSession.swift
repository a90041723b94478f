import Platform

/// Finds the user session at the login manager (org.freedesktop.login1) and follows its `LockedHint`: a value, events
/// in and directives out.
///
/// Guarantees: one question is open at a time. Signals are never trusted, they only cause another question: on the
/// system bus other users could send some. A login manager that does not answer is asked again, after pauses that grow
/// to a minute.
struct LoginSession: Sendable {
    enum Question: Hashable, Sendable {
        case session(id: String)
        case sessionOfProcess
        case user
        /// The session that the user sees, for a program outside of sessions, such as a service of the user's.
        case display(user: String)
        case lockedHint(session: String)
    }

    enum Answer: Hashable, Sendable {
        case path(String)
        case locked(Bool)
        /// There is no such thing.
        case nothing
        /// There is no login manager, or it answers in a form that is not known: asking again would change nothing.
        case unknown
        /// No reply came in time.
        case silence
    }

    enum Event: Hashable, Sendable {
        case started
        /// The login manager restarted, or a session began or ended: the user session may be another now.
        case sessionsChanged
        /// Something about the session with this path is different.
        case changed(session: String?)
        case answered(Question, Answer)
        /// The last requested pause is over.
        case rested
    }

    enum Directive: Hashable, Sendable {
        case ask(Question)
        /// Send ``Event/rested`` after this time.
        case rest(Duration)
        case tell(isLocked: Bool)
    }

    private enum Wish: Int, Comparable {
        case nothing, hint, search
        static func < (one: Wish, other: Wish) -> Bool { one.rawValue < other.rawValue }
    }

    private let id: String?
    private var session: String?
    private var asked: Question?
    /// The question to ask after the current one is answered.
    private var wish = Wish.nothing
    private var isResting = false
    /// The pauses since the last answer.
    private var backOff = BackOff(cap: .seconds(64))

    /// - Parameter id: The value of `XDG_SESSION_ID`.
    init(id: String?) { self.id = id }

    mutating func handle(_ event: Event) -> [Directive] {
        switch event {
        case .started, .sessionsChanged: wish = .search
        case .changed(let path):
            guard path == session else { return [] }
            wish = max(wish, .hint)
        case .rested:
            guard isResting else { return [] }
            wish = .search
        case .answered(let question, let answer):
            guard question == asked else { return [] }
            asked = nil
            let directives = handleAnswer(answer, to: question) + next()
            return answer == .silence && asked == nil ? directives + rest() : directives
        }
        return next()
    }

    private mutating func next() -> [Directive] {
        guard asked == nil else { return [] }
        let wished = wish
        wish = .nothing
        switch wished {
        case .nothing: return []
        case .search: return ask(id.map { .session(id: $0) } ?? .sessionOfProcess)
        case .hint: return session.map { ask(.lockedHint(session: $0)) } ?? []
        }
    }

    /// 1, 2, 4 and so on to 64 seconds.
    private mutating func rest() -> [Directive] {
        isResting = true
        return [.rest(.milliseconds(backOff.next()))]
    }

    private mutating func ask(_ question: Question) -> [Directive] {
        isResting = false
        asked = question
        return [.ask(question)]
    }

    private mutating func handleAnswer(_ answer: Answer, to question: Question) -> [Directive] {
        if answer != .silence { backOff.reset() }
        switch (question, answer) {
        case (.user, .path(let user)): return ask(.display(user: user))
        case (.session, .path(let path)), (.sessionOfProcess, .path(let path)), (.display, .path(let path)):
            session = path
            return ask(.lockedHint(session: path))
        case (.lockedHint, .locked(let isLocked)): return [.tell(isLocked: isLocked)]
        case (.session, .nothing): return ask(.sessionOfProcess)
        case (.sessionOfProcess, .nothing): return ask(.user)
        case (.user, .nothing), (.display, .nothing), (.lockedHint, .nothing):
            session = nil
            return [.tell(isLocked: false)]
        default:
            // An unknown state does not unlock the screen.
            return []
        }
    }
}
