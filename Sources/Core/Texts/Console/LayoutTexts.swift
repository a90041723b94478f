extension CatalogueSection {
    /// The texts that every page of the console has.
    static let layout = CatalogueSection(
        english: """
            layout.product = Aldaba
            layout.skip = Skip to the content
            layout.navigation = Pages
            layout.compose = Compose
            layout.inbox = Inbox
            layout.campaigns = Campaigns
            layout.reports = Reports
            layout.installations = Installations
            layout.devices = Devices
            layout.health = Health
            layout.relay = Relay
            layout.account = Account
            layout.language = Language
            layout.zone = Times are in {zone}.
            layout.request = The same request
            layout.request.curl = With curl
            layout.request.command = With the command
            layout.copy = Copy
            layout.copied = Copied.
            layout.newer = Newest
            layout.older = Older
            layout.back = Back
            layout.none = none
            layout.error.title = That did not work
            layout.error.back = Back to the inbox
            layout.error.none = There is no page at this address.
            layout.done = Done.
            """,
        spanish: """
            layout.product = Aldaba
            layout.skip = Ir al contenido
            layout.navigation = Páginas
            layout.compose = Redactar
            layout.inbox = Entradas
            layout.campaigns = Campañas
            layout.reports = Informes
            layout.installations = Instalaciones
            layout.devices = Dispositivos
            layout.health = Estado
            layout.relay = Relé
            layout.account = Cuenta
            layout.language = Idioma
            layout.zone = Las horas están en {zone}.
            layout.request = La misma petición
            layout.request.curl = Con curl
            layout.request.command = Con la orden
            layout.copy = Copiar
            layout.copied = Copiado.
            layout.newer = Más recientes
            layout.older = Anteriores
            layout.back = Volver
            layout.none = ninguno
            layout.error.title = No ha funcionado
            layout.error.back = Volver a las entradas
            layout.error.none = No hay ninguna página en esta dirección.
            layout.done = Hecho.
            """)
}
