import AgentProtocol
import AldabaTestSupport
import Testing

@testable import AgentEngine

@Test func `an app's secret is not shown with what it says first`() {
    let hello = AppHello(sender: AppRole(app: "todo", role: .app), secret: "secret-of-todo", run: "one")
    #expect(hello.secret == "secret-of-todo")
    for text in [shown(hello), shown(Talk.Conversations.Directive.admit(hello))] {
        #expect(text.contains("one") && text.contains("<redacted>") && !text.contains("secret-of-todo"))
    }
}

extension AppConnectionID {
    /// A connection with a name for the test, of one letter.
    fileprivate init(_ name: String) {
        self.init(number: Int(name.unicodeScalars.first?.value ?? 0), process: 1)
    }

    fileprivate var name: String { Unicode.Scalar(number).map { String(Character($0)) } ?? "" }
}

/// Connections that talk, and an agent that does at once what it is told, in words.
private struct Talk {
    typealias Connection = AppConnectionID
    typealias Conversations = AppConversations

    var conversations = Conversations()
    var roles: [String: AppRole] = [:]
    /// What the agent was told, each behind the name of the connection.
    var told: [String] = []
    /// Identifiers of requests that are refused.
    var refused: Set<String> = []
    var isAsked: Set<Int64> = []
    var isStoreBroken = false

    mutating func handle(_ event: Conversations.Event, _ connection: Connection) {
        conversations.handle(event, of: connection)
        while let (speaker, directive) = conversations.next(role: { [roles] in roles[$0.name] }) {
            if let answer = follow(directive, speaker) { conversations.handle(answer, of: speaker) }
        }
    }

    private mutating func follow(_ directive: Conversations.Directive, _ speaker: Connection) -> Conversations.Event? {
        func note(_ words: String) { told.append("\(speaker.name) \(words)") }
        switch directive {
        case .admit(let hello):
            note("hello")
            roles = roles.filter { $0.value != hello.sender }
            roles[speaker.name] = hello.sender
            return .admitted(CompletedRequests(run: "run", done: isAsked))
        case .perform(let message, _): if case .ready = message { note("ready") } else { note("performs") }
        case .performForExtension: note("performs for the extension")
        case .manage: note("manages")
        case .relay: note("relays")
        case .examine(let added):
            note("examines \(added.request.identifier)")
            if isStoreBroken { return nil }
            return refused.contains(added.request.identifier) ? .disapproved : .approved
        case .copy(let added): note("copies \(added.request.identifier)")
        case .store(let added, let mark, _):
            note("stores \(added.request.identifier)\(mark == nil ? " unmarked" : "") \(paths(added.request.content))")
        case .refuseFiles(let added, _): note("refuses the files of \(added.request.identifier)")
        case .drop(let files): note("drops \(files.map(\.path))")
        case .confirm(let request): note("confirms \(request)")
        case .refuse(let code, _): note("refuses \(code)")
        case .resume: note("reads")
        case .end: note("ends")
        }
        return nil
    }

    private func paths(_ content: NotificationContent) -> [String] { content.attachments.map(\.path) }

    mutating func take() -> [String] {
        defer { told = [] }
        return told
    }

    func connection(_ name: String) -> Connection { Connection(name) }

    mutating func app(_ name: String, role: ConnectionRole = .app) -> Connection {
        let connection = Connection(name)
        handle(.received([.hello(version: 1, app: "todo", secret: nil, role: role)]), connection)
        _ = take()
        return connection
    }
}

private func add(_ number: Int64, _ identifier: String, files: [String] = []) -> AppMessage {
    .center(request: number, .add(request(identifier, files)))
}

private func request(_ identifier: String, _ files: [String]) -> NotificationRequest {
    var content = NotificationContent()
    content.attachments = files.map { NotificationAttachment(identifier: $0, path: $0, type: "public.png") }
    return NotificationRequest(identifier: identifier, content: content)
}

private func copies(_ paths: String...) -> AppConversations.Event {
    .copied(
        .success(
            TakenAttachments(
                attachments: paths.map { NotificationAttachment(identifier: $0, path: $0, type: "public.png") })))
}

@Suite struct AppConversationsTests {
    private var talk = Talk()

    @Test mutating func `what comes before a hello is refused, and nothing after it is taken`() {
        let connection = talk.connection("a")
        talk.handle(.received([.ready, .hello(version: 1, app: "todo", secret: nil)]), connection)
        talk.handle(.received([.hello(version: 1, app: "todo", secret: nil)]), connection)
        #expect(talk.take() == ["a refuses helloExpected"])
        talk.handle(.closed, connection)
        #expect(talk.take() == ["a ends"])
    }

    static let hellos: [(AppMessage, String)] = [
        (.hello(version: 0, app: "todo", secret: nil), "unsupportedVersion"),
        (.hello(version: 1, app: "todo", secret: nil, run: String(repeating: "r", count: 65)), "malformed"),
        (.hello(version: 1, app: "todo", secret: nil, role: .unknown("ghost")), "unknownRole"),
    ]

    @Test(arguments: hellos.indices)
    mutating func `a hello that says what cannot be is refused`(index: Int) {
        talk.handle(.received([Self.hellos[index].0]), talk.connection("a"))
        #expect(talk.take() == ["a refuses \(Self.hellos[index].1)"])
    }

    @Test mutating func `what a service extension says is no app's`() {
        let companion = talk.app("e", role: .serviceExtension)
        talk.handle(.received([.extended(notification: 1, content: nil), .center(request: 1, .pending)]), companion)
        #expect(talk.take() == ["e performs for the extension", "e performs for the extension", "e reads"])
    }

