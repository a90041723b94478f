extension CommandSection {
    /// Messages of `agent`, `device` and `center`.
    static let agentMessages = CommandSection(
        """
        this goes into the data folder of that agent; name it with --data
        esto va a la carpeta de datos de ese agente; nómbrela con --data

        no agent answers at {paths}; start `aldaba agent`, or name its data folder with --data
        ningún agente responde en {paths}; arranque `aldaba agent`, o nombre su carpeta de datos con --data

        the agent has ended
        el agente ha terminado

        nobody answered in time
        nadie respondió a tiempo

        the agent's answer cannot be read; are agent and command of one release?
        la respuesta del agente no se puede leer; ¿son agente y orden de la misma versión?

        No app is installed; `aldaba agent app install` installs one.
        No hay ninguna aplicación instalada; `aldaba agent app install` instala una.

        agent     process {process}
        agente       proceso {process}

        device    {what}
        dispositivo  {what}

        no device token yet
        aún no hay token de dispositivo

        no endpoint yet
        aún no hay dirección

        {count} waiting
        {count} en espera

        not enrolled yet
        aún sin dar de alta

        not enrolled
        sin dar de alta

        server    {what}
        servidor     {what}

        connected
        conectado

        none: only the apps' own notifications
        ninguno: solo las notificaciones de las propias aplicaciones

        {what}; tried again and again
        {what}; se intenta una y otra vez

        not connected
        sin conexión

        not connected: {error}
        sin conexión: {error}

        screen    {what}
        pantalla     {what}

        the desktop's
        la del escritorio

        none: notifications are kept and not shown
        ninguna: las notificaciones se guardan y no se muestran

        none now: {error}
        ninguna ahora: {error}

        app       {name}  runs, {what}, {count} in the list, badge {badge}
        aplicación   {name}  en marcha, {what}, {count} en la lista, globo {badge}

        app       {name}  does not run, {what}, {count} in the list, badge {badge}
        aplicación   {name}  parada, {what}, {count} en la lista, globo {badge}

        not asked yet
        aún sin preguntar

        not allowed
        sin permiso

        allowed
        con permiso

        allowed quietly
        con permiso, sin sonido

        allowed for now
        con permiso por ahora

        unknown
        desconocido

        service extension {version}: {outcomes}; {failed} of {all} failed
        extensión de servicio {version}: {outcomes}; fallaron {failed} de {all}

        no device token: {error}
        sin token de dispositivo: {error}

        there is no file {path}
        no existe el archivo {path}

        no app {app} is installed; `aldaba agent app list` shows those that are
        la aplicación {app} no está instalada; `aldaba agent app list` muestra las que lo están

        a server is named by both of --agent-server HOST:PORT and --agent-control https://HOST:PORT
        un servidor se nombra con las dos: --agent-server HOST:PORT y --agent-control https://HOST:PORT

        there is no session bus; set DBUS_SESSION_BUS_ADDRESS, or choose --presenter headless
        no hay bus de sesión; ponga DBUS_SESSION_BUS_ADDRESS, o elija --presenter headless

        --state: "{state}" is none of active, blocked and revoked
        --state: "{state}" no es active, blocked ni revoked

        "{text}" is no device's id, a decimal number
        "{text}" no es el identificador de un dispositivo, un número decimal

        the register has no device {id} that could be blocked
        el registro no tiene ningún dispositivo {id} que se pueda bloquear

        the register has no device {id} that could be unblocked
        el registro no tiene ningún dispositivo {id} que se pueda desbloquear

        the register has no device {id} that could be revoked
        el registro no tiene ningún dispositivo {id} que se pueda revocar

        revoked device {id}
        dispositivo {id} revocado

        blocked device {id}
        dispositivo {id} bloqueado

        unblocked device {id}
        dispositivo {id} desbloqueado

        {count} devices cannot be made; 1 to 100000 can
        no se pueden crear {count} dispositivos; sí de 1 a 100000

        --relay takes 1 to 64
        --relay admite de 1 a 64

        --topic takes a bundle id, --team ten characters A-Z0-9
        --topic admite un bundle id, --team diez caracteres A-Z0-9

        --environment takes sandbox or production, --device-port takes 1 to 65535
        --environment admite sandbox o production, --device-port admite de 1 a 65535

        device {id} was not let in: its secret was refused (401)
        el dispositivo {id} no pudo entrar: su secreto se rechazó (401)

        the device channel cannot be asked: {what}
        no se puede preguntar al canal de dispositivos: {what}

        the server does not enrol devices ({status}); set {variable}
        el servidor no da de alta dispositivos ({status}); ponga {variable}

        the server's answer to the enrolment holds no id
        la respuesta del servidor al alta no tiene identificador

        the server does not register {topic} of team {team}: {error}; `aldaba app list` shows the apps
        el servidor no registra {topic} del equipo {team}: {error}; `aldaba app list` muestra las aplicaciones

        cannot make a folder: {error}
        no se puede crear una carpeta: {error}

        no browser is opened: {error}
        no se abre ningún navegador: {error}

        no browser is opened: {error}; open the address above
        no se abre ningún navegador: {error}; abra la dirección de arriba
        """)
}
