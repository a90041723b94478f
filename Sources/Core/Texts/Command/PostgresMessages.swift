extension CommandSection {
    /// Messages on a server whose data is in PostgreSQL.
    static let postgresMessages = CommandSection(
        """
        the data of {folder} is in PostgreSQL; set postgres as before, or name another data folder
        los datos de {folder} están en PostgreSQL; ajuste postgres como antes, o indique otra carpeta de datos

        {folder} has its data in {file}; move it with `aldaba migrate`, or name another data folder
        {folder} tiene sus datos en {file}; trasládelos con `aldaba migrate`, o indique otra carpeta de datos

        the data of {folder} is in PostgreSQL already
        los datos de {folder} ya están en PostgreSQL

        the data of {folder} is in {file} already
        los datos de {folder} ya están en {file}

        {path} is there already; move it to another place first
        {path} ya existe; llévelo antes a otro lugar

        the database has the data of a server; name an empty one
        la base de datos tiene los datos de un servidor; indique una vacía

        the rows of {table} are not those that were read; nothing was moved
        las filas de {table} no son las que se leyeron; no se ha trasladado nada

        {count} rows moved; what is there now was compared with each of them
        {count} filas trasladadas; lo que hay ahora se ha comparado con cada una

        name one direction: --to-postgres URL or --to-sqlite
        indique una dirección: --to-postgres URL o --to-sqlite

        Move a server's data to PostgreSQL, or back.
        Traslada los datos de un servidor a PostgreSQL, o de vuelta.

        The server must be stopped, unless --stop-server is given: then the data are copied while it runs, the server is \
        stopped, and what has changed meanwhile is moved.
        El servidor debe estar parado, salvo con --stop-server: entonces los datos se copian mientras funciona, se para el \
        servidor, y se traslada lo que ha cambiado entretanto.

        Copy the data while the server runs, and stop it for what has changed meanwhile.
        Copia los datos mientras el servidor funciona, y lo para para lo que ha cambiado entretanto.

        stop the server first; --stop-server goes with --to-postgres
        pare antes el servidor; --stop-server va con --to-postgres

        the copy is complete; process {process} is stopped now
        la copia está completa; ahora se para el proceso {process}

        process {process} cannot be stopped: {reason}; nothing was moved
        no se puede parar el proceso {process}: {reason}; no se ha trasladado nada

        the server has been stopped for {seconds} seconds; start it with the setting postgres
        el servidor lleva {seconds} segundos parado; inícielo con el ajuste postgres

        process {process} is not the server, which may run in a container; stop it, and move without --stop-server
        el proceso {process} no es el servidor, que quizá funcione en un contenedor; párelo, y traslade sin --stop-server

        the data of {folder} moved to another database meanwhile; repeat the command
        los datos de {folder} se han trasladado entretanto a otra base de datos; repita la orden

        the change is made; whether it counts at all servers is not known: {reason}
        el cambio está hecho; no se sabe si vale en todos los servidores: {reason}

        the change counts at {count} servers; whether it counts at these, which do not answer, is not known: {numbers}
        el cambio vale en {count} servidores; no se sabe si vale en estos, que no responden: {numbers}

        the keys of the database's device tokens are in the data folder of the server that made them; start that one first
        las claves de los tokens de dispositivo de la base de datos están en la carpeta del servidor que los hizo; inicie ese primero

        the server was stopped, and nothing was moved; start it as before
        el servidor se ha parado, y no se ha trasladado nada; inícielo como antes

        The notifications, the register, the hubs, the relay, the people of the console and the audit log move; files \
        stay in the data folder. Each row is compared after the move. What was moved stays where it was under another name.
        Se trasladan las notificaciones, el registro, los hubs, el relé, las personas de la consola y el registro de \
        auditoría; los archivos se quedan en la carpeta de datos. Cada fila se compara después. Lo trasladado queda donde estaba con \
        otro nombre.

        The address of an empty database.
        La dirección de una base de datos vacía.

        Move back to server.sqlite, hub.sqlite and relay.sqlite.
        Traslada de vuelta a server.sqlite, hub.sqlite y relay.sqlite.

        the data has moved to PostgreSQL meanwhile; do it again
        los datos se han trasladado entretanto a PostgreSQL; hágalo otra vez

        the data of {folder} is in PostgreSQL; copy that with pg_dump, and the folder as it is
        los datos de {folder} están en PostgreSQL; cópielos con pg_dump, y la carpeta tal cual

        another server uses this database; stop it, or give all of them the setting nats
        otro servidor usa esta base de datos; deténgalo, o dé a todos el ajuste nats

        a server without the setting nats uses this database; stop it, or give it the setting
        un servidor sin el ajuste nats usa esta base de datos; deténgalo, o dele el ajuste

        PostgreSQL {version}, synchronous standbys: {names}
        PostgreSQL {version}, réplicas síncronas: {names}

        nats is for servers that share a database; set postgres too
        nats es para servidores que comparten una base de datos; ajuste también postgres

        nats names no server; write nats://HOST:4222
        nats no indica ningún servidor; escriba nats://HOST:4222

        nats has an address that is none of a NATS server; write nats://HOST:4222 or tls://HOST:4222
        nats tiene una dirección que no es de un servidor NATS; escriba nats://HOST:4222 o tls://HOST:4222

        nats has the parameter {name}, which is not known; there are ca and credentials
        nats tiene el parámetro {name}, que no se conoce; hay ca y credentials

        the NATS server {server} cannot be used: {reason}
        el servidor NATS {server} no se puede usar: {reason}

        the keys in {path} are not those of the other servers; device tokens of one would be unknown to the other
        las claves de {path} no son las de los demás servidores; los tokens de dispositivo de uno serían desconocidos para otro

        the data of {folder} is not in PostgreSQL: there is one server
        los datos de {folder} no están en PostgreSQL: hay un solo servidor

        server {number}  ended  version {version}
        servidor {number}  terminado  versión {version}

        server {number}  does not answer  version {version}
        servidor {number}  no responde  versión {version}

        server {number}  runs  version {version}
        servidor {number}  en marcha  versión {version}

        NATS connected
        NATS conectado

        NATS not connected
        NATS sin conexión

        register current
        registro al día

        register behind
        registro atrasado

        the change counts at all {count} servers
        el cambio vale en los {count} servidores

        these servers have not read the change yet: {numbers}
        estos servidores aún no han leído el cambio: {numbers}

        the settings can be used
        los ajustes se pueden usar

        PostgreSQL's {setting} is {value}; {remedy}
        {setting} de PostgreSQL está en {value}; {remedy}

        Check the settings and PostgreSQL, say what is wrong, and end.
        Comprueba los ajustes y PostgreSQL, dice qué está mal, y termina.

        PostgreSQL's {setting} is {value}
        {setting} de PostgreSQL está en {value}

        set {setting} to {value} in postgresql.conf
        ponga {setting} en {value} en postgresql.conf

        PostgreSQL cannot be used: {reason}
        no se puede usar PostgreSQL: {reason}

        see that it runs, and that this user may reach it ({path})
        compruebe que funciona, y que este usuario puede acceder a él ({path})

        use PostgreSQL 15 or later
        use PostgreSQL 15 o posterior

        the database has version {found} of the tables, and this program {own}; run the program of that version
        la base de datos tiene la versión {found} de las tablas, y este programa la {own}; ejecute el programa de esa versión
        """)
}
