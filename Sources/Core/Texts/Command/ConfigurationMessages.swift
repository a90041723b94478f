extension CommandSection {
    /// Messages on a command line, a configuration and a data folder.
    static let configurationMessages = CommandSection(
        """
        `{path}` has no subcommands, and so no "{word}"
        `{path}` no tiene subórdenes, y por tanto no tiene "{word}"

        there is no command `{name}`
        no existe la orden `{name}`

        there is no command `{name}`; did you mean `{other}`?
        no existe la orden `{name}`; ¿quería decir `{other}`?

        `{path}` has: {names}
        `{path}` tiene: {names}

        the configuration cannot be used:
        la configuración no se puede usar:

        {origin}: {what}; {remedy}
        {origin}: {what}; {remedy}

        the file is not YAML
        el archivo no es YAML

        the file is not a list of keys
        el archivo no es una lista de claves

        it holds one `key: value` a line
        contiene una `clave: valor` por línea

        there is no key "{name}"
        no existe la clave "{name}"

        {key} is a list or a mapping
        {key} es una lista o un objeto

        it takes {what}
        admite {what}

        this word has no place here
        esta palabra sobra aquí

        flags are written --name value
        las opciones se escriben --nombre valor

        a value is missing
        falta un valor

        {program} has no such flag
        {program} no tiene esa opción

        did you mean {key}?
        ¿quería decir {key}?

        all keys are listed by `aldaba serve --help` and `aldaba agent run --help`
        todas las claves están en `aldaba serve --help` y `aldaba agent run --help`

        text
        un texto

        path
        una ruta

        port, 0 to 65535 (0: a free one)
        un puerto, de 0 a 65535 (0: uno libre)

        an IP address, such as 127.0.0.1, ::1 or 0.0.0.0
        una dirección IP, como 127.0.0.1, ::1 o 0.0.0.0

        an address https://host:port
        una dirección https://host:port

        true or false
        true o false

        whole number, {least} to {most}
        un número entero, de {least} a {most}

        addresses or ranges like 10.0.0.0/8, separated by commas; none
        direcciones o rangos como 10.0.0.0/8, separados por comas; none

        hosts, or host:port, separated by commas
        servidores, o host:port, separados por comas

        {key} is "{value}"
        {key} es "{value}"

        {key} has a value that it cannot take
        {key} tiene un valor que no admite

        development with host {host}
        development con el host {host}

        development needs no credentials, so it goes with host 127.0.0.1 or ::1 only, or with test-network
        development no pide credenciales, así que solo vale con el host 127.0.0.1 o ::1, o con test-network

        {key} with host {host}
        {key} con el host {host}

        whoever connects is accepted, so it goes with host 127.0.0.1 or ::1 only
        se acepta a quien se conecte, así que solo vale con el host 127.0.0.1 o ::1

        {key} is {value}, as {other}
        {key} es {value}, igual que {other}

        every listener has a port of its own
        cada uno necesita su propio puerto

        --config: there is no file {path}; give one that can be read
        --config: no existe el archivo {path}; dé uno que se pueda leer

        {origin} and {other} both give the enrolment key; give one of them
        {origin} y {other} dan los dos la clave de alta; dé uno de ellos

        {path}: there is no such file; it holds the key in one line
        {path}: ese archivo no existe; contiene la clave en una línea

        {path}: it holds the key in one line, and nothing else
        {path}: contiene la clave en una línea, y nada más

        the data folder is in use by pid {process} ({path})
        la carpeta de datos la usa el proceso {process} ({path})

        the data folder is in use by another process ({path})
        la carpeta de datos la usa otro proceso ({path})

        stop that one, or choose another folder with --data
        párelo, o elija otra carpeta con --data

        choose another folder with --data, or change its owner
        elija otra carpeta con --data, o cambie su propietario

        there is no folder {path}; `aldaba up` and `aldaba serve` begin one, and so does `mkdir -m 700`
        no existe la carpeta {path}; la crean `aldaba up` y `aldaba serve`, y también `mkdir -m 700`

        no server has left its addresses in {path}; start `aldaba up` or `aldaba serve` there, or name its folder \
        with --data
        ningún servidor ha dejado sus direcciones en {path}; arranque allí `aldaba up` o `aldaba serve`, o nombre su \
        carpeta con --data

        {refusal}; choose another
        {refusal}; elija otra

        {path} is no server's data folder; name one with --data, or begin one with `aldaba up`
        {path} no es la carpeta de datos de un servidor; nombre una con --data, o empiece una con `aldaba up`

        {error}; make it writable and your own, or choose another folder with --data
        {error}; hágala suya y con permiso de escritura, o elija otra carpeta con --data

        warning: {what}
        aviso: {what}

        {error}. Give --certificate and --certificate-key, or let `aldaba up` make them for development
        {error}. Dé --certificate y --certificate-key, o deje que `aldaba up` los cree para desarrollar

        {key} accepts whoever connects, so it goes with development only: add --development, or leave it out
        {key} acepta a quien se conecte, así que solo vale con development: añada --development, u omítalo
        """)
}
