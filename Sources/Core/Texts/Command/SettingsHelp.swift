extension CommandSection {
    /// The help of the settings of server and agent.
    static let settingsHelp = CommandSection(
        """
        The data folder; without it $XDG_STATE_HOME/aldaba, else ~/.local/state/aldaba.
        La carpeta de datos; sin ella, $XDG_STATE_HOME/aldaba; si no, ~/.local/state/aldaba.

        The least important level that is logged to standard error.
        El nivel menos importante que se anota por la salida de errores.

        The form of the log's lines: text for people, or one JSON object a line for programs.
        La forma de las líneas del registro: text para personas, o json, un objeto por línea para programas.

        The APNs provider API: https, HTTP/2.
        La API de proveedores de APNs: https, HTTP/2.

        The device channel: MCS over TLS.
        El canal de dispositivos: MCS por TLS.

        Enrolment and timelines: https.
        Altas y cronologías: https.

        The same as control-port without TLS, on loopback; only with development.
        Lo mismo que control-port sin TLS, en loopback; solo con development.

        Metrics, health and readiness: http on metrics-host.
        Métricas, salud y disponibilidad: http en metrics-host.

        The names by which providers and apps reach control-port, with a port where it is another than control-port \
        and 443; what FCM's, Web Push's and the hub's credentials say that they are meant for must be one of them. \
        Without it those of the certificate. This machine's own and that of media-url count as well.
        Los nombres con que los proveedores y las aplicaciones llegan a control-port, con un puerto si es otro que \
        control-port y 443; el destinatario que dicen las credenciales de FCM, de Web Push y del hub debe ser uno de \
        ellos. Sin ellos, los del certificado. También cuentan el de esta máquina y el de media-url.

        The address that metrics-port binds; whoever reaches it reads without a credential how many devices and \
        notifications there are.
        La dirección en la que escucha metrics-port; quien la alcanza lee sin credencial cuántos dispositivos y \
        notificaciones hay.

        Apple's old binary interface, with client certificates; Apple's port was 2195. Without it nothing listens.
        La antigua interfaz binaria de Apple, con certificados de cliente; el puerto de Apple era 2195. Sin él no \
        escucha nada.

        Its feedback service; Apple's port was 2196. Without it nothing listens.
        Su servicio de respuesta (feedback); el puerto de Apple era 2196. Sin él no escucha nada.

        One port for TLS clients that find the server under Apple's and Google's names: a connection for a name of \
        Apple's goes to apns-port, any other to control-port. Without it nothing listens.
        Un solo puerto para clientes de TLS que encuentran el servidor por los nombres de Apple y Google: una \
        conexión para un nombre de Apple va a apns-port, cualquier otra a control-port. Sin él no escucha nada.

        Whether connections to apns-port have Apple's limits: one stream until a request is accepted and after each error, \
        no new provider token within 20 minutes, and an end after many errors.
        Si las conexiones a apns-port tienen los límites de Apple: un stream hasta que se acepta una petición y después \
        de cada error, ningún token de proveedor nuevo en 20 minutos, y el fin tras muchos errores.

        How many connections one address may have on each TLS listener; an IPv6 /64 counts as one.
        Cuántas conexiones puede tener una dirección en cada puerto de TLS; un /64 de IPv6 cuenta como una.

        How many devices may log in within a second, after a burst of ten times as many; the others are told when to \
        come again, before TLS where they can be. The default suits two processors.
        Cuántos dispositivos pueden iniciar sesión en un segundo, tras una ráfaga de diez veces más; a los demás se \
        les dice cuándo volver, antes de TLS si se puede. El valor por omisión es adecuado para dos procesadores.

        Addresses behind which are many, which connections-per-address does not bound.
        Direcciones tras las que hay muchos clientes, a las que connections-per-address no limita.

        The address that the TLS listeners bind, an IP address; 0.0.0.0 for all of IPv4.
        La dirección IP en la que escuchan los puertos de TLS; 0.0.0.0 para todas las de IPv4.

        The server's certificate chain, PEM; without it certificates/server.pem in the data folder. Read again \
        within half a minute of a change, and at once on SIGHUP.
        La cadena de certificados del servidor, en PEM; sin ella, certificates/server.pem en la carpeta de datos. Se \
        vuelve a leer en menos de medio minuto tras un cambio, y en seguida con SIGHUP.

        The certificate's private key, PEM; without it certificates/server-key.pem in the data folder.
        La clave privada del certificado, en PEM; sin ella, certificates/server-key.pem en la carpeta de datos.

        Which device tokens the APNs listener takes, and which the agent asks for.
        Qué tokens de dispositivo admite el puerto de APNs, y cuáles pide el agente.

        Loopback development: plain http on loopback without tokens, and open enrolment.
        Desarrollo en loopback: http sin TLS ni tokens en loopback, y altas abiertas.

        Whether unknown provider keys, service accounts, projects and apps are accepted as they come, with their \
        signatures unchecked; for tests, only with development.
        Si se aceptan tal como llegan las claves de proveedor, las cuentas de servicio, los proyectos y las \
        aplicaciones desconocidos, sin comprobar sus firmas; para pruebas, solo con development.

        Whether an unknown device token is that of a new device, which acknowledges what it gets; for tests, only \
        with development.
        Si un token de dispositivo desconocido es el de un dispositivo nuevo, que acusa lo que recibe; para pruebas, \
        solo con development.

        Whether development goes with a host beyond loopback, and http-port binds host too; for a container in a \
        network of a test's own.
        Si development vale con un host fuera de loopback, y http-port escucha también en host; para un contenedor \
        en la red propia de una prueba.

        The address of a PostgreSQL database that has what server.sqlite, hub.sqlite and relay.sqlite have otherwise: \
        postgresql://USER@HOST/DATABASE. A password belongs in the file that PGPASSFILE names.
        La dirección de una base de datos PostgreSQL que tiene lo que si no tendrían server.sqlite, hub.sqlite y relay.sqlite: \
        postgresql://USUARIO@HOST/BASE. Una contraseña va en el archivo que indica PGPASSFILE.

        The addresses of NATS servers, for several servers that use one PostgreSQL database: nats://HOST:4222 or \
        tls://HOST:4222, separated by commas.
        Las direcciones de servidores NATS, para varios servidores que usan una misma base de datos PostgreSQL: \
        nats://HOST:4222 o tls://HOST:4222, separadas por comas.

        Whether a new device may enrol without the enrolment key.
        Si un dispositivo nuevo puede darse de alta sin la clave de alta.

        The hub by whose credentials phones are woken for relaying; without it none are.
        El hub con cuyas credenciales se despiertan teléfonos para el relé; sin él, ninguno.

        How many messages a project may send in a minute by FCM's API.
        Cuántos mensajes puede enviar un proyecto en un minuto por la API de FCM.

        How many messages one device may be sent in a minute by FCM's API. FCM itself has 240; with it come its \
        limits for an hour and for collapse keys. 0 for no such limit.
        Cuántos mensajes se pueden enviar a un dispositivo en un minuto por la API de FCM. FCM tiene 240; con él \
        rigen sus límites por hora y para claves de agrupación (collapse keys). 0 para que no haya ese límite.

        Whether FCM's legacy HTTP API is offered, which Google ended in 2024: POST /fcm/send with keys of `aldaba \
        service-account server-key`.
        Si se ofrece la API HTTP antigua de FCM, que Google retiró en 2024: POST /fcm/send con claves de `aldaba \
        service-account server-key`.

        How many requests of a project may add or remove topic subscriptions in a second.
        Cuántas peticiones de un proyecto pueden añadir o quitar suscripciones a temas en un segundo.

        Private addresses to which webhooks and the hub's pushes may be sent, also by plain http; without it none. \
        With development this machine's own are among them.
        Direcciones privadas a las que se pueden enviar los webhooks y las notificaciones del hub, también por http \
        sin TLS; sin ellas, ninguna. Con development están entre ellas las de esta máquina.

        From how many of this server's own devices on, that get the same payload of a hub's send, they are handed \
        over as one. Each time every connected device is looked at.
        A partir de cuántos dispositivos propios de este servidor que reciben el mismo payload de un envío de un hub \
        se entregan como uno solo. Cada vez se miran todos los dispositivos conectados.

        A file with the enrolment key in one line, of this user or of root.
        Un archivo con la clave de alta en una línea, de este usuario o de root.

        The key that a new device shows to enrol; in a flag every user of the machine can read it.
        La clave que presenta un dispositivo nuevo para darse de alta; en una opción la puede leer cualquier usuario \
        de la máquina.

        The address by which devices reach control-port, for the files of notifications and the subscriptions of \
        browsers; without it host and control-port.
        La dirección con que los dispositivos llegan a control-port, para los archivos de las notificaciones y las \
        suscripciones de los navegadores; sin ella, host y control-port.

        How many MiB the files of notifications may take in all.
        Cuántos MiB pueden ocupar en total los archivos de las notificaciones.

        How many MiB of media-quota the files of one team may take; without it half, so that no team takes what \
        others need.
        Cuántos MiB de media-quota pueden ocupar los archivos de un equipo; sin él, la mitad, para que ningún equipo \
        ocupe lo que necesitan otros.

        For how many hours a notification's file is kept after it was last uploaded.
        Cuántas horas se guarda el archivo de una notificación desde la última vez que se subió.

        The address of a bucket of an S3-compatible object store that has the files of several servers too: \
        https://HOST/BUCKET or https://BUCKET.HOST.
        La dirección de un bucket de un almacén de objetos compatible con S3 que tiene también los archivos de varios \
        servidores: https://HOST/BUCKET o https://BUCKET.HOST.

        The region for which requests to media-bucket are signed.
        La región para la que se firman las peticiones a media-bucket.

        A file with the access key of media-bucket, of this user or of root: aws_access_key_id = ID and \
        aws_secret_access_key = SECRET. It is read for each request.
        Un archivo con la clave de acceso de media-bucket, de este usuario o de root: aws_access_key_id = ID y \
        aws_secret_access_key = SECRETO. Se lee para cada petición.

        The server's device channel; without it the server whose addresses stand in the data folder.
        El canal de dispositivos del servidor; sin él, el servidor cuyas direcciones están en la carpeta de datos.

        The address of the server's control API; without it as agent-server.
        La dirección de la API de control del servidor; sin ella, la de agent-server.

        The certificates the agent trusts, PEM; without it certificates/ca.pem in the data folder where there is \
        one, else the system's.
        Los certificados en los que confía el agente, en PEM; sin ellos, certificates/ca.pem en la carpeta de datos, \
        si está; si no, los del sistema.

        The socket that apps connect to; without it $XDG_RUNTIME_DIR/aldaba/agent.sock, else in the data folder.
        El socket al que se conectan las aplicaciones; sin él, $XDG_RUNTIME_DIR/aldaba/agent.sock; si no, en la \
        carpeta de datos.

        How notifications are shown: auto takes the desktop when there is a session bus.
        Cómo se muestran las notificaciones: auto usa el escritorio si hay un bus de sesión.

        A program that is run for each notification where there is no screen, with a JSON object on its standard input.
        Un programa que se ejecuta por cada notificación donde no hay pantalla, con un objeto JSON en su entrada \
        estándar.

        Who tells where this machine is, for notifications that wait for a place.
        Quién dice dónde está esta máquina, para las notificaciones que esperan a un lugar.

        Private addresses from which pictures of notifications may be fetched; without it none.
        Direcciones privadas de las que se pueden tomar las imágenes de las notificaciones; sin ellas, ninguna.

        Connect directly with your other devices in the same private network: announced by Avahi, on a free TCP port.
        Se conecta directamente con sus otros dispositivos de la misma red privada: anunciado por Avahi, en un \
        puerto TCP libre.

        The agent's own metrics: http on loopback. Without it nothing listens, and the agent at rest never wakes.
        Las métricas del agente: http en loopback. Sin él no escucha nada, y el agente en reposo no se despierta nunca.

        Milliseconds before the agent's first attempt to reconnect; later ones double.
        Los milisegundos antes del primer intento del agente de reconectarse; los siguientes se duplican.

        Each setting may also stand in an environment variable (ALDABA_APNS_PORT for --apns-port), or without its \
        dashes in aldaba.yaml.
        Cada ajuste puede estar también en una variable de entorno (ALDABA_APNS_PORT para --apns-port), o sin \
        guiones en aldaba.yaml.

        {what} Each setting may also stand in an environment variable (ALDABA_APNS_PORT for --apns-port), or without \
        its dashes in aldaba.yaml.
        {what} Cada ajuste puede estar también en una variable de entorno (ALDABA_APNS_PORT para --apns-port), o sin \
        guiones en aldaba.yaml.

        Who sees in the console what notifications say: everybody who logs in, or from which role on.
        Quién ve en la consola qué dicen las notificaciones: todos los que inician sesión, o a partir de qué función.

        The address of an OpenID provider by which people may log in to the console, as its configuration has it as \
        issuer; https. Without it people log in by password alone.
        La dirección de un proveedor de OpenID con que las personas pueden iniciar sesión en la consola, como la da \
        su configuración en issuer; https. Sin ella, las personas inician sesión solo con contraseña.

        The id that the provider of console-oidc-issuer gave to the console; its redirect address is \
        https://NAME/console/login/callback.
        El identificador que el proveedor de console-oidc-issuer dio a la consola; su dirección de vuelta es \
        https://NAME/console/login/callback.

        A file with the secret that belongs to console-oidc-client-id in one line, of this user or of root; without \
        it the console is a public client, which PKCE protects.
        Un archivo con el secreto de console-oidc-client-id en una línea, de este usuario o de root; sin él, la \
        consola es un cliente público, que protege PKCE.
        """)
}
