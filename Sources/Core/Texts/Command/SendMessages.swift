extension CommandSection {
    /// Messages of `send`.
    static let sendMessages = CommandSection(
        """
        Name the device: --token TOKEN, or --app TOPIC for an app on this machine
        Nombre el dispositivo: --token TOKEN, o --app TOPIC para una aplicación de esta máquina

        --token and --app both name the device: give one of them
        --token y --app nombran los dos el dispositivo: dé uno de ellos

        --encryption-key needs --encrypt
        --encryption-key necesita --encrypt

        {path}: no certificates in PEM; an authority's would be right
        {path}: no hay certificados en PEM; debe ser el de una autoridad

        {server} did not answer in time; it may have taken the notification
        {server} no respondió a tiempo; puede haber aceptado la notificación

        --certificate: there is no file {path}
        --certificate: no existe el archivo {path}

        --certificate: {path}: {error}; it is to hold a certificate and its key in PEM; --p12 takes the .p12 of Keychain \
        Access
        --certificate: {path}: {error}; debe contener un certificado y su clave en PEM; --p12 acepta el .p12 de Acceso a \
        Llaveros

        --certificate: {path} does not hold a certificate and its key in PEM; --p12 takes the .p12 of Keychain Access
        --certificate: {path} no contiene un certificado y su clave en PEM; --p12 acepta el .p12 de Acceso a Llaveros

        --p12: {path} cannot be opened: the passphrase is wrong, or it is no file of PKCS #12 with a certificate and its \
        key
        --p12: {path} no se puede abrir: la contraseña no es correcta, o no es un archivo PKCS #12 con un certificado y \
        su clave

        give --title, --body, --image or --payload
        dé --title, --body, --image o --payload

        --payload is the whole payload; leave --title, --body and --image out
        --payload es el payload entero; omita --title, --body e --image

        --payload: there is no file {path}
        --payload: no existe el archivo {path}

        {count} bytes for {topic}, not sent
        {count} bytes para {topic}, sin enviar

        the server refused: {reason}
        rechazo del servidor: {reason}

        --push-type: "{type}" is none of {types}
        --push-type: "{type}" no es ninguno de {types}

        {source}, {error}. Nothing was sent; --as-is sends it all the same
        {source}, {error}. No se envió nada; --as-is lo envía de todos modos

        {source} has {count} bytes, at most {limit} are allowed. Nothing was sent
        {source} tiene {count} bytes, y se permiten {limit} como máximo. No se envió nada

        --app: the agent knows no app {app}; `aldaba agent apps` lists those that it knows
        --app: el agente no conoce la aplicación {app}; `aldaba agent apps` enumera las que conoce

        --app: {app} has no device token: it gets one when it registers for remote notifications and the agent \
        reaches its server
        --app: {app} no tiene token de dispositivo: lo recibe cuando se registra para notificaciones remotas y el \
        agente alcanza su servidor

        {source}: it must be JSON with the members keys.p256dh and keys.auth
        {source}: debe ser JSON con los miembros keys.p256dh y keys.auth

        "{token}" is no device token
        "{token}" no es un token de dispositivo

        there is no key for the device token: {reason}
        no hay clave para el token de dispositivo: {reason}

        what is encrypted must be a payload, a JSON object
        lo que se cifra debe ser un payload, un objeto JSON

        the payload has {count} bytes; encrypted, with this placeholder, at most {most} fit into the {limit} that \
        can be sent
        el payload tiene {count} bytes; cifrado, con este texto sin cifrar, caben {most} como máximo en los {limit} \
        que se pueden enviar

        --encryption-key: there is no file {path}
        --encryption-key: no existe el archivo {path}

        --encrypt with --server needs --encryption-key: another server is not asked for keys
        --encrypt con --server necesita --encryption-key: a otro servidor no se le piden claves

        the notification appears without the picture, for {name} has no service extension on this machine; the guide \
        show-a-picture says how to add one
        la notificación aparece sin la imagen, pues {name} no tiene extensión de servicio en esta máquina; la guía \
        mostrar-una-imagen dice cómo añadirla

        the notification appears unchanged, for {name} has no service extension on this machine; the guide \
        show-a-picture says how to add one
        la notificación aparece sin cambios, pues {name} no tiene extensión de servicio en esta máquina; la guía \
        mostrar-una-imagen dice cómo añadirla

        --image: it is empty; give a file, or an address that begins with https://
        --image: está vacío; dé un archivo, o una dirección que empiece por https://

        --image: devices load https addresses only
        --image: los dispositivos solo toman direcciones https

        --image of a file with --server needs --control, where the file is uploaded
        --image de un archivo con --server necesita --control, donde se sube el archivo

        --image: devices do not fetch it: {error}
        --image: los dispositivos no la toman: {error}

        {host} is {kind}, from which an agent fetches no picture unless its setting media-networks names it
        {host} es {kind}, de donde un agente no toma imágenes si su ajuste media-networks no la nombra

        --key-id is ten characters A-Z0-9
        --key-id son diez caracteres A-Z0-9

        --key needs --team, ten characters A-Z0-9
        --key necesita --team, diez caracteres A-Z0-9

        there is no such key in {path}; make one with `aldaba key create`, or name one with --key
        no existe esa clave en {path}; cree una con `aldaba key create`, o nombre una con --key

        {count} notifications were not accepted
        no se aceptaron {count} notificaciones
        """)

    /// The summary of `up`, and the words of progress bars.
    static let upMessages = CommandSection(
        """
        Aldaba is up. Ctrl-C ends everything; the data stays in {path}.
        Aldaba está en marcha. Ctrl-C lo termina todo; los datos quedan en {path}.

        console: {address}
        consola: {address}

        provider API    {address}
        API de proveedores     {address}

        device channel  {address} (TLS)
        canal de dispositivos  {address} (TLS)

        control API     {address}
        API de control         {address}

        control API     {address} and {other}
        API de control         {address} y {other}

        metrics         {address}
        métricas               {address}

        provider key    {path} (key {key}, team {team})
        clave de proveedor     {path} (clave {key}, equipo {team})

        FCM             {address} with the service account {path}
        FCM                    {address} con la cuenta de servicio {path}

        certificates    {path}
        certificados           {path}

        demo app        {topic} with device token {token}
        aplicación de muestra  {topic} con el token de dispositivo {token}

        screen          {what}
        pantalla               {what}

        none: there is no session bus; {command} lists what came
        ninguna: no hay bus de sesión; {command} enumera lo que llegó

        For the commands of the guides, in another terminal first:
        Para las órdenes de las guías, primero en otra terminal:

        Try next there:
        Después pruebe allí:

        And what became of the second one:
        Y qué fue de la segunda:

        What the device gets from the server, a line each (--quiet shows none):
        Lo que el dispositivo recibe del servidor, una línea por notificación (--quiet no muestra ninguna):

        starting server, agent and demo app
        arrancando servidor, agente y aplicación de muestra

        exporting
        exportando

        --curl is for one notification
        --curl es para una sola notificación

        --timeout needs --wait
        --timeout necesita --wait

        --timeout is 1 to 86400 seconds
        --timeout es de 1 a 86400 segundos

        --wait needs a notification that is sent: leave --dry-run and --curl out
        --wait necesita una notificación que se envíe: omita --dry-run y --curl

        --wait {state} needs Aldaba's server: Apple tells only that it accepted
        --wait {state} necesita el servidor de Aldaba: Apple solo dice que aceptó

        --wait {state} with --server needs --control, where timelines are read
        --wait {state} con --server necesita --control, donde se leen las cronologías

        {state} after {seconds} s
        {state} tras {seconds} s

        the notification is not {state}, it has ended as {end}
        la notificación no está en {state}, ha terminado como {end}

        the notification is not {state} after {seconds} s; its latest state is {latest}
        la notificación no está en {state} tras {seconds} s; su último estado es {latest}

        notifications that are not {state}: {count}
        notificaciones que no están en {state}: {count}

        stopped: notifications that are not {state}: {count}
        detenido: notificaciones que no están en {state}: {count}

        stopped: devices that were not sent to: {count}; the same command goes on
        detenido: dispositivos a los que no se envió: {count}; la misma orden continúa

        stopped: devices that were not sent to: {count}
        detenido: dispositivos a los que no se envió: {count}

        uploading {path}
        subiendo {path}

        copying {path}
        copiando {path}

        enrolling
        dando de alta

        connecting
        conectando

        {count} devices
        {count} dispositivos

        {count} of {total} devices
        {count} de {total} dispositivos
        """)
}
