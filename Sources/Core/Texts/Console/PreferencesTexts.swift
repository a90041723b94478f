extension CatalogueSection {
    /// The texts of the page of a reader's language and time zone.
    static let preferences = CatalogueSection(
        english: """
            preferences.title = Preferences
            preferences.zone = Time zone
            preferences.zone.unknown = "{zone}" is not a time zone; Europe/Madrid or UTC would be right.
            preferences.save = Save
            """,
        spanish: """
            preferences.title = Preferencias
            preferences.zone = Zona horaria
            preferences.zone.unknown = «{zone}» no es una zona horaria; Europe/Madrid o UTC serían correctas.
            preferences.save = Guardar
            """)
}
