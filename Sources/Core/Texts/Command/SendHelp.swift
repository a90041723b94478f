extension CommandSection {
    /// The help of `send`, and of `clock`, `fault` and `received`.
    static let sendHelp = CommandSection(
        """
        apns-priority: 10, 5 or 1.
        apns-priority: 10, 5 o 1.

        apns-push-type; a suffix that it asks for is added to the topic.
        apns-push-type; el sufijo que pida se añade al topic.

        apns-expiration: seconds since 1970, or 0 for one attempt.
        apns-expiration: segundos desde 1970, o 0 para un solo intento.

        apns-collapse-id.
        apns-collapse-id.

        apns-id, a UUID.
        apns-id, un UUID.

        Send a notification to one device or to many.
        Envía una notificación a un dispositivo o a muchos.

        to many devices
        a muchos dispositivos

        Send to the devices of a file: CSV with a column token, or JSON Lines with a member token. A column's name in \
        braces, such as {name}, is replaced in the payload.
        Envía a los dispositivos de un archivo: CSV con una columna token, o JSON Lines con un miembro token. El \
        nombre de una columna entre llaves, como {name}, se sustituye en el contenido.

        With --recipients: a file that gets a line of JSON for each device. Devices that it has an answer of are left \
        out.
        Con --recipients: un archivo que recibe una línea de JSON por dispositivo. Los dispositivos cuya respuesta ya \
        contiene quedan fuera.

        With --recipients: the most notifications a second.
        Con --recipients: el máximo de notificaciones por segundo.

        to an app on this machine
        a una aplicación de esta máquina

        to a device token
        a un token de dispositivo

        a payload of your own
        un payload propio

        aldaba send --app com.example.todo --title Hello --dry-run print the payload, send nothing
        aldaba send --app com.example.todo --title Hello --dry-run escribe el payload, no envía nada

        The app's topic (default: that of --app, else the demo app's).
        El topic de la aplicación (por omisión: el de --app; si no, el de la aplicación de muestra).

        Send to this app on this machine: its agent tells the device token.
        Envía a esta aplicación de esta máquina: su agente dice el token de dispositivo.

        The alert's title.
        El título de la alerta.

        The alert's body.
        El cuerpo de la alerta.

        A picture, sound or movie for the device to show: a file, which is uploaded first, or its https address.
        Una imagen, un sonido o una película que muestra el dispositivo: un archivo, que se sube antes, o su \
        dirección https.

        A file with the whole payload, or - for standard input; an .apns file of Xcode's simulator names its app.
        Un archivo con el payload entero, o - para la entrada estándar; un .apns del simulador de Xcode nombra su aplicación.

        Encrypt the payload here, so that only the device can read it.
        Cifra aquí el payload, de modo que solo lo pueda leer el dispositivo.

        With --encrypt: what is shown where it cannot be opened.
        Con --encrypt: lo que se muestra donde no se puede descifrar.

        With --encrypt: a file with the device's public key, as `aldaba device encryption-key` prints it; without it \
        the server that runs on the data folder is asked.
        Con --encrypt: un archivo con la clave pública del dispositivo, como la escribe `aldaba device \
        encryption-key`; sin él, se pregunta al servidor en marcha sobre la carpeta de datos.

        The server as host:port; without it the one that runs on the data folder.
        El servidor, como host:port; sin él, el que está en marcha sobre la carpeta de datos.

        The control API's address for --image and --wait, https://host:port; without it the data folder's server's.
        La dirección de la API de control para --image y --wait, https://host:port; sin ella, la del servidor de la carpeta \
        de datos.

        Print a command of curl that sends the same; send nothing.
        Escribe una orden de curl que envía lo mismo; no envía nada.

        Wait until the timeline has this state or a later one: accepted, acked, presented or opened.
        Espera hasta que la cronología tenga este estado o uno posterior: accepted, acked, presented u opened.

        With --wait: how long to wait (default: 30).
        Con --wait: cuánto esperar (por omisión: 30).

        aldaba send --app com.example.todo --title Hello --wait presented   until it is on the screen
        aldaba send --app com.example.todo --title Hello --wait presented   hasta que esté en la pantalla

        until it is on the screen
        hasta que esté en la pantalla

        Check the payload and print it; send nothing.
        Comprueba el payload y lo escribe; no envía nada.

        Send the payload as it is, without a look at what it means.
        Envía el payload tal como está, sin mirar qué significa.

        A certificate and its key in one .pem; it takes the place of a provider token.
        Un certificado y su clave en un solo .pem; ocupa el lugar de un token de proveedor.

        A certificate and its key in one .p12; it takes the place of a provider token.
        Un certificado y su clave en un solo .p12; ocupa el lugar de un token de proveedor.

        With --p12: a file with its passphrase; without it the terminal asks.
        Con --p12: un archivo con su contraseña; sin él, la pide el terminal.

        Send through Apple's servers: sandbox for apps that Xcode installed, else production.
        Envía por los servidores de Apple: sandbox para aplicaciones que instaló Xcode, si no production.

        Show a development server's clock, or advance it.
        Muestra el reloj de un servidor de desarrollo, o lo adelanta.

        Expirations, the ages of tokens and schedules follow.
        Lo siguen las caducidades, la edad de los tokens y lo programado.

        `advance` and a time such as 90s, 15m, 12h, 28d or 1d12h; nothing shows the clock.
        `advance` y un tiempo como 90s, 15m, 12h, 28d o 1d12h; sin nada muestra el reloj.

        Have a development server answer with errors, or break off.
        Hace que un servidor de desarrollo responda con errores, o corte.

        Set a fault for requests that are still to come.
        Pone un fallo para peticiones que aún han de llegar.

        The status of the answer.
        El estado de la respuesta.

        The reason, in APNs' or FCM's own name, such as TooManyRequests or UNREGISTERED.
        El motivo, con el nombre que le da APNs o FCM, como TooManyRequests o UNREGISTERED.

        The answer's Retry-After, in seconds.
        El Retry-After de la respuesta, en segundos.

        answer, goaway, refuse-stream, settings-one-stream, cut, silence, delay or expired-certificate.
        answer, goaway, refuse-stream, settings-one-stream, cut, silence, delay o expired-certificate.

        The milliseconds before anything happens.
        Los milisegundos que pasan antes de que ocurra algo.

        Process the request before the connection ends or stays silent.
        Procesa la petición antes de que la conexión termine o calle.

        Only requests of one interface: apns, fcm, fcm-legacy, fcm-topics, fcm-groups, oauth, web-push.
        Solo peticiones de una interfaz: apns, fcm, fcm-legacy, fcm-topics, fcm-groups, oauth, web-push.

        Only requests for this token.
        Solo peticiones para este token.

        Only requests for this app.
        Solo peticiones para esta aplicación.

        Only requests of this team.
        Solo peticiones de este equipo.

        Only requests of this test.
        Solo peticiones de esta prueba.

        Only requests whose path begins so.
        Solo peticiones cuya ruta empieza así.

        Only requests on the connection of this number.
        Solo peticiones de la conexión con este número.

        The number of requests that pass at first.
        El número de peticiones que pasan al principio.

        The number of requests that get the fault; 0 for all.
        El número de peticiones que reciben el fallo; 0 para todas.

        The part of the requests that get it, 0 to 1.
        La parte de las peticiones que lo reciben, de 0 a 1.

        The seed of the choice that --rate makes.
        La semilla de la elección que hace --rate.

        Show the faults, a JSON object a line, with how often each was used.
        Muestra los fallos, un objeto JSON por línea, con las veces que se usó cada uno.

        Remove a fault, or all of them.
        Quita un fallo, o todos.

        The fault's number.
        El número del fallo.

        Remove all of them.
        Los quita todos.

        Show what providers sent to a development server, the newest first.
        Muestra lo que los proveedores enviaron a un servidor de desarrollo, lo más nuevo primero.

        The server of `aldaba up`, `aldaba run` or `aldaba serve --development` remembers the last 10,000 requests, \
        32 MiB at most: silent notifications, refused requests and sends to topics too. A wait that ends without \
        enough of them exits with 7.
        El servidor de `aldaba up`, `aldaba run` o `aldaba serve --development` recuerda las últimas 10.000 \
        peticiones, 32 MiB como máximo: también las notificaciones silenciosas, las peticiones rechazadas y los \
        envíos a temas. Una espera que termina sin bastantes sale con 7.

        Only requests whose JSON has this value: PATH=VALUE, such as aps.alert.title=Hello.
        Solo peticiones cuyo JSON tiene este valor: PATH=VALUE, como aps.alert.title=Hello.

        Only requests of one interface: apns, apns-binary, fcm, fcm-legacy, fcm-topics, fcm-groups, oauth, web-push.
        Solo peticiones de una interfaz: apns, apns-binary, fcm, fcm-legacy, fcm-topics, fcm-groups, oauth, web-push.

        Only requests for this topic of FCM's.
        Solo peticiones para este tema de FCM.

        Only requests whose alert has this title.
        Solo peticiones cuya alerta tiene este título.

        Only requests in this state: refused, answered, accepted, sent, acked and others.
        Solo peticiones en este estado: refused, answered, accepted, sent, acked y otros.

        Only requests that were answered with this status.
        Solo peticiones que se respondieron con este estado.

        Only requests of this test: its team, its project, or the value of the field aldaba-namespace.
        Solo peticiones de esta prueba: su equipo, su proyecto, o el valor del campo aldaba-namespace.

        Wait until there are so many.
        Espera hasta que haya tantas.

        The seconds that a wait takes at most, 1 to 60.
        Los segundos que dura una espera como máximo, de 1 a 60.

        The number of requests to show, 1 to 1000.
        El número de peticiones que se muestran, de 1 a 1000.

        Go on with what comes, a line each.
        Sigue con lo que llega, una línea por petición.

        Have a development server forget what it received, and its faults.
        Hace que un servidor de desarrollo olvide lo que recibió, y sus fallos.

        Only those of this test: its team, its project, or the value of the field aldaba-namespace.
        Solo las de esta prueba: su equipo, su proyecto, o el valor del campo aldaba-namespace.

        The server's plain http address; without it ALDABA_HTTP, else the server on the data folder.
        La dirección http sin TLS del servidor; sin ella, ALDABA_HTTP; si no, el servidor sobre la carpeta de datos.
        """)
}
