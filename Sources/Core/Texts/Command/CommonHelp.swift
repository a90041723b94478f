extension CommandSection {
    /// The help that several commands share.
    static let commonHelp = CommandSection(
        """
        Print a JSON array.
        Escribe una lista JSON.

        EXAMPLES:
        EJEMPLOS:

        Print a JSON object.
        Escribe un objeto JSON.

        Print one JSON array.
        Escribe una sola lista JSON.

        Print one JSON object.
        Escribe un solo objeto JSON.

        The authority of the server's certificate, PEM; without it the data folder's.
        La autoridad del certificado del servidor, en PEM; sin ella, la de la carpeta de datos.

        Only those of one app.
        Solo las de una aplicación.

        The hub's name.
        El nombre del hub.

        The app's topic, its bundle id: com.example.app.
        El topic de la aplicación, su bundle id: com.example.app.

        The file.
        El archivo.

        The key's id: ten characters A-Z0-9.
        El identificador de la clave: diez caracteres A-Z0-9.

        Print JSON objects, one a line.
        Escribe objetos JSON, uno por línea.

        The device's id or name; of several of one name the only one online.
        El identificador o el nombre del dispositivo; si varios tienen el mismo nombre, el único que esté en línea.

        The agent's socket (default: ALDABA_AGENT_SOCKET, else the data folder's, else the session's).
        El socket del agente (por omisión: ALDABA_AGENT_SOCKET; si no, el de la carpeta de datos; si no, el de la \
        sesión).

        The configuration file (default: aldaba.yaml in the current folder, if there).
        El archivo de configuración (por omisión: aldaba.yaml en la carpeta actual, si está).

        The data folder (default: ALDABA_DATA, else $XDG_STATE_HOME/aldaba).
        La carpeta de datos (por omisión: ALDABA_DATA; si no, $XDG_STATE_HOME/aldaba).
        """)

    /// The help of `aldaba`, `up`, `run`, `serve` and `center`.
    static let rootHelp = CommandSection(
        """
        Run APNs and FCM on your own machine.
        APNs y FCM en su propia máquina.

        Exit codes: 0 done, 1 failed, 2 usage, 3 invalid input, 4 not authorised, 5 partly done, 6 unreachable, 7 \
        timed out waiting, 8 a database is missing, empty or damaged.
        Códigos de salida: 0 hecho, 1 fallido, 2 uso incorrecto, 3 datos no válidos, 4 sin autorización, 5 hecho en \
        parte, 6 inaccesible, 7 tiempo de espera agotado, 8 falta una base de datos, o está vacía o dañada.

        everything on this machine, with a demo app
        todo en esta máquina, con una aplicación de muestra

        how far a notification came
        hasta dónde llegó una notificación

        a notification from a script
        una notificación desde un script

        notifications and settings in the browser
        notificaciones y ajustes en el navegador

        what is missing on this machine
        qué falta en esta máquina

        Run a server, an agent and a demo app on this machine.
        Ejecuta un servidor, un agente y una aplicación de muestra en esta máquina.

        Server and devices are for development: their device tokens are those of the sandbox, unless --environment \
        names another, and plain http on loopback needs no token.
        El servidor y los dispositivos son para desarrollar: sus tokens de dispositivo son los de pruebas (sandbox), \
        salvo que --environment nombre otro entorno, y http sin TLS en loopback no necesita token.

        everything, with its data kept in the data folder
        todo, con los datos guardados en la carpeta de datos

        for a test: free ports, a temporary folder, one line of JSON
        para una prueba: puertos libres, una carpeta temporal, una línea de JSON

        two devices of one person, for the relay
        dos dispositivos de una persona, para el relé

        three servers on PostgreSQL and NATS, which are on this machine
        tres servidores con PostgreSQL y NATS en esta máquina

        The number of servers to run, 1 to 9; more than one use PostgreSQL and NATS, which are started too.
        El número de servidores, de 1 a 9; si es más de uno usan PostgreSQL y NATS, que también se arrancan.

        Show the servers that use one PostgreSQL database.
        Muestra los servidores que usan una misma base de datos PostgreSQL.

        Show each server: whether it runs, its devices, its version.
        Muestra cada servidor: si está en marcha, sus dispositivos, su versión.

        A server counts as running for five seconds after its last sign of life in the database.
        Un servidor cuenta como en marcha durante cinco segundos tras su última señal de vida en la base de datos.

        Take free ports and a temporary folder that is removed at the end.
        Usa puertos libres y una carpeta temporal, que se borra al final.

        Print one line of JSON on standard output when everything is ready, and nothing else.
        Escribe por la salida estándar una línea de JSON cuando todo está listo, y nada más.

        Do not print a line for each notification that a device gets.
        No escribe una línea por cada notificación que recibe un dispositivo.

        Do not start the demo app; the agent starts it when it is needed.
        No arranca la aplicación de muestra; la arranca el agente cuando hace falta.

        The number of devices to run, 1 to 8; the demo app runs on the first.
        El número de dispositivos en marcha, de 1 a 8; la aplicación de muestra está en el primero.

        Run a test or a program whose pushes come here instead of Apple and Google.
        Ejecuta una prueba o un programa cuyas notificaciones llegan aquí en lugar de a Apple y Google.

        The command runs in a network of its own, in which fcm.googleapis.com, api.push.apple.com and the other \
        hosts of FCM and APNs are a server of this command's, with a certificate that the usual variables \
        (SSL_CERT_FILE, REQUESTS_CA_BUNDLE, NODE_EXTRA_CA_CERTS and others) have it trust. No other host can be \
        reached, unless --allow-network is given. Any key, service account, app and token is accepted. What arrives \
        is printed on standard error; the exit code is the command's. Nothing is left behind.
        La orden se ejecuta en una red propia, en la que fcm.googleapis.com, api.push.apple.com y los demás \
        servidores de FCM y APNs son un servidor de esta orden, con un certificado en el que confía por las \
        variables habituales (SSL_CERT_FILE, REQUESTS_CA_BUNDLE, NODE_EXTRA_CA_CERTS y otras). No alcanza ningún \
        otro servidor, salvo con --allow-network. Se acepta cualquier clave, cuenta de servicio, aplicación y token. \
        Lo que llega se escribe por la salida de errores; el código de salida es el de la orden. No queda nada después.

        for a program whose hosts can be set, without namespaces
        para un programa cuyos servidores se pueden configurar, sin espacios de nombres

        Treat connections to APNs as Apple does: one stream until a request is accepted and after each error, no new \
        provider token within 20 minutes, and an end after many errors.
        Trata las conexiones a APNs como Apple: un stream hasta que se acepta una petición y después de cada error, ningún \
        token de proveedor nuevo en 20 minutos, y el fin tras muchos errores.

        Do not print a line for each notification that arrives.
        No escribe una línea por cada notificación que llega.

        Use no namespaces: the server listens on free ports of this machine, which ALDABA_APNS, ALDABA_FCM and \
        ALDABA_HTTP name for the command.
        No usa espacios de nombres: el servidor escucha en puertos libres de esta máquina, que ALDABA_APNS, \
        ALDABA_FCM y ALDABA_HTTP nombran para la orden.

        A further host that is to be this server, such as a hub's: NAME.servicebus.windows.net.
        Otro nombre que debe ser este servidor, como el de un hub: NAME.servicebus.windows.net.

        Let the command reach other hosts too, by the program slirp4netns; ports of this machine's 127.0.0.1 are at \
        10.0.2.2.
        Permite que la orden alcance también otros servidores, con el programa slirp4netns; los puertos de 127.0.0.1 \
        de esta máquina están en 10.0.2.2.

        The command and its arguments, after --.
        La orden y sus argumentos, después de --.

        Begin a database anew that the data folder has lost: server, hub or relay. One that has its file stays.
        Empieza de nuevo una base de datos que la carpeta de datos ha perdido: server, hub o relay. La que tiene su \
        archivo se conserva.

        Run the server.
        Ejecuta el servidor.

        Print one line of JSON with the addresses on standard output when ready.
        Escribe por la salida estándar una línea de JSON con las direcciones cuando está listo.

        Show notifications and settings in the browser.
        Muestra notificaciones y ajustes en el navegador.

        It prints the address of the pages, opens it in the browser, and serves the pages until it is ended by \
        Ctrl-C. They list, open, answer and dismiss the notifications of all apps, and change what each app may do. \
        The address works on this machine only and contains a token of this run: whoever has it can do all that.
        Escribe la dirección de las páginas, la abre en el navegador y sirve las páginas hasta que se termina con \
        Ctrl-C. Las páginas enumeran, abren, responden y descartan las notificaciones de todas las aplicaciones, y \
        cambian lo que puede hacer cada una. La dirección solo funciona en esta máquina y contiene un token de esta \
        ejecución: quien la tenga puede hacer todo eso.

        in the browser
        en el navegador

        prints the address only
        escribe solo la dirección

        Only print the address.
        Solo escribe la dirección.
        """)
}
