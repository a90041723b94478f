import AgentEngine
import Testing

@testable import LinuxDesktop

/// The arguments of `Notify`.
struct NotifyMessageTests {
    @Test(arguments: [
        (true, "a &lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;"), (false, "a <b> & \"c\" 'd'"),
    ])
    func `what people typed never becomes markup`(understands: Bool, expected: String) {
        #expect(MarkUp.body("a <b> & \"c\"\0 'd'", understandsMarkUp: understands) == expected)
    }

    @Test func `title and subtitle become the summary, else the app's name`() {
        var presentation = presentation(1)
        presentation.subtitle = "Today"
        #expect(
            NotifyMessage(presentation, replaces: 0, features: NotificationServerInformation()).summary
                == "Milk 1 - Today")
        (presentation.title, presentation.subtitle) = ("", "")
        #expect(NotifyMessage(presentation, replaces: 0, features: NotificationServerInformation()).summary == "Todo")
    }

    @Test func `a call rings`() {
        var presentation = presentation(1)
        presentation.sound = .standard
        let features = NotificationServerInformation(name: "x", capabilities: ["sound"])
        func name() -> NotifyMessage.Hint? {
            NotifyMessage(presentation, replaces: 0, features: features).hints["sound-name"]
        }
        #expect(name() == .string("message-new-instant"))
        presentation.category = "call.incoming"
        #expect(name() == .string("phone-incoming-call"))
    }

    @Test func `nothing that is read changes the direction of what stands beside it`() {
        let (over, isolate) = ("\u{202E}", "\u{2067}")
        var presentation = presentation(1)
        presentation.appName = "To\(over)do"
        presentation.title = "Mi\(over)lk"
        presentation.subtitle = "To\(isolate)day"
        presentation.body = "a\(isolate)b\nc\(over)d"
        presentation.openLabel = "\(over)Look"
        presentation.buttons = [
            Presentation.Button(identifier: "do\(over)ne", label: "\(isolate)Done"),
            Presentation.Button(
                identifier: "answer", label: "Answer\(over)",
                reply: Presentation.Reply(placeholder: "\(over)Write", submitLabel: "Se\(over)nd")),
        ]
        let features = NotificationServerInformation(name: "x", capabilities: ["actions", "inline-reply"])
        let message = NotifyMessage(presentation, replaces: 0, features: features)
        #expect(message.appName == "Todo" && message.summary == "Milk - Today")
        #expect(Array(message.body.unicodeScalars) == Array("a\(isolate)b\u{2069}\ncd".unicodeScalars))
        #expect(
            message.actions == ["default", "Look", "button:do\(over)ne", "Done", "inline-reply", "Answer"])
        #expect(message.hints["x-kde-reply-placeholder-text"] == .string("Write"))
        #expect(message.hints["x-kde-reply-submit-button-text"] == .string("Send"))
    }

    @Test func `a body that is cut off ends the directions that it has begun`() {
        var presentation = presentation(1)
        presentation.body = "\u{2067}" + String(repeating: "a", count: 1000) + "\u{2069}"
        let message = NotifyMessage(
            presentation, replaces: 0, features: NotificationServerInformation(name: "lxqt-notificationd"))
        #expect(message.body.unicodeScalars.last == "\u{2069}")
    }

    @Test func `hints and actions follow what the server can do`() {
        var presentation = presentation(1)
        presentation.category = "REMINDER"
        let plain = NotifyMessage(presentation, replaces: 3, features: NotificationServerInformation())
        #expect(plain.actions == [])
        #expect(plain.replaces == 3)
        #expect(plain.hints["x-canonical-private-synchronous"] == nil)
        #expect(plain.hints["desktop-entry"] == .string("com.example.todo"))
        #expect(plain.hints["category"] == .string("REMINDER"))
        #expect(plain.hints["urgency"] == .byte(1))
        let features = NotificationServerInformation(
            name: "x", capabilities: ["actions", "x-canonical-private-synchronous"])
        let rich = NotifyMessage(presentation, replaces: 0, features: features)
        #expect(rich.actions == ["default", "Open"])
        #expect(rich.hints["x-canonical-private-synchronous"] == .string("com.example.todo/id-1"))
    }

    private static let buttons = [
        Presentation.Button(identifier: "done", label: "Done"),
        Presentation.Button(
            identifier: "answer", label: "Answer",
            reply: Presentation.Reply(placeholder: "Write", submitLabel: "Send")),
        Presentation.Button(identifier: "default", label: "Not the default"),
    ]

    @Test func `a text is asked for on the notification where the server can, else by a button`() {
        var presentation = presentation(1)
        presentation.buttons = Self.buttons
        presentation.openLabel = "Look"
        let plain = NotifyMessage(
            presentation, replaces: 0, features: NotificationServerInformation(name: "x", capabilities: ["actions"]))
        #expect(
            plain.actions == [
                "default", "Look", "button:done", "Done", "button:answer", "Answer", "button:default",
                "Not the default",
            ])
        let inline = NotifyMessage(
            presentation, replaces: 0,
            features: NotificationServerInformation(name: "x", capabilities: ["actions", "inline-reply"]))
        #expect(inline.actions[4...5] == ["inline-reply", "Answer"])
        #expect(inline.hints["x-kde-reply-placeholder-text"] == .string("Write"))
        #expect(inline.hints["x-kde-reply-submit-button-text"] == .string("Send"))
    }

    @Test(arguments: [
        (Presentation.Sound.silent, "suppress-sound", NotifyMessage.Hint.boolean(true)),
        (.standard, "sound-name", .string("message-new-instant")),
        (.file("/tmp/bell.wav"), "sound-file", .string("/tmp/bell.wav")),
    ])
    func `a sound is named by its hint where the server plays, and suppressed where it does not`(
        sound: Presentation.Sound, name: String, hint: NotifyMessage.Hint
    ) {
        var presentation = presentation(1)
        presentation.sound = sound
        let playing = NotificationServerInformation(name: "x", capabilities: ["sound"])
        #expect(NotifyMessage(presentation, replaces: 0, features: playing).hints[name] == hint)
        let mute = NotifyMessage(presentation, replaces: 0, features: NotificationServerInformation()).hints
        #expect(mute["suppress-sound"] == .boolean(true) && mute["sound-name"] == nil && mute["sound-file"] == nil)
    }

    @Test func `a picture is named by its path, and what stays does not expire`() {
        var presentation = presentation(1)
        presentation.image = "/tmp/milk.png"
        presentation.stays = true
        let message = NotifyMessage(presentation, replaces: 0, features: NotificationServerInformation())
        #expect(message.hints["image-path"] == .string("/tmp/milk.png") && message.expiresAfter == 0)
    }

    private func message(
        _ server: String, _ presentation: Presentation
    ) -> NotifyMessage {
        NotifyMessage(
            presentation, replaces: 0,
            features: NotificationServerInformation(name: server, capabilities: ["actions", "body-markup"]))
    }

    @Test(arguments: [
        ("xfce4-notifyd 0.7.3", "Open", "A & <b>", "image-path"),
        ("Notification Daemon 1.26.0", "Open", "A &amp; &lt;b&gt;", "image-path"),
        ("lxqt-notificationd 1.2.0", "", "A && <b>", "image_path"),
    ])
    func `buttons and pictures are told as the server reads them`(
        server: String, open: String, label: String, hint: String
    ) {
        var presentation = presentation(1)
        presentation.buttons = [Presentation.Button(identifier: "a", label: "A & <b>")]
        presentation.image = "/tmp/milk.png"
        let told = message(server, presentation)
        #expect(told.actions == ["default", open, "button:a", label])
        #expect(told.hints[hint] == .string("/tmp/milk.png"))
        presentation.openLabel = "Look & see"
        #expect(
            message(server, presentation).actions[1].hasPrefix("Look &"), "what a notification says itself is shown")
    }

    @Test(arguments: [
        ("dunst 1.9.0", 2_000), ("Notification Daemon 1.26.0", 401), ("lxqt-notificationd 1.2.0", 401),
    ])
    func `a body is shortened for servers that would fill the screen with it`(server: String, length: Int) {
        var presentation = presentation(1)
        presentation.body = String(repeating: "x", count: 2_000)
        #expect(message(server, presentation).body.count == length)
    }

    @Test func `a click beside the buttons is no answer to a question`() {
        var presentation = presentation(1)
        presentation.isQuestion = true
        presentation.buttons = [Presentation.Button(identifier: "allow", label: "Allow")]
        #expect(message("dunst 1.9.0", presentation).actions == ["button:allow", "Allow"])
    }

    @Test func `a badge is one app's, and 0 hides it`() {
        let badge = LauncherBadge(3, desktopEntry: "com.example.todo")
        #expect(
            badge.arguments == [
                .string("application://com.example.todo.desktop"),
                .dictionary(["count": .int64(3), "count-visible": .boolean(true)]),
            ])
        #expect(badge.path != LauncherBadge(3, desktopEntry: "com.example.mail").path)
        #expect(
            LauncherBadge(0, desktopEntry: "x").arguments.last
                == .dictionary(["count": .int64(0), "count-visible": .boolean(false)]))
    }

    @Test func `a critical one stays`() {
        var presentation = presentation(1)
        presentation.urgency = .critical
        let message = NotifyMessage(presentation, replaces: 0, features: NotificationServerInformation())
        #expect(message.expiresAfter == 0)
        #expect(message.hints["urgency"] == .byte(2))
    }
}
