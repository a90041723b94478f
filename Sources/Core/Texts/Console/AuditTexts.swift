extension CatalogueSection {
    /// The texts of the audit log.
    static let audit = CatalogueSection(
        english: """
            layout.audit = Audit log
            audit.title = Audit log
            audit.intro = Who changed what on this server by console, API and command line, the newest first. Nobody can change or delete an entry, and none has a secret.
            audit.action = Action
            audit.action.hint = app.add, or app for all of apps
            audit.object = Object
            audit.actor = By
            audit.team = Team
            audit.origin = Came by
            audit.to = To, inclusive
            audit.outcome = Outcome
            audit.change = Change
            audit.before = Before
            audit.after = After
            audit.csv = Download as CSV
            audit.jsonl = Download as JSON Lines
            audit.empty = Nothing has been changed yet.
            audit.empty.filtered = No entry fits these filters.
            audit.more = Only {count} entries were looked at; older ones may fit too.
            audit.origin.console = console
            audit.origin.api = API
            audit.origin.command = command line
            audit.outcome.done = Done
            audit.outcome.refused = Refused
            audit.outcome.failed = Failed
            audit.outcome.unknown = Unknown
            audit.actor.person = person
            audit.actor.console = anyone at the console
            audit.actor.credential = credential
            audit.actor.user = system user
            audit.actor.development = anyone on this machine
            """,
        spanish: """
            layout.audit = Registro de auditoría
            audit.title = Registro de auditoría
            audit.intro = Quién cambió qué en este servidor desde la consola, la API y la línea de órdenes, lo más reciente primero. Nadie puede cambiar ni borrar una entrada, y ninguna contiene secretos.
            audit.action = Acción
            audit.action.hint = app.add, o app para todas las de aplicaciones
            audit.object = Objeto
            audit.actor = Autor
            audit.team = Equipo
            audit.origin = Vía
            audit.to = Hasta, incluido
            audit.outcome = Resultado
            audit.change = Cambio
            audit.before = Antes
            audit.after = Después
            audit.csv = Descargar como CSV
            audit.jsonl = Descargar como JSON Lines
            audit.empty = Todavía no se ha cambiado nada.
            audit.empty.filtered = Ninguna entrada cumple estos filtros.
            audit.more = Solo se miraron {count} entradas; puede que otras anteriores también los cumplan.
            audit.origin.console = consola
            audit.origin.api = API
            audit.origin.command = línea de órdenes
            audit.outcome.done = Hecho
            audit.outcome.refused = Rechazado
            audit.outcome.failed = Fallido
            audit.outcome.unknown = Desconocido
            audit.actor.person = persona
            audit.actor.console = cualquiera en la consola
            audit.actor.credential = credencial
            audit.actor.user = usuario del sistema
            audit.actor.development = cualquiera en esta máquina
            """)
}
