extension CommandSection {
    /// The findings of `doctor`.
    static let doctorMessages = CommandSection(
        """
        problem  {what}
        problema {what}

        ok       {what}
        correcto {what}

        note     {what}
        nota     {what}

        --topic, --token, --key, --p12, --apple and --server need --provider
        --topic, --token, --key, --p12, --apple y --server necesitan --provider

        --provider needs --topic, the app's bundle id
        --provider necesita --topic, el bundle id de la aplicación

        --apple is sandbox or production
        --apple es sandbox o production

        there is no file of authorities {path}
        no existe el archivo de autoridades {path}

        provider key {key} of team {team}
        clave de proveedor {key} del equipo {team}

        the certificate and its key in {path} can be read
        el certificado y su clave en {path} se pueden leer

        name the credential and the server as `send` takes them
        nombre la credencial y el servidor como los acepta `send`

        {server} accepts the credential for the topic {topic}
        {server} acepta la credencial para el topic {topic}

        no device token was checked
        no se comprobó ningún token de dispositivo

        name one with --token
        nombre uno con --token

        look at the address, and name the authority of its certificate with --ca
        mire la dirección, y nombre con --ca la autoridad de su certificado

        the topic {topic} has not the form of a bundle id
        el topic {topic} no tiene la forma de un bundle id

        the topic is the app's bundle id, such as com.example.todo
        el topic es el bundle id de la aplicación, como com.example.todo

        the device token is not in hexadecimal digits
        el token de dispositivo no está en dígitos hexadecimales

        an app has it as bytes; write each as two digits, without blanks and angle brackets
        una aplicación lo tiene en bytes; escriba cada uno con dos dígitos, sin espacios ni corchetes angulares

        the device token is live, for {topic} at {server}
        el token de dispositivo está vivo, para {topic} en {server}

        try again
        inténtelo de nuevo

        try again later
        inténtelo más tarde

        the device token is one of {other}, not of {environment}
        el token de dispositivo es de {other}, no de {environment}

        send with --apple {environment}; the build of the app decides it
        envíe con --apple {environment}; lo decide la compilación de la aplicación

        {server} answered {reason}: {sentence}
        {server} respondió {reason}: {sentence}

        {server} answered {reason}
        {server} respondió {reason}

        the key, the key's id and the team do not belong together, or the key was revoked; look at all three in the \
        developer account
        la clave, su id y el equipo no corresponden entre sí, o la clave fue revocada; mire los tres en la cuenta de \
        desarrollador

        this machine's clock is wrong by more than an hour; set it right
        el reloj de esta máquina se desvía más de una hora; póngalo en hora

        name a credential with --key and --team, or --p12
        nombre una credencial con --key y --team, o --p12

        the key is for the other environment; send with --apple of that one, or make a key for both
        la clave es del otro entorno; envíe con el --apple de ese, o cree una clave para ambos

        the key may not send to this app; use a key whose topics contain it
        la clave no puede enviar a esta aplicación; use una clave cuyos topics la contengan

        the certificate is not for this environment, has ended, or was revoked; make another
        el certificado no es de este entorno, ha caducado o fue revocado; cree otro

        the topic is the app's bundle id, and the credential must be of the app's team
        el topic es el bundle id de la aplicación, y la credencial debe ser del equipo de la aplicación

        the token is malformed, of the other environment, or of another server; have the app register again
        el token está mal formado, es del otro entorno o de otro servidor; haga que la aplicación se registre otra vez

        the token is another app's; send it with that app's bundle id
        el token es de otra aplicación; envíe con el bundle id de esa aplicación

        delete the token; the app registers another one when it runs
        borre el token; la aplicación registra otro cuando se ejecuta

        the server's reason says what is wrong with the request
        la razón del servidor dice qué está mal en la petición

        data folder {path}, to be made in {parent}
        carpeta de datos {path}, que se creará en {parent}

        data folder {path}
        carpeta de datos {path}

        {what}: writable
        {what}: con permiso de escritura

        {what}: others can write to it
        {what}: otros pueden escribir en ella

        look what is in it, then take that away: chmod go-w {path}
        mire qué contiene, y después quite ese permiso: chmod go-w {path}

        make it writable, or choose another with --data
        dele permiso de escritura, o elija otra con --data

        media: {used} of {quota} bytes used
        archivos: {used} de {quota} bytes usados

        {what}: the quota is full
        {what}: el cupo está lleno

        delete files with `aldaba media delete NAME`, or raise --media-quota
        borre archivos con `aldaba media delete NAME`, o suba --media-quota

        media: {path} cannot be read: {error}
        archivos: {path} no se puede leer: {error}

        make it readable for this user
        dé a este usuario permiso de lectura

        space: {path} cannot be looked at: {error}
        espacio: {path} no se puede mirar: {error}

        space: the disk of {path} is mounted read-only
        espacio: el disco de {path} está montado solo para lectura

        mount it for writing, or choose another folder with --data
        móntelo para escritura, o elija otra carpeta con --data

        space: {size} MiB free for {path}
        espacio: {size} MiB libres para {path}

        {what}: the disk is full
        {what}: el disco está lleno

        free some space: when there is none, pushes are refused with 503 until there is again
        libere espacio: cuando no queda, los envíos se rechazan con 503 hasta que lo haya

        no `{program}` uses the data folder
        ningún `{program}` usa la carpeta de datos

        {program}: {what}
        {program}: {what}

        {key}: the system chooses a free port
        {key}: el sistema elige un puerto libre

        {key} {port} is free
        {key} {port} está libre

        {key} {port} is the running server's
        {key} {port} es del servidor en marcha

        {what} by pid {process}
        {what}, proceso {process}

        {key} {port} is in use
        {key} {port} está en uso

        choose another with --{key} N, or take free ones with --ephemeral
        elija otro con --{key} N, o use puertos libres con --ephemeral

        {path}: ended {days} days ago
        {path}: caducó hace {days} días

        {path}: {days} days left
        {path}: quedan {days} días

        {path}: {days} days left, its key fits
        {path}: quedan {days} días, su clave corresponde

        {what}; `up` makes a new one in time
        {what}; `up` crea otro a tiempo

        {what}; the authority of this folder did not sign it: `serve` takes it, and `up` would replace it
        {what}; no lo firmó la autoridad de esta carpeta: `serve` lo usa, y `up` lo sustituiría

        {path}: none yet; `up` makes it
        {path}: aún no existe; lo crea `up`

        put the authority's present certificate in its place, for the commands of this machine
        ponga en su lugar el certificado actual de la autoridad, para las órdenes de esta máquina

        put the two files right
        corrija los dos archivos

        remove {path}; `up` makes certificate and key anew
        borre {path}; `up` vuelve a crear el certificado y la clave

        renew it; a running server reads it again by itself, and at once on SIGHUP
        renuévelo; un servidor en marcha lo vuelve a leer por sí mismo, y en seguida con SIGHUP

        the agent's socket: {path}
        el socket del agente: {path}

        database {path}: in order
        base de datos {path}: correcta

        database {path}: {error}
        base de datos {path}: {error}

        make the folder readable
        dé permiso de lectura a la carpeta

        the agent's database {path} cannot be used: {error}
        la base de datos del agente {path} no se puede usar: {error}

        start the agent again: it puts a damaged file aside by itself, begins a new one, and enrols anew
        arranque el agente otra vez: aparta por sí mismo un archivo dañado, empieza otro y se da de alta de nuevo

        the running server stores what it is sent
        el servidor en marcha guarda lo que se le envía

        the running server refuses pushes with 503 since {time}: {reason}
        el servidor en marcha rechaza los envíos con 503 desde {time}: {reason}

        once its disk takes what is written, it goes on by itself
        cuando su disco admita lo que se escribe, continúa por sí mismo

        the running server does not say how it is: {error}
        el servidor en marcha no dice cómo está: {error}

        look at its log
        mire su registro

        `aldaba hub credential add` takes its successor
        `aldaba hub credential add` admite la siguiente

        the hubs' credentials cannot be read: {error}
        las credenciales de los hubs no se pueden leer: {error}

        no session bus: notifications are not shown on a screen
        no hay bus de sesión: las notificaciones no se muestran en una pantalla

        log in to a desktop, or set DBUS_SESSION_BUS_ADDRESS
        inicie sesión en un escritorio, o ponga DBUS_SESSION_BUS_ADDRESS

        session bus at {address}
        bus de sesión en {address}

        demo app {path}
        aplicación de muestra {path}

        the demo app {path} is missing
        falta la aplicación de muestra {path}

        the demo app {path} is missing; build it with `swift build --product aldaba`
        falta la aplicación de muestra {path}; compílela con `swift build --product aldaba`

        build it with `swift build --product aldaba`
        compílela con `swift build --product aldaba`

        provider keys: none in {path}
        claves de proveedor: ninguna en {path}

        make one with `aldaba key create`
        cree una con `aldaba key create`

        put the file right, or make a key with `aldaba key create`
        corrija el archivo, o cree una clave con `aldaba key create`

        {name}: a token of it is refused: {error}
        {name}: un token suyo se rechaza: {error}

        sign with another key, or make one with `aldaba key create`
        firme con otra clave, o cree una con `aldaba key create`

        {name}: its tokens are taken for team {team}
        {name}: sus tokens se admiten para el equipo {team}

        {name}: the register cannot be read: {error}
        {name}: el registro no se puede leer: {error}

        Docs/back-up.md says how to go on
        Docs/back-up.md dice cómo seguir

        the running server refuses a provider token: {error}
        el servidor en marcha rechaza un token de proveedor: {error}

        look whether its clock is right, and whether it runs on this folder
        mire si su reloj está en hora, y si funciona sobre esta carpeta

        the running server's certificate is trusted, and it takes a provider token
        el certificado del servidor en marcha es de confianza, y el servidor admite un token de proveedor

        commands and agents name the authority of its certificate with --ca, --agent-ca
        las órdenes y los agentes nombran la autoridad de su certificado con --ca, --agent-ca

        agent: none answers at {path}
        agente: ninguno responde en {path}

        agent: it answers something else
        agente: responde otra cosa

        {name}, without a server
        {name}, sin servidor

        {name}, connected to its server
        {name}, conectado a su servidor

        {name}, not connected to its server
        {name}, sin conexión con su servidor

        {name}, not connected to its server: {error}
        {name}, sin conexión con su servidor: {error}

        it tries again by itself, and logs each failure
        lo vuelve a intentar por sí mismo, y anota cada fallo

        agent: {error}
        agente: {error}
        """)
}
