extension CatalogueSection {
    /// The texts of the page of the relay's accounts.
    static let relay = CatalogueSection(
        english: """
            relay.intro = The devices of one person reach each other by this server. It cannot read what they send each other, and this page does not show their names and apps. An account is named by the beginning of its hash.
            relay.none = No device uses the relay.
            relay.account = Account
            relay.device = Device
            relay.kind = Kind
            relay.presence = Presence
            relay.presence.online = connected
            relay.presence.wakeable = away; {service} can wake it
            relay.presence.offline = away
            relay.seen = Last change of that
            relay.apps = Apps
            relay.messages = Messages waiting
            relay.documents.one = {count} sealed document, {size} KiB
            relay.documents.other = {count} sealed documents, {size} KiB
            """,
        spanish: """
            relay.intro = Los dispositivos de una persona se comunican a través de este servidor. Él no puede leer lo que se envían, y esta página no muestra sus nombres ni sus aplicaciones. Una cuenta se nombra por el principio de su hash.
            relay.none = Ningún dispositivo usa el relé.
            relay.account = Cuenta
            relay.device = Dispositivo
            relay.kind = Tipo
            relay.presence = Presencia
            relay.presence.online = conectado
            relay.presence.wakeable = ausente; {service} puede despertarlo
            relay.presence.offline = ausente
            relay.seen = Último cambio
            relay.apps = Aplicaciones
            relay.messages = Mensajes en espera
            relay.documents.one = {count} documento sellado, {size} KiB
            relay.documents.many = {count} documentos sellados, {size} KiB
            relay.documents.other = {count} documentos sellados, {size} KiB
            """)
}
