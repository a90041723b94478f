extension ComposedMessage {
    /// Reads the form's fields.
    init(_ form: ComposeForm) {
        func line(_ name: String) -> String { form.line(name) }
        var actions: [(place: Int, action: Action)] = []
        for place in 0..<Self.mostActions {
            let action = Action(
                id: line("action\(place).id"), title: form["action\(place).title"], link: line("action\(place).link"))
            if action != Action() { actions.append((place, action)) }
        }
        func words(_ suffix: String) -> Words {
            Words(
                title: form["title\(suffix)"], subtitle: form["subtitle\(suffix)"], body: form["body\(suffix)"],
                actions: actions.map { suffix.isEmpty ? $0.action.title : form["action\($0.place).title\(suffix)"] })
        }
        self.words = words("")
        self.actions = actions.map(\.action)
        variants = form.languages.map { Variant(language: $0, words: words(".\($0)")) }
        media = line("media")
        mediaKind = MediaKind(rawValue: line("mediaKind")) ?? .image
        sound = line("sound")
        badge = line("badge")
        category = line("category")
        thread = line("thread")
        level = line("level")
        link = line("link")
        data = form["data"]
        isSilent = form["silent"] == "yes"
        ttl = line("ttl")
        priority = line("priority")
        collapseID = line("collapseId")
    }

    /// The form's fields with this notification.
    var fields: ComposeForm {
        var form = ComposeForm()
        form["title"] = words.title
        form["subtitle"] = words.subtitle
        form["body"] = words.body
        form.languages = variants.map(\.language)
        for variant in variants {
            form["title.\(variant.language)"] = variant.words.title
            form["subtitle.\(variant.language)"] = variant.words.subtitle
            form["body.\(variant.language)"] = variant.words.body
            for (place, title) in variant.words.actions.enumerated() {
                form["action\(place).title.\(variant.language)"] = title
            }
        }
        for (place, action) in actions.prefix(Self.mostActions).enumerated() {
            form["action\(place).id"] = action.id
            form["action\(place).title"] = action.title
            form["action\(place).link"] = action.link
        }
        form["media"] = media
        form["mediaKind"] = mediaKind.rawValue
        let texts = [
            ("sound", sound), ("badge", badge), ("category", category), ("thread", thread), ("level", level),
            ("link", link), ("data", data), ("ttl", ttl), ("priority", priority), ("collapseId", collapseID),
        ]
        for (name, text) in texts { form[name] = text }
        if isSilent { form["silent"] = "yes" }
        return form
    }

    /// The field of the form that a member of the API's documents comes from.
    ///
    /// - Parameter pointer: A JSON pointer of a refusal, `/content/locales/de/title`.
    func field(of pointer: String) -> String {
        var parts = pointer.split(separator: "/").map(String.init)
        var suffix = ""
        if parts.first == "experiment" {
            guard parts.count > 4, parts[3] == "content" else { return "shareA" }
            suffix = parts[2] == "1" ? "B" : ""
            parts = Array(parts.dropFirst(3))
        }
        if parts.first == "content" { parts.removeFirst() }
        guard let first = parts.first else { return "title" }
        let known = [
            "image": "media", "video": "media", "pictureKeys": "media", "audience": "expression",
            "apns-priority": "priority",
            "data": "data", "silent": "silent",
        ]
        switch (first, parts.dropFirst().first) {
        case ("locales", let language?):
            guard parts.count > 2 else { return "title.\(language)" }
            guard parts[2] == "actions" else { return "\(parts[2]).\(language)" }
            let place = actions.firstIndex { $0.id == parts.last }
            return "action\(place ?? 0).title.\(language)"
        case ("actions", let place?): return "action\(place).\(parts.count > 2 ? parts[2] : "id")"
        case ("local", let name): return name == "time" || name == nil ? "localTime" : name ?? "localTime"
        case ("quiet", let name):
            return name.map { "quiet" + $0.prefix(1).uppercased() + $0.dropFirst() } ?? "quietFrom"
        case ("cap", let name): return name == "hours" ? "capHours" : "capMost"
        default: return known[first] ?? first + suffix
        }
    }
}
