extension CommandSection {
    /// Faults of a payload, and the sentences of APNs' reasons.
    static let payloadMessages = CommandSection(
        #"""
        the payload has no "aps": the device shows nothing for it
        el contenido no tiene "aps": el dispositivo no muestra nada

        the key "{name}"
        la clave "{name}"

        "{name}" without an "aps" around it
        "{name}" sin "aps" alrededor

        "{name}" as FCM has it, and no "aps"
        "{name}" como lo tiene FCM, y sin "aps"

        "aps" is a string that holds JSON: it was encoded twice
        "aps" es un texto que contiene JSON: se codificó dos veces

        write the object itself, without quotes and backslashes
        escriba el objeto mismo, sin comillas ni barras invertidas

        "aps" is a string
        "aps" es un texto

        write {json} around the text
        escriba {json} alrededor del texto

        "aps" is an array
        "aps" es una lista

        write an object: {json}
        escriba un objeto: {json}

        "aps" is no object
        "aps" no es un objeto

        "{name}" stands outside of "aps"
        "{name}" está fuera de "aps"

        write it inside: {json}
        escríbalo dentro: {json}

        "{name}" stands here a second time
        "{name}" está aquí por segunda vez

        bring the two into one
        reúna los dos en uno

        "{name}" stands in "aps" itself
        "{name}" está en el propio "aps"

        "{name}" is neither a text nor an object
        "{name}" no es ni un texto ni un objeto

        write a text, or {json}
        escriba un texto, o {json}

        write a whole number, 0 or more
        escriba un número entero, 0 o más

        "{name}" is a string
        "{name}" es un texto

        "{name}" is a boolean
        "{name}" es un valor lógico

        "{name}" is no number
        "{name}" no es un número

        "{name}" is no string
        "{name}" no es un texto

        "{name}" is no array
        "{name}" no es una lista

        write {text} without quotes
        escriba {text} sin comillas

        "{name}" is neither a name nor an object
        "{name}" no es ni un nombre ni un objeto

        write "default", or a file's name
        escriba "default" o el nombre de un archivo

        "{name}" is none of Apple's levels
        "{name}" no es ninguno de los niveles de Apple

        "{name}" is not between 0 and 1
        "{name}" no está entre 0 y 1

        write a number from 0 to 1
        escriba un número de 0 a 1

        write a text in quotes
        escriba un texto entre comillas

        "{name}" stands inside of "alert"
        "{name}" está dentro de "alert"

        write it beside: {json}
        escríbalo al lado: {json}

        the file begins with a byte order mark
        el archivo empieza con una marca de orden de bytes

        save it as UTF-8 without one
        guárdelo como UTF-8 sin ella

        the file is UTF-16
        el archivo es UTF-16

        save it as UTF-8
        guárdelo como UTF-8

        a byte that is not UTF-8
        un byte que no es UTF-8

        save the file as UTF-8
        guarde el archivo como UTF-8

        the payload is empty
        el contenido está vacío

        the payload stands in single quotes
        el contenido está entre comillas simples

        leave them out: they are the shell's
        quítelas: son del intérprete de órdenes

        the payload is an array
        el contenido es una lista

        write one object: {json}
        escriba un objeto: {json}

        the string that begins here has no closing quote
        el texto que empieza aquí no tiene comillas de cierre

        a tab inside a string
        un tabulador dentro de un texto

        an escape that JSON does not have
        un escape que JSON no tiene

        the string ends at this quote, and text follows it
        el texto termina en estas comillas, y le sigue más texto

        a typographic quotation mark {mark}
        una comilla tipográfica {mark}

        an invisible character ({code})
        un carácter invisible ({code})

        write an ordinary blank, or nothing
        escriba un espacio corriente, o nada

        a comment
        un comentario

        leave it out: JSON has none
        quítelo: JSON no tiene

        leave the comma out
        quite la coma

        a second comma
        una segunda coma

        leave it out
        quítelo

        a comma with nothing before it
        una coma sin nada delante

        a key without a value
        una clave sin valor

        write ':' and the value
        escriba ':' y el valor

        no ':' after a key
        falta ':' tras una clave

        '=' after a key
        '=' tras una clave

        a second ':' in one member
        un segundo ':' en un miembro

        no comma after this value
        falta una coma tras este valor

        an object where a key is expected
        un objeto donde se espera una clave

        a placeholder that was not filled in
        un marcador sin rellenar

        write the value, a text in quotes
        escriba el valor, un texto entre comillas

        the key {name} without quotes
        la clave {name} sin comillas

        a second object
        un segundo objeto

        send one payload at a time
        envíe un solo contenido cada vez

        text behind the payload
        texto tras el contenido

        The collapse id has more than 64 bytes.
        El identificador de sustitución tiene más de 64 bytes.

        The device token is malformed or of the other environment.
        El token de dispositivo está mal formado o es del otro entorno.

        apns-expiration is not a whole number of seconds since 1970.
        apns-expiration no es un número entero de segundos desde 1970.

        apns-priority is not 10, 5 or 1.
        apns-priority no es 10, 5 ni 1.

        apns-topic is not a valid topic.
        apns-topic no es un tema válido.

        The device token belongs to another app, or is for pushes of another type.
        El token de dispositivo es de otra aplicación, o de notificaciones de otro tipo.

        apns-push-type is unknown, or not the one of the topic's suffix.
        apns-push-type se desconoce, o no es el del sufijo del tema.

        apns-topic is absent and the credential does not imply one.
        Falta apns-topic, y la credencial no implica ninguno.

        The body is empty or not a JSON object.
        El cuerpo está vacío o no es un objeto JSON.

        The credential may not send to this topic.
        La credencial no puede enviar a este tema.

        The device token has expired.
        El token de dispositivo ha caducado.

        The device token is no longer active for the topic.
        El token de dispositivo ya no está activo para el tema.

        The payload exceeds 4096 bytes (5120 for voip).
        El contenido supera los 4096 bytes (5120 para voip).

        Too many notifications in a row to one device token.
        Demasiadas notificaciones seguidas a un token de dispositivo.

        The service cannot accept now.
        El servicio no puede aceptar ahora.

        The server failed.
        El servidor falló.
        """#)
}