    @Test mutating func `a companion has nothing to say, and a second hello changes nothing`() {
        let companion = talk.app("c", role: .relayService)
        talk.handle(.received([.hello(version: 1, app: "todo", secret: nil)]), companion)
        #expect(talk.take() == ["c reads"])
        talk.handle(.received([.center(request: 1, .pending), .ready]), companion)
        #expect(talk.take() == ["c refuses notThisRole"])
    }

    @Test mutating func `who was refused by the agent says nothing more`() {
        let connection = talk.connection("a")
        talk.conversations.handle(.received([.hello(version: 1, app: "todo", secret: nil), .ready]), of: connection)
        _ = talk.conversations.next { _ in nil }
        talk.handle(.refused, connection)
        #expect(talk.take() == [])
    }

    @Test mutating func `a request is examined and stored in its turn, without files at once`() {
        let app = talk.app("a")
        talk.handle(.received([add(1, "milk"), .ready]), app)
        #expect(talk.take() == ["a examines milk", "a stores milk []", "a ready", "a reads"])
        talk.refused = ["milk"]
        talk.handle(.received([add(2, "milk")]), app)
        #expect(talk.take() == ["a examines milk", "a reads"])
    }

    @Test mutating func `a request with files is stored when they are copied, and what comes after it waits`() {
        let app = talk.app("a")
        talk.handle(.received([add(1, "milk", files: ["m"]), .ready]), app)
        #expect(talk.take() == ["a examines milk", "a copies milk"])
        talk.handle(.closed, app)
        #expect(talk.take() == [], "its end waits too")
        talk.handle(copies("copy"), app)
        #expect(talk.take() == ["a examines milk", #"a stores milk ["copy"]"#, "a ready", "a ends"])
    }

    @Test mutating func `a terminal's request goes the same way and bears no mark`() {
        let terminal = talk.connection("t")
        talk.handle(.received([.manage(request: 1, .notify(request("milk", ["m"]), waits: false))]), terminal)
        #expect(talk.take() == ["t examines milk", "t copies milk"])
        talk.handle(copies("copy"), terminal)
        #expect(talk.take() == ["t examines milk", #"t stores milk unmarked ["copy"]"#, "t reads"])
        talk.handle(.received([.manage(request: 2, .status)]), terminal)
        #expect(talk.take() == ["t manages", "t reads"])
    }

    @Test mutating func `files whose request is refused after all are dropped`() {
        let app = talk.app("a")
        talk.handle(.received([add(1, "milk", files: ["m"])]), app)
        talk.refused = ["milk"]
        talk.handle(copies("copy"), app)
        #expect(talk.take().suffix(2) == [#"a drops ["copy"]"#, "a reads"])
    }

    @Test mutating func `files that cannot be taken are refused, and the app goes on`() {
        let app = talk.app("a")
        talk.handle(.received([add(1, "milk", files: ["m"]), .ready]), app)
        talk.handle(.copied(.failure(AttachmentError(code: 100, message: "no file"))), app)
        #expect(talk.take().suffix(3) == ["a refuses the files of milk", "a ready", "a reads"])
    }

    @Test mutating func `what an app asked that has another connection by now is dropped`() {
        let (first, second) = (talk.app("a"), talk.app("b"))
        talk.roles = ["a": AppRole(app: "todo", role: .app)]
        talk.handle(.received([add(1, "milk", files: ["m"])]), first)
        talk.handle(.received([.hello(version: 1, app: "todo", secret: nil)]), second)
        talk.handle(.received([add(1, "milk", files: ["m"])]), second)
        #expect(talk.take() == ["a examines milk", "a copies milk", "b hello", "b reads"])
        talk.handle(copies("copy"), first)
        // The one that waited comes first.
        #expect(talk.take() == ["b examines milk", "b copies milk", #"a drops ["copy"]"#, "a reads"])
    }

    @Test mutating func `connections of one app take turns in the order in which they came, other apps at once`() {
        let terminals = ["s", "t", "u"].map { talk.connection($0) }
        for terminal in terminals {
            talk.handle(
                .received([.manage(request: 1, .notify(request(terminal.name, ["f"]), waits: false))]), terminal)
        }
        let app = talk.app("a")
        #expect(talk.take() == [])
        talk.handle(.received([add(1, "milk", files: ["m"])]), app)
        #expect(talk.take() == ["a examines milk", "a copies milk"])
        talk.handle(.closed, terminals[2])
        talk.handle(copies("1"), terminals[0])
        #expect(
            talk.take() == ["t examines t", "t copies t", "s examines s", #"s stores s unmarked ["1"]"#, "s reads"])
        talk.handle(copies("2"), terminals[1])
        #expect(talk.take().prefix(2) == ["u examines u", "u copies u"])
        talk.handle(copies("3"), terminals[2])
        #expect(talk.take() == ["u examines u", #"u stores u unmarked ["3"]"#, "u ends"])
    }

    @Test mutating func `what was asked before is confirmed and not done again`() {
        talk.isAsked = [7]
        let app = talk.app("a")
        talk.handle(.received([add(7, "milk", files: ["m"]), add(8, "bread"), add(8, "bread")]), app)
        #expect(talk.take() == ["a confirms 7", "a examines bread", "a stores bread []", "a confirms 8", "a reads"])
    }

    @Test mutating func `a request of which the agent cannot know is forgotten, and its copies dropped`() {
        let app = talk.app("a")
        talk.handle(.received([add(1, "milk", files: ["m"]), .ready]), app)
        talk.isStoreBroken = true
        talk.handle(copies("copy"), app)
        #expect(talk.take().suffix(3) == [#"a drops ["copy"]"#, "a ready", "a reads"])
        talk.isStoreBroken = false
        talk.handle(.received([add(1, "milk")]), app)
        #expect(talk.take().last == "a reads", "it may be asked again")
    }
}
