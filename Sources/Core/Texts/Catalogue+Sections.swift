extension Catalogue {
    /// Every section; a key stands in one of them.
    package static let sections: [CatalogueSection] = [
        .layout, .preferences, .inbox, .notification, .people, .compose, .explanation, .appleRefusal, .messageRefusal,
        .campaign, .device, .health, .relay,
        .report,
        .audience,
        .register,
        .audit,
    ]
}
