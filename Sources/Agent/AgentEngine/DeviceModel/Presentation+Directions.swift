import CoreValues

extension Presentation {
    /// The same with texts that read as what they are: names, titles and labels without characters that change the direction of
    /// text, the body with such as end in their own paragraph. Identifiers and paths stay as they are.
    package var withPlainDirections: Presentation {
        func plain(_ text: String) -> String { DirectionControls.removed(from: text) }
        var shown = self
        shown.appName = plain(appName)
        shown.title = plain(title)
        shown.subtitle = plain(subtitle)
        shown.body = DirectionControls.balanced(in: body)
        shown.openLabel = plain(openLabel)
        shown.buttons = buttons.map { button in
            Button(
                identifier: button.identifier, label: plain(button.label),
                reply: button.reply.map {
                    Reply(placeholder: plain($0.placeholder), submitLabel: plain($0.submitLabel))
                })
        }
        return shown
    }
}
