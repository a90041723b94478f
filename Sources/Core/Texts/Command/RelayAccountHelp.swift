extension CommandSection {
    /// The help of the relay's account, grants and documents.
    static let relayAccountHelp = CommandSection(
        """
        Add this device to your account.
        Añade este dispositivo a su cuenta.

        Print the account's secret key, which lets a device join; it is made if there is none.
        Escribe la clave secreta de la cuenta, con la que se une un dispositivo; la crea si no hay ninguna.

        Draw it as a QR code, by `qrencode`; the other device takes what its camera reads: `relay account join`.
        La dibuja como código QR, con `qrencode`; el otro dispositivo recibe lo que lee su cámara: `relay account \
        join`.

        Join an account by its key.
        Se une a una cuenta con su clave.

        The key that `aldaba relay account show` printed; without it, it is read from standard input.
        La clave que escribió `aldaba relay account show`; sin ella, se lee de la entrada estándar.

        Remove this device from your account.
        Saca este dispositivo de su cuenta.

        Set the name of this device.
        Pone el nombre de este dispositivo.

        The name.
        El nombre.

        Let your other devices open addresses of a scheme here; http and https are always allowed.
        Permite que sus otros dispositivos abran aquí direcciones de un esquema; http y https se permiten siempre.

        The scheme, such as mailto.
        El esquema, como mailto.

        Remove a scheme that `aldaba relay allow` added.
        Retira un esquema que añadió `aldaba relay allow`.

        The scheme.
        El esquema.

        Set when idle connections between apps end.
        Dice cuándo terminan las conexiones inactivas entre aplicaciones.

        After how many seconds without a message; 0 for never.
        Tras cuántos segundos sin mensajes; 0 para nunca.

        How many seconds one outlives the loss of the way to the other device.
        Cuántos segundos sobrevive una a la pérdida del camino al otro dispositivo.

        Set the push channel that wakes this device; without one, remove it.
        Pone el canal de notificaciones push que despierta este dispositivo; sin canal, lo quita.

        The server must have credentials for the push service (its setting relay-wake-hub).
        El servidor debe tener credenciales para el servicio de notificaciones (su ajuste relay-wake-hub).

        The push service: apns or fcm.
        El servicio de notificaciones: apns o fcm.

        The token that it gave the app.
        El token que dio a la aplicación.

        The environment of an APNs token, production or sandbox; without it the credential's.
        El entorno de un token de APNs, production o sandbox; sin él, el de la credencial.

        The device that calls, by its id, or its name where no other has it; * for any of yours.
        El dispositivo que llama, por su identificador, o por su nombre si no lo tiene otro; * para cualquiera de \
        los suyos.

        The bundle id of the app here.
        El bundle id de la aplicación de aquí.

        The name of its service.
        El nombre de su servicio.

        Grant a device access to a service that needs consent.
        Concede a un dispositivo el acceso a un servicio que necesita permiso.

        For so long, such as 90s, 2h or 7d; else until it is revoked.
        Por tanto tiempo, como 90s, 2h o 7d; si no, hasta que se retire.

        Only while the screen here is unlocked.
        Solo mientras la pantalla de aquí esté desbloqueada.

        Deny a device access to a service, without asking again.
        Niega a un dispositivo el acceso a un servicio, sin volver a preguntar.

        `aldaba relay revoke` takes it back. What is said of one device counts before what is said of all.
        Lo retira `aldaba relay revoke`. Una regla para un dispositivo prevalece sobre una para todos.

        List the grants and denials: device, app and service.
        Enumera lo concedido y lo negado: dispositivo, aplicación y servicio.

        Remove a grant or a denial.
        Retira un permiso o una negativa.

        Store, list and watch documents that your devices share.
        Guarda, enumera y sigue los documentos que comparten sus dispositivos.

        Store a document under a name, in place of an earlier one.
        Guarda un documento con un nombre, en lugar del anterior.

        The content is a JSON object (--message) or words such as `to=Ada`, each a text; at most 8 KiB. With \
        --revision it is
        El contenido es un objeto JSON (--message) o palabras como `to=Ada`, cada una un texto; 8 KiB como máximo. \
        Con --revision se

        refused unless that is the present revision; 0 says that there must be none.
        rechaza si esa no es la revisión actual; 0 dice que no debe haber ninguna.

        The document's name, 1 to 128 bytes of UTF-8.
        El nombre del documento, de 1 a 128 bytes de UTF-8.

        A text of the content, by its name.
        Un texto del contenido, con su nombre.

        The content, a JSON object.
        El contenido, un objeto JSON.

        The present revision; 0 where there must be none.
        La revisión actual; 0 si no debe haber ninguna.

        Print a document.
        Escribe un documento.

        The document's name.
        El nombre del documento.

        Print its name and revision, too, as a JSON object.
        Escribe también su nombre y su revisión, como objeto JSON.

        List the documents of terminals: name, revision, and bytes of content.
        Enumera los documentos de las terminales: nombre, revisión y bytes de contenido.

        Remove a document.
        Quita un documento.

        The present revision; it is not removed where that is another.
        La revisión actual; no se quita si es otra.

        Print changes of documents as they come, until Ctrl-C.
        Escribe los cambios de los documentos según llegan, hasta Ctrl-C.

        Send an app service on another device a message without an answer; it is queued while the device is away.
        Envía a un servicio de una aplicación de otro dispositivo un mensaje sin respuesta; espera mientras el \
        dispositivo está ausente.

        The message is a JSON object (--message) or words such as `to=Ada`, each a text. It is done when the server \
        keeps the
        El mensaje es un objeto JSON (--message) o palabras como `to=Ada`, cada una un texto. La orden termina \
        cuando el servidor guarda el

        message; `aldaba relay life ID` tells what came of it, and `aldaba relay cancel ID` takes it back while it \
        waits.
        mensaje; `aldaba relay life ID` dice qué fue de él, y `aldaba relay cancel ID` lo retira mientras espera.

        The service's name, or APP/SERVICE as `relay devices` lists it.
        El nombre del servicio, o APP/SERVICE como lo enumera `relay devices`.

        A text of the message, by its name.
        Un texto del mensaje, con su nombre.

        The bundle id of the app; without it the one app that offers the service.
        El bundle id de la aplicación; sin él, la única que ofrece el servicio.

        The message, a JSON object; - reads it from standard input.
        El mensaje, un objeto JSON; - lo lee de la entrada estándar.

        The most bytes of the message, 262144 at most.
        El número máximo de bytes del mensaje, 262144 a lo sumo.

        How long it is kept, such as 90s, 2h or 7d; 28 days at most.
        Cuánto tiempo se guarda, como 90s, 2h o 7d; 28 días como máximo.

        The message's id, a UUID, under which it is given to the app once.
        El identificador del mensaje, un UUID, con el que se da a la aplicación una sola vez.
        """)
}
