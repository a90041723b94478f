extension CatalogueSection {
    /// The texts of the inbox.
    static let inbox = CatalogueSection(
        english: """
            inbox.title = Inbox
            inbox.intro = What providers sent to this server, the newest first. The list grows by itself.
            inbox.live = Live
            inbox.app = App
            inbox.device = Device
            inbox.state = State
            inbox.reason = Reason
            inbox.text = Text
            inbox.from = From
            inbox.to = To
            inbox.filter = Filter
            inbox.clear = Clear
            inbox.any = Any
            inbox.when = When
            inbox.what = What
            inbox.last = Last
            inbox.empty = No notification is here yet.
            inbox.empty.filtered = No notification fits these filters.
            inbox.more = Only the newest {count} were looked at; older ones may fit too.
            inbox.new.one = {count} new notification
            inbox.new.other = {count} new notifications
            inbox.skipped.one = {count} more came in meanwhile; load the page again to see it.
            inbox.skipped.other = {count} more came in meanwhile; load the page again to see them.
            inbox.untitled = (no text)
            inbox.state.waiting = Waiting
            inbox.state.ended = Ended
            inbox.state.refused = Refused
            """,
        spanish: """
            inbox.title = Entradas
            inbox.intro = Lo que los proveedores enviaron a este servidor, lo más reciente primero. La lista crece sola.
            inbox.live = En directo
            inbox.app = Aplicación
            inbox.device = Dispositivo
            inbox.state = Estado
            inbox.reason = Motivo
            inbox.text = Texto
            inbox.from = Desde
            inbox.to = Hasta
            inbox.filter = Filtrar
            inbox.clear = Quitar filtros
            inbox.any = Cualquiera
            inbox.when = Cuándo
            inbox.what = Qué
            inbox.last = Último
            inbox.empty = Todavía no hay ninguna notificación.
            inbox.empty.filtered = Ninguna notificación cumple estos filtros.
            inbox.more = Solo se miraron las {count} más recientes; puede que otras anteriores también los cumplan.
            inbox.new.one = {count} notificación nueva
            inbox.new.many = {count} de notificaciones nuevas
            inbox.new.other = {count} notificaciones nuevas
            inbox.skipped.one = Mientras tanto llegó {count} más; vuelva a cargar la página para verla.
            inbox.skipped.many = Mientras tanto llegaron {count} de más; vuelva a cargar la página para verlas.
            inbox.skipped.other = Mientras tanto llegaron {count} más; vuelva a cargar la página para verlas.
            inbox.untitled = (sin texto)
            inbox.state.waiting = En espera
            inbox.state.ended = Terminada
            inbox.state.refused = Rechazada
            """)
}
