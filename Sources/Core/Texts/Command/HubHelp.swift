extension CommandSection {
    /// The help of `hub`.
    static let hubHelp = CommandSection(
        """
        A file with the campaign's document, or - for standard input; options replace its members.
        Un archivo con el documento de la campaña, o - para la entrada estándar; las opciones sustituyen sus miembros.

        The campaign's name.
        El nombre de la campaña.

        The tag expression of the recipients (default: everybody).
        La expresión de etiquetas de los destinatarios (por omisión: todos).

        The subtitle.
        El subtítulo.

        The body.
        El cuerpo.

        A picture: a file, which is uploaded first, or its https address.
        Una imagen: un archivo, que se sube antes, o su dirección https.

        A movie: a file, which is uploaded first, or its https address.
        Una película: un archivo, que se sube antes, o su dirección https.

        The address that a tap opens.
        La dirección que abre un toque.

        The category, whose buttons the app defines.
        La categoría, cuyos botones define la aplicación.

        The time at which it begins, such as 2030-06-21T09:00:00+02:00.
        La hora a la que empieza, como 2030-06-21T09:00:00+02:00.

        The seconds for which notifications are kept for a device that is away.
        Los segundos que se guardan las notificaciones para un dispositivo ausente.

        Print the server's JSON.
        Escribe el JSON del servidor.

        List the hub's campaigns, the newest first.
        Enumera las campañas del hub, las más nuevas primero.

        Only those in these states, separated by commas, such as Scheduled,Processing.
        Solo las que están en estos estados, separados por comas, como Scheduled,Processing.

        The number of campaigns, 1 to 100000.
        El número de campañas, de 1 a 100000.

        Those after this cursor, as an earlier list tells it.
        Las que siguen a este cursor, como lo dice una lista anterior.

        Show a campaign: its state, times and audience, and how far its notifications came.
        Muestra una campaña: su estado, sus horas y su audiencia, y hasta dónde llegaron sus notificaciones.

        With --json the campaign's object has its report as the member `report`.
        Con --json el objeto de la campaña tiene su informe en el miembro `report`.

        Pause a campaign: nobody new receives it until it is resumed.
        Pausa una campaña: no la recibe nadie más hasta que se reanuda.

        Resume a campaign: those who have not received it do, once.
        Reanuda una campaña: quienes no la han recibido la reciben, una vez.

        End a campaign that is scheduled, running or paused. What was sent stays.
        Termina una campaña programada, en marcha o en pausa. Lo enviado se conserva.

        Take back what a campaign sent: what waits does not come, and devices remove what they show.
        Retira lo que envió una campaña: lo que espera no llega, y los dispositivos quitan lo que muestran.

        The campaign's id.
        El identificador de la campaña.

        Create, try, list and control the campaigns of a hub.
        Crea, prueba, enumera y maneja las campañas de un hub.

        Create a campaign, which begins at once or at --at, and print its id.
        Crea una campaña, que empieza en seguida o a la hora de --at, y escribe su identificador.

        Requests with the same key count once.
        Las peticiones con la misma clave cuentan una vez.

        Print what an installation would receive, and when; nothing is sent.
        Escribe lo que recibiría una instalación, y cuándo; no se envía nada.

        Files of pictures and films are uploaded, so that the payload has their addresses.
        Los archivos de imágenes y películas se suben, para que el payload tenga sus direcciones.

        The id of the installation.
        El identificador de la instalación.

        Send a campaign to test devices at once; it is in no count.
        Envía una campaña en seguida a dispositivos de prueba; no cuenta en ningún informe.

        The id of an installation; repeatable (default: those with the tag test-device).
        El identificador de una instalación; se puede repetir (por omisión: las que tienen la etiqueta test-device).

        Make notification hubs, their keys and credentials, list installations, and send campaigns.
        Crea hubs de notificaciones, sus claves y credenciales, enumera instalaciones y envía campañas.

        Make a hub for an app, with its first two keys.
        Crea un hub para una aplicación, con sus dos primeras claves.

        The hub's name: letters, digits, - _ and .
        El nombre del hub: letras, cifras, - _ y .

        The topic of its app, which the register has.
        El topic de su aplicación, que está en el registro.

        Take expressions of Azure's size alone: 20 tags with ||, 6 otherwise.
        Admite solo expresiones del tamaño de Azure: 20 etiquetas con ||, 6 en los demás casos.

        List the hubs.
        Enumera los hubs.

        Make, list and revoke the keys of a hub.
        Crea, enumera y revoca las claves de un hub.

        Make a key, in place of one of its name.
        Crea una clave, en lugar de la que tenga ese nombre.

        A key for backends, or of the hub's own API, is shown once; the server keeps its hash alone.
        Una clave para backends, o de la API propia del hub, se muestra una sola vez; el servidor guarda solo su hash.

        The key's name.
        El nombre de la clave.

        The rights: Listen, Send, Manage and, for the own API, Report, separated by commas.
        Los derechos: Listen, Send, Manage y, para la API propia, Report, separados por comas.

        Make a key of the hub's own API, /v1/hubs: a bearer token.
        Crea una clave de la API propia del hub, /v1/hubs: un token bearer.

        The days for which a key of the own API is valid (default: for ever).
        Los días que vale una clave de la API propia (por omisión: para siempre).

        Make a key for the backend under /api/notifications, which has no rights to choose.
        Crea una clave para el backend de /api/notifications, que no tiene derechos que elegir.

        List a hub's keys, without their texts.
        Enumera las claves de un hub, sin sus textos.

        Revoke a key: the server refuses it from the next request on.
        Revoca una clave: el servidor la rechaza desde la siguiente petición.

        List and import the installations of a hub.
        Enumera e importa las instalaciones de un hub.

        List a hub's installations, the oldest first.
        Enumera las instalaciones de un hub, las más antiguas primero.

        Only those whose channel is dead.
        Solo aquellas cuyo canal ya no sirve.

        Print a JSON object for each, on a line of its own.
        Escribe un objeto JSON por cada una, en su propia línea.

        Set the credentials with which a hub sends to Apple, FCM and browsers.
        Pone las credenciales con que un hub envía a Apple, a FCM y a navegadores.

        Set a hub's credential for a push service and environment.
        Pone la credencial de un hub para un servicio de notificaciones y un entorno.

        A running server uses it from the next send on. Kinds:
        Un servidor en marcha la usa desde el siguiente envío. Clases:

        Apple's, with --key AuthKey_KEYID.p8 and --team
        las de Apple, con --key AuthKey_KEYID.p8 y --team

        Apple's, with --key FILE: certificate, chain and private key in PEM
        las de Apple, con --key FILE: certificado, cadena y clave privada en PEM

        FCM's HTTP v1, with --key SERVICE-ACCOUNT.json
        HTTP v1 de FCM, con --key SERVICE-ACCOUNT.json

        Web Push, with --subject, and --key where there is a VAPID key already; else one is made, and its public \
        half, which browsers subscribe with, is printed. Another VAPID key takes the place of the one that is there \
        with --replace alone: browsers that subscribed with that one are not reached any more
        Web Push, con --subject, y con --key si ya hay una clave VAPID; si no, se crea una, y se escribe su mitad \
        pública, con la que se suscriben los navegadores. Otra clave VAPID solo ocupa el lugar de la que hay con \
        --replace: los navegadores que se suscribieron con aquella dejan de recibir

        The kind: apns, apns-certificate, fcm, webpush.
        La clase: apns, apns-certificate, fcm, webpush.

        The file of the key.
        El archivo de la clave.

        The id of Apple's key (default: the one in the name AuthKey_KEYID.p8).
        El identificador de la clave de Apple (por omisión: el del nombre AuthKey_KEYID.p8).

        The team that Apple's key is of (default: that of the hub's app).
        El equipo del que es la clave de Apple (por omisión: el de la aplicación del hub).

        The environment of Apple's that it is for: production, sandbox.
        El entorno de Apple para el que es: production, sandbox.

        Whom Web Push services may turn to: mailto:ADDRESS or https://HOST.
        A quién pueden dirigirse los servicios de Web Push: mailto:ADDRESS o https://HOST.

        The push service's address, when it is not Apple's or Google's: https://host.
        La dirección del servicio de notificaciones, cuando no es la de Apple o la de Google: https://host.

        A file of certificates in PEM that are trusted instead of the system's.
        Un archivo de certificados en PEM en los que se confía en lugar de los del sistema.

        Put another VAPID key in place of the one that is there: its browsers' subscriptions are lost.
        Pone otra clave VAPID en lugar de la que hay: las suscripciones de sus navegadores se pierden.

        List a hub's credentials, without their secrets, and those that expire soon.
        Enumera las credenciales de un hub, sin sus secretos, y las que caducan pronto.

        Remove a credential: nothing more is sent with it.
        Quita una credencial: no se envía nada más con ella.

        The credential's number, as it is listed.
        El número de la credencial, como aparece en la lista.

        Import installations from a file: JSON Lines, one installation a line.
        Importa instalaciones de un archivo: JSON Lines, una instalación por línea.

        Lines that are no installations are told and left out; the others are put. The server may be running. Doing \
        it again changes nothing but the entity tags.
        Las líneas que no son instalaciones se nombran y se omiten; las demás se guardan. El servidor puede estar en \
        marcha. Repetirlo solo cambia las etiquetas de entidad.

        The file; - for the standard input.
        El archivo; - para la entrada estándar.

        Show or set a hub's quotas.
        Muestra o pone los cupos de un hub.

        A key that may put installations is in every copy of an app, so that anybody may put any number. A running \
        server refuses what would pass a quota from the next request on; what is there stays, and can be replaced \
        and deleted.
        Una clave que puede guardar instalaciones está en cada copia de una aplicación, de modo que cualquiera puede \
        guardar las que quiera. Un servidor en marcha rechaza lo que pase de un cupo desde la siguiente petición; lo \
        que hay se conserva, y se puede sustituir y borrar.

        Installations that it holds at most; their documents may take 1 KiB each on the average.
        Las instalaciones que tiene como máximo; sus documentos pueden ocupar 1 KiB cada uno por término medio.

        Distinct tags of its installations at most; each takes some 300 bytes of memory.
        Las etiquetas distintas de sus instalaciones, como máximo; cada una ocupa unos 300 bytes de memoria.

        Writes in a second by one key that only listens, after a burst of half a minute's worth.
        Las escrituras por segundo de una clave que solo escucha, tras una ráfaga de las de medio minuto.

        Show or set the members of payloads in which the app's service extension finds a campaign's picture.
        Muestra o pone los miembros del payload en que la extensión de servicio de la aplicación encuentra la imagen \
        de una campaña.

        Keys: attachment-url (AldabaRichPush), ab.att (Braze), fcm_options.image (Firebase), att (OneSignal). \
        Without a choice a payload has all that fit. A campaign's content may choose others by its member pictureKeys.
        Claves: attachment-url (AldabaRichPush), ab.att (Braze), fcm_options.image (Firebase), att (OneSignal). Si \
        no se eligen, un payload tiene todas las que caben. El contenido de una campaña puede elegir otras con su \
        miembro pictureKeys.

        The keys, separated by commas; all for those that fit.
        Las claves, separadas por comas; all para las que caben.
        """)
}
