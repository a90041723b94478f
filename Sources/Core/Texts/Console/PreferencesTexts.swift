extension CatalogueSection {
    /// The texts of the pages of a reader's preferences, and of the API.
    static let preferences = CatalogueSection(
        english: """
            preferences.title = Preferences
            preferences.zone = Time zone
            preferences.zone.unknown = "{zone}" is not a time zone; Europe/Madrid or UTC would be right.
            preferences.save = Save
            api.title = API
            api.intro = The requests that programs and this console make. The whole description for tools:
            api.request = Request
            api.summary = Answer
            api.query = Fields of the query
            """,
        spanish: """
            preferences.title = Preferencias
            preferences.zone = Zona horaria
            preferences.zone.unknown = «{zone}» no es una zona horaria; Europe/Madrid o UTC serían correctas.
            preferences.save = Guardar
            api.title = API
            api.intro = Las peticiones que hacen los programas y esta consola. La descripción completa para herramientas:
            api.request = Petición
            api.summary = Respuesta
            api.query = Campos de la consulta
            """)
}
