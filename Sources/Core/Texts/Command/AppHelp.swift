extension CommandSection {
    /// The help of `app` and `certificate`.
    static let appHelp = CommandSection(
        """
        Print the file by which an app configures Firebase.
        Escribe el archivo con que una aplicación configura Firebase.

        A file whose name ends in .plist is a GoogleService-Info.plist, any other is JSON with the same keys, such \
        as PROGRAM.firebase.json beside the app's program.
        Un archivo cuyo nombre termina en .plist es un GoogleService-Info.plist; cualquier otro es JSON con las \
        mismas claves, como PROGRAM.firebase.json junto al programa de la aplicación.

        The file (default: standard output, as JSON).
        El archivo (por omisión: la salida estándar, como JSON).

        Write the package of a new app, which builds and runs as it is.
        Escribe el paquete de una aplicación nueva, que compila y funciona tal como está.

        The folder NAME gets Package.swift, an entry point, the manifest for the agent and a README with the \
        commands. Without a flag the app has notifications alone.
        La carpeta NAME recibe Package.swift, un punto de entrada, el manifiesto para el agente y un README con las \
        órdenes. Sin opciones la aplicación solo tiene notificaciones.

        The name of package, program and folder: Harbour.
        El nombre del paquete, del programa y de la carpeta: Harbour.

        The bundle id (default: com.example. and the name in lower case).
        El bundle id (por omisión: com.example. y el nombre en minúsculas).

        The team that owns it: ten characters A-Z0-9.
        El equipo al que pertenece: diez caracteres A-Z0-9.

        The folder of Aldaba's source (default: the one above this program, where it is the source's).
        La carpeta del código de Aldaba (por omisión: la que está por encima de este programa, si es la del código).

        Change the settings of an app; others stay as they are.
        Cambia los ajustes de una aplicación; los demás quedan como están.

        It counts from the next request on. What waits already beyond a smaller limit gives way when the next \
        notification comes for it. The topic and the team of an app never change.
        Vale desde la siguiente petición. Lo que ya espera y pasa de un límite menor se quita cuando llega la \
        siguiente notificación para ella. El topic y el equipo de una aplicación no cambian nunca.

        The app's name for people; empty to remove it.
        El nombre de la aplicación para las personas; vacío para quitarlo.

        The capability of push notifications.
        La capacidad de recibir notificaciones push.

        The most queued notifications per device.
        El número máximo de notificaciones en espera por dispositivo.

        The rule at the limit: dropOldest, keepNewest, or clear.
        La regla al llegar al límite: dropOldest, keepNewest o clear.

        Add, list and change the apps of a server, and begin new ones.
        Añade, enumera y cambia las aplicaciones de un servidor, y empieza otras nuevas.

        Add an app to the register.
        Añade una aplicación al registro.

        The app's name for people.
        El nombre de la aplicación para las personas.

        What gives way at the limit: dropOldest, keepNewest, or clear (all of it; the app is told how many).
        Qué se quita al llegar al límite: dropOldest, keepNewest o clear (todo; se dice a la aplicación cuántas).

        List the apps in the register.
        Enumera las aplicaciones del registro.

        Show an app with its capabilities, certificates and the keys that may send to it.
        Muestra una aplicación con sus capacidades, sus certificados y las claves que pueden enviarle.

        The capability: push.
        La capacidad: push.

        Add a capability to an app.
        Añade una capacidad a una aplicación.

        Remove a capability from an app.
        Quita una capacidad a una aplicación.

        Without push, pushes to it are refused with 400 TopicDisallowed from the next request on.
        Sin push, los envíos a ella se rechazan con 400 TopicDisallowed desde la siguiente petición.

        Remove an app from the register.
        Quita una aplicación del registro.

        Its device tokens end, pushes to it are refused with 400 TopicDisallowed from the next request on, and
        Sus tokens de dispositivo dejan de valer, los envíos a ella se rechazan con 400 TopicDisallowed desde la \
        siguiente petición, y

        what waits for it is dropped. The topic stays its team's, which may add it again.
        lo que espera para ella se descarta. El topic sigue siendo de su equipo, que puede volver a añadirla.

        Add a team's own authority: certificates that it signs for the team's apps are accepted.
        Añade la autoridad propia de un equipo: se aceptan los certificados que firma para las aplicaciones del equipo.

        Its certificates say what Apple's do: a UID with the bundle id, and Apple's extensions.
        Sus certificados dicen lo mismo que los de Apple: un UID con el bundle id, y las extensiones de Apple.

        The authority's certificate, PEM or DER.
        El certificado de la autoridad, en PEM o DER.

        The team whose apps its certificates may be for: ten characters A-Z0-9.
        El equipo para cuyas aplicaciones pueden ser sus certificados: diez caracteres A-Z0-9.

        List the authorities that were imported.
        Enumera las autoridades importadas.

        Remove an imported authority: its certificates are refused from the next request on.
        Quita una autoridad importada: sus certificados se rechazan desde la siguiente petición.

        The authority's id, as `list-ca` shows it.
        El identificador de la autoridad, como lo muestra `list-ca`.

        List the certificates in the server's register, also those that were revoked or have ended.
        Enumera los certificados del registro del servidor, también los revocados y los caducados.

        Show a certificate and its state.
        Muestra un certificado y su estado.

        The certificate's id, or a file with a certificate.
        El identificador del certificado, o un archivo con un certificado.

        Write a certificate into a file: .pem for PEM, anything else for DER.
        Escribe un certificado en un archivo: .pem para PEM, cualquier otro para DER.

        The certificate's id.
        El identificador del certificado.

        Revoke a certificate for good: the server refuses it from the next request on.
        Revoca un certificado para siempre: el servidor lo rechaza desde la siguiente petición.

        Connections that were opened with it stay open, and get 403 BadCertificate.
        Las conexiones que se abrieron con él siguen abiertas, y reciben 403 BadCertificate.

        The certificate's id, or a file with it: also one that an imported authority signed.
        El identificador del certificado, o un archivo con él: también uno que firmó una autoridad importada.

        Sign, list and revoke provider certificates, the credential beside provider keys.
        Firma, enumera y revoca certificados de proveedor, la credencial alternativa a las claves de proveedor.

        The days for which the certificate is valid.
        Los días que vale el certificado.

        Another authority's certificate, PEM or DER, with --ca-key; without it the data folder's own.
        El certificado de otra autoridad, en PEM o DER, con --ca-key; sin él, el de la carpeta de datos.

        The private key of the authority, PEM.
        La clave privada de la autoridad, en PEM.

        The file that gets the certificate: .pem for PEM, anything else for DER.
        El archivo que recibe el certificado: .pem para PEM, cualquier otro para DER.

        Sign a certificate for an app, for the key of a certificate signing request.
        Firma un certificado de una aplicación, para la clave de una solicitud de firma de certificado.

        openssl req -new -newkey rsa:2048 -nodes -keyout push.key -out push.csr -subj /CN=push
        openssl req -new -newkey rsa:2048 -nodes -keyout push.key -out push.csr -subj /CN=push

        makes key and request. What the request says beside its key does not count.
        crea la clave y la solicitud. Lo que la solicitud dice además de su clave no cuenta.

        The certificate signing request, PEM or DER.
        La solicitud de firma de certificado, en PEM o DER.

        The app's topic, its bundle id.
        El topic de la aplicación, su bundle id.

        The certificate's environment: sandbox, production or both.
        El entorno del certificado: sandbox, production o both (los dos).

        Calls as well: the topic with .voip.
        También las llamadas: el topic con .voip.

        Complications as well: the topic with .complication.
        También las complicaciones: el topic con .complication.

        Sign a certificate anew: for the same app, environments and topics.
        Firma un certificado de nuevo: para la misma aplicación y los mismos entornos y topics.

        The earlier one counts until it ends or is revoked.
        El anterior vale hasta que caduca o se revoca.

        The certificate's id: ten characters A-Z0-9.
        El identificador del certificado: diez caracteres A-Z0-9.

        A request with another key; without it the new certificate is for the old key.
        Una solicitud con otra clave; sin ella, el certificado nuevo es para la clave anterior.

        Add a certificate that somebody else signed, such as Apple's.
        Añade un certificado que firmó otro, como Apple.

        Its private key stays where it is; who has that key may send to the app from now on.
        Su clave privada se queda donde está; quien la tenga puede enviar a la aplicación desde ahora.

        The certificate, PEM or DER.
        El certificado, en PEM o DER.

        The native part of a cross-platform app, over Flutter's channels.
        La parte nativa de una aplicación multiplataforma, por los canales de Flutter.

        With a service extension, which shows pictures.
        Con una extensión de servicio, que muestra imágenes.

        With FirebaseMessaging and its GoogleService-Info.plist.
        Con FirebaseMessaging y su GoogleService-Info.plist.

        An app service that the person's other devices call.
        Un servicio de la aplicación al que llaman los otros dispositivos de la persona.
        """)
}
