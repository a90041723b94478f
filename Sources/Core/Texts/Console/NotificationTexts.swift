extension CatalogueSection {
    /// The texts of the page of one notification.
    static let notification = CatalogueSection(
        english: """
            notification.title = Notification
            notification.timeline = Timeline
            notification.why = What became of it
            notification.advice = What to do
            notification.state = State
            notification.at = At
            notification.took = After
            notification.source = Who says so
            notification.note = Note
            notification.payload = Payload
            notification.payload.fault = Line {line}, column {column}: {what}
            notification.encrypted = The payload is encrypted to the app on the device; the server and the console cannot read it.
            notification.request = The provider's request
            notification.answer = The answer
            notification.kept = The fields that the server keeps with the notification; its payload is above. A development server also keeps the request itself.
            notification.headers = Header fields
            notification.app = App
            notification.device = Device
            notification.team = Team
            notification.environment = Environment
            notification.id = Id
            notification.apnsid = apns-id
            notification.withdraw = Withdraw
            notification.resend = Send again
            notification.withdrawn = The notification was withdrawn.
            notification.asked = The device was asked to remove it from its screen.
            notification.ended = Nothing was left to withdraw.
            notification.resend.impossible = This notification cannot be sent again: its payload was forgotten, or it came by FCM.
            notification.forgotten = The server does not remember the request.
            notification.source.server = the server
            notification.source.agent = the device's agent
            notification.source.app = the app
            notification.source.desktop = the desktop, or the person at it
            notification.apple = Apple's console says
            notification.none = There is no notification with this id.
            """,
        spanish: """
            notification.title = Notificación
            notification.timeline = Recorrido
            notification.why = Qué fue de ella
            notification.advice = Qué hacer
            notification.state = Estado
            notification.at = A las
            notification.took = Tras
            notification.source = Quién lo dice
            notification.note = Nota
            notification.payload = Contenido
            notification.payload.fault = Línea {line}, columna {column}: {what}
            notification.encrypted = El contenido está cifrado para la aplicación del dispositivo; ni el servidor ni la consola pueden leerlo.
            notification.request = La petición del proveedor
            notification.answer = La respuesta
            notification.kept = Los campos que el servidor guarda con la notificación; su contenido está más arriba. Un servidor de desarrollo guarda también la petición misma.
            notification.headers = Campos de cabecera
            notification.app = Aplicación
            notification.device = Dispositivo
            notification.team = Equipo
            notification.environment = Entorno
            notification.id = Id
            notification.apnsid = apns-id
            notification.withdraw = Retirar
            notification.resend = Enviar de nuevo
            notification.withdrawn = La notificación se ha retirado.
            notification.asked = Se ha pedido al dispositivo que la quite de la pantalla.
            notification.ended = No quedaba nada que retirar.
            notification.resend.impossible = Esta notificación no se puede enviar de nuevo: su contenido se olvidó, o llegó por FCM.
            notification.forgotten = El servidor no recuerda la petición.
            notification.source.server = el servidor
            notification.source.agent = el agente del dispositivo
            notification.source.app = la aplicación
            notification.source.desktop = el escritorio, o la persona que lo usa
            notification.apple = La consola de Apple dice
            notification.none = No hay ninguna notificación con este id.
            """)
}
