extension CommandSection {
    /// Messages of the commands that ask a server.
    static let serverMessages = CommandSection(
        """
        {server} cannot be asked: {what}
        no se puede preguntar a {server}: {what}

        {what}; name the authority with --ca
        {what}; nombre la autoridad con --ca

        no authority that is trusted here signed its certificate, or that has ended
        no firmó su certificado ninguna autoridad en la que se confíe aquí, o ha caducado

        its certificate is not for {host}; name the server as its certificate does
        su certificado no es para {host}; nombre el servidor como lo hace su certificado

        the connection ended before the answer came
        la conexión terminó antes de que llegara la respuesta

        its answer is longer than what is taken
        su respuesta es más larga de lo que se admite

        the connection failed: {error}
        la conexión falló: {error}

        there is no machine of the name {host}
        no existe ninguna máquina con el nombre {host}

        it cannot be reached
        no se puede alcanzar

        nothing listens there; does the server run?
        allí no escucha nada; ¿está el servidor en marcha?

        it closed the connection; does it speak TLS, and this protocol, at this port?
        cerró la conexión; ¿habla TLS, y este protocolo, en este puerto?

        it does not answer in time
        no responde a tiempo

        there is no way to it
        no hay camino hasta él

        it does not answer in time; does the server run?
        no responde a tiempo; ¿está el servidor en marcha?

        it closed the connection; does it speak TLS, and HTTP, at this port?
        cerró la conexión; ¿habla TLS, y HTTP, en este puerto?

        this is no address of a server
        no es la dirección de un servidor

        the request failed: {error}
        la petición falló: {error}

        it ended the connection in the middle
        terminó la conexión a medias

        it shows no certificate
        no presenta ningún certificado

        it does not speak TLS at this port
        no habla TLS en este puerto

        it speaks only versions of TLS that are not taken any more
        solo habla versiones de TLS que ya no se admiten

        it refused the TLS handshake
        rechazó la negociación de TLS

        it closed the connection in the TLS handshake; does it speak TLS at this port?
        cerró la conexión en la negociación de TLS; ¿habla TLS en este puerto?

        TLS with it failed: {error}
        TLS con él falló: {error}

        {path} holds no certificate in PEM; the authority of the server's certificate would be right
        {path} no contiene ningún certificado en PEM; debe ser la autoridad del certificado del servidor

        {path} cannot be read; the authority of the server's certificate would be right
        {path} no se puede leer; debe ser la autoridad del certificado del servidor

        the server does not allow this: {reason}
        el servidor no lo permite: {reason}

        not found: {reason}
        no se encuentra: {reason}

        no reason given
        sin motivo

        no notification of that id, or none of your team's
        ninguna notificación con ese identificador, o ninguna de su equipo

        the server answered {status}: {reason}
        el servidor respondió {status}: {reason}

        the server's answer cannot be read
        la respuesta del servidor no se puede leer

        the server's answer cannot be read: {error}
        la respuesta del servidor no se puede leer: {error}

        "{id}" is no id
        "{id}" no es un identificador

        --server: "{server}" is not host:port
        --server: "{server}" no es host:port

        --limit takes 1 to 100000
        --limit admite de 1 a 100000

        there are more: --after {id}
        hay más: --after {id}

        there may be more: --after {id}
        puede haber más: --after {id}

        {notification}  {topic}, internal id {id}
        {notification}  {topic}, identificador interno {id}

        {notification}  {topic} on device {device}, internal id {id}
        {notification}  {topic} en el dispositivo {device}, identificador interno {id}

        its timeline was not recorded
        no se registró su cronología

        {time}  {state}  by {source}
        {time}  {state}  según {source}

        a broadcast for {audience}: {count} targeted
        una difusión para {audience}: {count} destinatarios

        a broadcast for {audience}: {count} targeted, {states}
        una difusión para {audience}: {count} destinatarios, {states}

        {notification}, internal id {id}: {what}
        {notification}, identificador interno {id}: {what}

        {notification} on device {device}, internal id {id}: {what}
        {notification} en el dispositivo {device}, identificador interno {id}: {what}

        {from} to {to}, all together
        del {from} al {to}, en total

        the export broke off: {what}
        la exportación se cortó: {what}

        {path} is copied to {copy}
        {path} se ha copiado a {copy}

        {file} of {copy} is restored to {path}
        {file} de {copy} se ha restaurado en {path}

        {copy} is restored to {path}
        {copy} se ha restaurado en {path}

        --only takes hub or relay; the server's own database belongs to the rest: restore all into an empty folder
        --only admite hub o relay; la base de datos del servidor va con lo demás: restaure todo en una carpeta vacía

        {path} cannot be read: {error}
        {path} no se puede leer: {error}

        {path} is no regular file
        {path} no es un archivo normal

        {name}: the server has no such file of this team's
        {name}: el servidor no tiene ese archivo de este equipo

        "{name}" is no file's name, 40 hexadecimal digits
        "{name}" no es el nombre de un archivo, 40 cifras hexadecimales

        deleted {name}
        borrado {name}

        --open goes with an app's id alone: aldaba settings APP --open
        --open va solo con el identificador de una aplicación: aldaba settings APP --open

        {change} is not NAME=VALUE
        {change} no es NAME=VALUE

        cannot listen on {address}: {error}
        no se puede escuchar en {address}: {error}

        withdrawn before it was sent
        retirada antes de enviarse

        the device is asked to take it off its screen
        se ha pedido al dispositivo que la quite de la pantalla

        there was nothing to take back
        no había nada que retirar

        ends: none
        finales: ninguno

        ends: {ends}
        finales: {ends}

        {row}  label {label}
        {row}  etiqueta {label}
        """)
}
