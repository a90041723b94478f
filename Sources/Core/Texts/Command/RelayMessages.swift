extension CommandSection {
    /// Messages of `relay`.
    static let relayMessages = CommandSection(
        """
        there is no qrencode here; install it, or copy the key that is printed without --qr
        aquí no está qrencode; instálelo, o copie la clave que se escribe sin --qr

        qrencode could not draw it
        qrencode no pudo dibujarlo

        on the other device: aldaba relay pair {code}
        en el otro dispositivo: aldaba relay pair {code}

        digits: {digits}
        cifras: {digits}

        Does the other screen show the same digits? Answer there too. [y/N]
        ¿Muestra la otra pantalla las mismas cifras? Responda también allí. [s/N]

        waiting for the answer on the other device
        se espera la respuesta en el otro dispositivo

        no key was given
        no se dio ninguna clave

        that is 0 to 86400 seconds
        son de 0 a 86400 segundos

        grace     {seconds} s after the loss of the way
        margen    {seconds} s tras perderse el camino

        the push service is apns or fcm
        el servicio de notificaciones es apns o fcm

        a token has 1 to {most} bytes
        un token tiene de 1 a {most} bytes

        the environment is production or sandbox
        el entorno es production o sandbox

        an app and a service have names
        una aplicación y un servicio tienen nombres

        the content is either --message or words such as to=Ada
        el contenido es --message o palabras como to=Ada

        a revision is 0 or more
        una revisión es 0 o más

        {count} more cannot be opened
        otros {count} no se pueden abrir

        the message is either --message or words such as to=Ada
        el mensaje es --message o palabras como to=Ada

        --ttl is 28 days at most
        --ttl es de 28 días como máximo

        sent to {device}  {id}
        enviado a {device}  {id}

        {word}: {name} has words such as to=Ada, each name once
        {word}: {name} tiene palabras como to=Ada, cada nombre una vez

        no app on {device} offers the service {service}; `aldaba relay devices` lists what there is
        ninguna aplicación de {device} ofrece el servicio {service}; `aldaba relay devices` enumera lo que hay

        several apps on {device} offer the service {service}; name one with --app: {names}
        varias aplicaciones de {device} ofrecen el servicio {service}; nombre una con --app: {names}

        an id is a UUID, such as {id}
        un identificador es un UUID, como {id}

        --within is 1 to {most} seconds
        --within es de 1 a {most} segundos

        {path} cannot be sent
        {path} no se puede enviar

        sent to {device} as {name}
        enviado a {device} como {name}

        no command of this id is known
        no se conoce ninguna orden con este identificador

        --do is list, play, pause or stop
        --do es list, play, pause o stop

        --do {action} needs --player
        --do {action} necesita --player

        nothing plays here
        aquí no suena nada

        {player} plays a file of this device; send it with `aldaba relay send` and open it there
        {player} reproduce un archivo de este dispositivo; envíelo con `aldaba relay send` y ábralo allí

        {title} plays in {player} at {seconds} s
        {title} suena en {player} por el segundo {seconds}

        here: {error}
        aquí: {error}

        --thumb and --output go together
        --thumb y --output van juntas

        --page is 0 or more
        --page es 0 o más

        it is on its way; `aldaba relay watch` tells when it is here, and where
        está en camino; `aldaba relay watch` dice cuándo llega, y dónde queda

        paired
        emparejado

        away now, and to be paired again: {names}
        ausentes ahora, y por emparejar de nuevo: {names}

        {path} is no folder
        {path} no es una carpeta

        a name has 1 to 64 bytes
        un nombre tiene de 1 a 64 bytes

        {name} is no program that can be run here
        {name} no es un programa que se pueda ejecutar aquí

        you have no other device
        usted no tiene ningún otro dispositivo

        --fallback must be the address of an https page
        --fallback debe ser la dirección de una página https

        opened on {device}
        abierta en {device}

        --count is 1 to 1000000
        --count es de 1 a 1000000

        --at-once is 1 to 64
        --at-once es de 1 a 64

        round trip {milliseconds} ms
        ida y vuelta {milliseconds} ms

        several devices are called {name}; name one by its id: {ids}
        varios dispositivos se llaman {name}; nombre uno por su identificador: {ids}

        you have no device {name}; `aldaba relay devices` lists those that there are
        usted no tiene el dispositivo {name}; `aldaba relay devices` enumera los que hay

        no device waits with the word {word}
        ningún dispositivo espera con el código {word}

        no device came to be paired
        ningún dispositivo vino a emparejarse

        the {name} on standard input is longer than {most} bytes
        {name} por la entrada estándar tiene más de {most} bytes

        --limit is 1 to {most} bytes
        --limit es de 1 a {most} bytes

        the {name} is no JSON: {error}
        {name} no es JSON: {error}

        the {name} must be a JSON object, such as {example}
        {name} debe ser un objeto JSON, como {example}

        {path} is null, which is no value of a message
        {path} es null, que no es un valor de un mensaje

        {path} has more than 64 bits; a double has a point, such as 1.0
        {path} tiene más de 64 bits; un double lleva punto, como 1.0

        {path} is larger than a double can be
        {path} es mayor de lo que puede ser un double

        name      {what}
        nombre       {what}

        refused   {reason}
        rechazado    {reason}

        missing   {what}
        faltan       {what}

        a device of the account is not found under its key; if one was dismissed while this device was away, the \
        others have another key: pair this one again, with `aldaba relay pair` on one of them
        un dispositivo de la cuenta no se encuentra con su clave; si se quitó alguno mientras este estaba ausente, \
        los demás tienen otra clave: empareje este de nuevo, con `aldaba relay pair` en uno de ellos

        {count} devices of the account are not found under its key; if one was dismissed while this device was away, \
        the others have another key: pair this one again, with `aldaba relay pair` on one of them
        {count} dispositivos de la cuenta no se encuentran con su clave; si se quitó alguno mientras este estaba \
        ausente, los demás tienen otra clave: empareje este de nuevo, con `aldaba relay pair` en uno de ellos

        it arrived and could not be done
        llegó y no se pudo hacer

        the app is not there
        la aplicación no está allí

        the app cannot be reached now
        la aplicación no se puede alcanzar ahora

        the service is not offered
        el servicio no se ofrece

        {name}: {what} (id {id})
        {name}: {what} (id {id})

        it is not granted
        no está concedido

        nothing there opens such addresses
        nada de allí abre esas direcciones

        the device's rules forbid it
        lo prohíben las reglas del dispositivo

        it was not sent, since it is too large or cannot be written
        no se envió, porque es demasiado grande o no se puede escribir

        too much is under way
        hay demasiado en curso

        it was not sent
        no se envió

        it was not sent: there is no such device
        no se envió: no existe ese dispositivo

        it did not arrive
        no llegó

        it did not arrive in time, and was not done
        no llegó a tiempo, y no se hizo

        nobody knows what came of it
        nadie sabe qué fue de ello

        it was taken back
        se retiró

        the connection is closed
        la conexión está cerrada

        the document has another revision
        el documento tiene otra revisión

        there is no such document
        no existe ese documento

        idle      {what}
        inactiva  {what}

        never ends
        no termina nunca

        ends after {seconds} s
        termina a los {seconds} s

        account   {what}
        cuenta       {what}

        yes
        sí

        none; see `aldaba relay account`
        ninguna; véase `aldaba relay account`

        not joined without an account
        sin unirse, por falta de cuenta

        not known yet
        aún sin conocer
        """)
}
