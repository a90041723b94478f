extension CommandTexts {
    /// Every section; an English text stands in one of them.
    package static let sections: [CommandSection] = [
        .parser, .commonHelp, .rootHelp, .sendHelp, .serverHelp, .settingsHelp, .agentHelp, .notificationHelp,
        .hubHelp, .appHelp, .keyHelp, .relayHelp, .relayAccountHelp, .configurationMessages, .doctorMessages,
        .serverMessages, .sendMessages, .upMessages, .runMessages, .agentMessages, .notificationMessages,
        .registerMessages, .hubMessages, .peopleHelp, .peopleMessages, .postgresMessages, .relayMessages, .apiMessages,
        .payloadMessages,
    ]
}
