extension CommandSection {
    /// The help of the commands that ask a server.
    static let serverHelp = CommandSection(
        """
        Copy a server's data into a new folder; the server may be running.
        Copia los datos de un servidor a una carpeta nueva; el servidor puede estar en marcha.

        The copy has the database as of one moment, the keys of device tokens and providers, the certificates and \
        the files of notifications. Whoever has it can be the server: keep it as you keep the data folder.
        La copia tiene la base de datos en un mismo instante, las claves de los tokens de dispositivo y de los \
        proveedores, los certificados y los archivos de las notificaciones. Quien la tenga puede ser el servidor: \
        guárdela como guarda la carpeta de datos.

        The folder of the copy; it must not exist, or be empty.
        La carpeta de la copia; no debe existir, o debe estar vacía.

        Create a data folder from a backup.
        Crea una carpeta de datos a partir de una copia de seguridad.

        The data folder must not exist, or be empty. The server that begins there takes the same device tokens, keys \
        and certificates. What was accepted after the backup is not there.
        La carpeta de datos no debe existir, o debe estar vacía. El servidor que empieza allí admite los mismos \
        tokens de dispositivo, claves y certificados. Lo que se aceptó después de la copia no está.

        With --only hub or --only relay that database alone is put into a data folder in use, whose server is \
        stopped. The file in its place is kept under another name.
        Con --only hub o --only relay solo esa base de datos se pone en una carpeta de datos en uso, cuyo servidor \
        está parado. El archivo que había en su lugar se conserva con otro nombre.

        The folder that `aldaba backup` made.
        La carpeta que hizo `aldaba backup`.

        Restore this database alone: hub or relay.
        Restaura solo esta base de datos: hub o relay.

        Print Docs/configuration.md.
        Escribe Docs/configuration.md.

        Check the requirements of `up`, or what a provider has, and print what is wrong.
        Comprueba lo que necesita `up`, o lo que tiene un proveedor, y escribe qué está mal.

        for a provider's credential and token
        para la credencial y el token de un proveedor

        Check what a provider has, its credential, topic and device token, in place of this machine. Nothing is shown on \
        a device.
        Comprueba lo que tiene un proveedor, su credencial, topic y token de dispositivo, en vez de esta máquina. No se \
        muestra nada en ningún dispositivo.

        With --provider: the app's bundle id.
        Con --provider: el bundle id de la aplicación.

        With --provider: a device token of the app.
        Con --provider: un token de dispositivo de la aplicación.

        With --provider: ask Apple's servers: sandbox for apps that Xcode installed, else production.
        Con --provider: pregunta a los servidores de Apple: sandbox para aplicaciones que instaló Xcode; si no, production.

        With --provider: ask this server, host:port; without it the one that runs on the data folder.
        Con --provider: pregunta a este servidor, host:port; sin ella, al que se ejecuta en la carpeta de datos.

        With --provider: the authority of the server's certificate, PEM.
        Con --provider: la autoridad del certificado del servidor, PEM.

        for a server's data folder
        para la carpeta de datos de un servidor

        Show the notifications with an apns-id or an internal id.
        Muestra las notificaciones que tienen un apns-id o un identificador interno.

        how far it came, or why it did not
        hasta dónde llegó, o por qué no llegó

        for a program
        para un programa

        An apns-id, the server's own id of the notification, or FCM's name of a message.
        Un apns-id, el identificador de la notificación en el servidor, o el nombre de un mensaje en FCM.

        Show every state with its time and source.
        Muestra cada estado con su hora y su origen.

        Print the server's JSON array.
        Escribe la lista JSON del servidor.

        List the notifications that a server has, the newest first.
        Enumera las notificaciones que tiene un servidor, las más nuevas primero.

        `aldaba get` shows one of them with its timeline. Notifications stay for 30 days.
        `aldaba get` muestra una de ellas con su cronología. Las notificaciones se conservan 30 días.

        the newest ones
        las más nuevas

        Only this app's: its topic.
        Solo las de esta aplicación: su topic.

        Only this device's: its id, a decimal number.
        Solo las de este dispositivo: su identificador, un número decimal.

        Only those in this state: waiting, ended or refused.
        Solo las que están en este estado: waiting, ended o refused.

        Only those before this internal id, as the last line of an earlier list tells it.
        Solo las anteriores a este identificador interno, como lo dice la última línea de una lista anterior.

        Upload, list and delete the files of notifications.
        Sube, enumera y borra los archivos de las notificaciones.

        Upload a file, and print the address from which devices fetch it.
        Sube un archivo, y escribe la dirección de la que lo toman los dispositivos.

        Takes a picture (JPEG, GIF, PNG) of at most 10 MiB, a sound (AIFF, WAV, MP3, M4A) of at most 5, or a movie \
        (MPEG, MPEG-4, AVI) of at most 50. A file that the team has uploaded before keeps its address.
        Admite una imagen (JPEG, GIF, PNG) de 10 MiB como máximo, un sonido (AIFF, WAV, MP3, M4A) de 5 como máximo, \
        o una película (MPEG, MPEG-4, AVI) de 50 como máximo. Un archivo que el equipo ya ha subido conserva su \
        dirección.

        List the team's files: name, bytes, type and expiry, one a line.
        Enumera los archivos del equipo: nombre, bytes, tipo y caducidad, uno por línea.

        Print one JSON object a line.
        Escribe un objeto JSON por línea.

        Delete one of the team's files.
        Borra uno de los archivos del equipo.

        The file's name, as `aldaba media list` tells it, or its address.
        El nombre del archivo, como lo dice `aldaba media list`, o su dirección.

        The control API's address, https://host:port; without it the data folder's server's.
        La dirección de la API de control, https://host:port; sin ella, la del servidor de la carpeta de datos.

        The first day, such as 2026-11-22, in UTC; without it six days before the last.
        El primer día, como 2026-11-22, en UTC; sin él, seis días antes del último.

        The last day; without it today.
        El último día; sin él, hoy.

        Show delivery counts by day, app and label.
        Muestra cuántas se entregaron por día, aplicación y etiqueta.

        Each accepted notification has one end: they add up to what was accepted. Opened, shown and so on are \
        counted beside the ends.
        Cada notificación aceptada tiene un solo final: los finales suman las aceptadas. Las abiertas, las mostradas \
        y demás se cuentan aparte de los finales.

        Only those with this label.
        Solo las que tienen esta etiqueta.

        Print the server's JSON object.
        Escribe el objeto JSON del servidor.

        Export data for other programs.
        Exporta datos para otros programas.

        Export the events of notifications, one line each.
        Exporta los sucesos de las notificaciones, uno por línea.

        In the order in which the notifications were accepted, those of one together.
        En el orden en que se aceptaron las notificaciones, los de cada una juntos.

        jsonl, or csv with a heading.
        jsonl, o csv con un encabezado.

        Only notifications after this internal id.
        Solo las notificaciones posteriores a este identificador interno.

        The server's control API, host:port; without it the server that runs on the data folder.
        La API de control del servidor, host:port; sin ella, el servidor en marcha sobre la carpeta de datos.

        The authority of the server's certificate, PEM; else the data folder's, else the system's.
        La autoridad del certificado del servidor, en PEM; si no, la de la carpeta de datos; si no, las del sistema.

        Show or change the permissions of an app.
        Muestra o cambia los permisos de una aplicación.

        `aldaba settings` lists the apps, `aldaba settings APP` one app's settings, and `aldaba settings APP \
        sounds=off style=alert` changes some. `aldaba settings all quiet-hours=22:00-07:00` keeps all but what is \
        urgent off the screen for a part of the day. `aldaba settings APP --open` has the app show the settings that \
        it has of its own.
        `aldaba settings` enumera las aplicaciones, `aldaba settings APP` los ajustes de una, y `aldaba settings APP \
        sounds=off style=alert` cambia algunos. `aldaba settings all quiet-hours=22:00-07:00` deja fuera de la \
        pantalla, durante una parte del día, todo lo que no es urgente. `aldaba settings APP --open` hace que la \
        aplicación muestre sus propios ajustes.

        The app's id.
        El identificador de la aplicación.

        NAME=VALUE for each setting to change.
        NAME=VALUE por cada ajuste que se cambia.

        Have the app show its own settings; it is started if it does not run.
        Hace que la aplicación muestre sus propios ajustes; se arranca si no está en marcha.

        Print JSON.
        Escribe JSON.

        Withdraw the notifications with an apns-id or an internal id.
        Retira las notificaciones que tienen un apns-id o un identificador interno.

        What waits does not come any more. A device that may have it is asked to take it off its screen; `aldaba get \
        --timeline` says when it has.
        Lo que espera ya no llega. A un dispositivo que puede tenerla se le pide que la quite de la pantalla; \
        `aldaba get --timeline` dice cuándo lo ha hecho.

        An apns-id, or the server's own id of the notification.
        Un apns-id, o el identificador de la notificación en el servidor.
        """)
}
