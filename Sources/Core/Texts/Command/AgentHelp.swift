extension CommandSection {
    /// The help of `agent` and `device`.
    static let agentHelp = CommandSection(
        """
        List the apps of the running agent with their device tokens, and those of UnifiedPush.
        Enumera las aplicaciones del agente en marcha, con sus tokens de dispositivo, y las de UnifiedPush.

        Move a running app to the foreground or the background.
        Pasa una aplicación en marcha al primer o al segundo plano.

        For trying what an app does on the way, where no screen tells where it stands: its delegate is called as
        Para probar qué hace una aplicación al cambiar de estado donde ninguna pantalla dice en cuál está: su \
        delegado se llama como

        Docs/lifecycle.md says. The state of an app whose manifest has the lifecycle focus follows its window instead.
        dice Docs/lifecycle.md. El estado de una aplicación cuyo manifiesto tiene el ciclo de vida focus sigue a su \
        ventana.

        The app's bundle id.
        El bundle id de la aplicación.

        foreground or background.
        foreground (primer plano) o background (segundo plano).

        Run and inspect the agent, which shows notifications on this device.
        Ejecuta y examina el agente, que muestra las notificaciones en este dispositivo.

        Without a subcommand it runs the agent, as `aldaba agent run`, whose options are its settings: `aldaba agent \
        run --help` lists them.
        Sin subórdenes ejecuta el agente, como `aldaba agent run`, cuyas opciones son sus ajustes: los enumera \
        `aldaba agent run --help`.

        notifications of this machine's own programs
        notificaciones de los programas de esta máquina

        The steps of a debug build, before and after which ALDABA_FAULT_FILE lets it die.
        Los pasos de una compilación de depuración antes y después de los cuales ALDABA_FAULT_FILE hace que termine.

        Run the agent (the default).
        Ejecuta el agente (lo que se hace por omisión).

        Print lines of JSON about the agent's progress on standard output.
        Escribe por la salida estándar líneas de JSON sobre lo que hace el agente.

        Show the state of the agent and its apps.
        Muestra el estado del agente y de sus aplicaciones.

        Install, list and remove apps on this device.
        Instala, enumera y quita aplicaciones de este dispositivo.

        Install an app's manifest, or replace it.
        Instala el manifiesto de una aplicación, o lo sustituye.

        The manifest, a JSON file.
        El manifiesto, un archivo JSON.

        List the installed apps.
        Enumera las aplicaciones instaladas.

        Print a JSON array of the manifests.
        Escribe una lista JSON con los manifiestos.

        Remove an app, its queued notifications and its device token.
        Quita una aplicación, sus notificaciones en espera y su token de dispositivo.

        List the devices that have enrolled.
        Enumera los dispositivos que se han dado de alta.

        The number of rows, 1 to 100000.
        El número de filas, de 1 a 100000.

        Only those after this id.
        Solo los posteriores a este identificador.

        Only those in this state: active, blocked or revoked.
        Solo los que están en este estado: active, blocked o revoked.

        Only those with this app: its topic.
        Solo los que tienen esta aplicación: su topic.

        Block a device.
        Bloquea un dispositivo.

        Its session ends within a second, and it can neither log in nor register. Its registrations stay: what is \
        sent to it is accepted, and waits as long as it may.
        Su sesión termina en menos de un segundo, y no puede iniciar otra ni registrarse. Sus registros se \
        conservan: lo que se le envía se acepta, y espera mientras pueda.

        The device's id, a decimal number.
        El identificador del dispositivo, un número decimal.

        Unblock a device.
        Desbloquea un dispositivo.

        List, block and revoke devices, ask for their keys, and simulate some.
        Enumera, bloquea y revoca dispositivos, pide sus claves y simula algunos.

        Revoke a device for good.
        Revoca un dispositivo para siempre.

        Its session ends within a second, it cannot log in again, pushes to its device tokens are refused
        Su sesión termina en menos de un segundo, no puede iniciar otra, los envíos a sus tokens de dispositivo se \
        rechazan

        with 410 Unregistered from the next request on, and what waits for it is dropped.
        con 410 Unregistered desde la siguiente petición, y lo que espera para él se descarta.

        The device's id, a decimal number, as `aldaba agent status` tells it.
        El identificador del dispositivo, un número decimal, como lo dice `aldaba agent status`.

        Print the public key to which a sender encrypts for a device token, as JSON.
        Escribe en JSON la clave pública con que un remitente cifra para un token de dispositivo.

        Its member keys is that of a Web Push subscription. `aldaba send --encryption-key` takes it.
        Su miembro keys es el de una suscripción de Web Push. La admite `aldaba send --encryption-key`.

        The device token, 64 hexadecimal digits.
        El token de dispositivo, 64 cifras hexadecimales.

        Enrol devices for load tests and write their device tokens, one a line.
        Da de alta dispositivos para pruebas de carga y escribe sus tokens de dispositivo, uno por línea.

        Connected devices acknowledge what they get, until the command is ended; then so do they.
        Los dispositivos conectados acusan lo que reciben hasta que termina la orden, y ellos con ella.

        The number of devices, 1 to 100000.
        El número de dispositivos, de 1 a 100000.

        Only enrol; do not connect.
        Solo darlos de alta, sin conectarlos.

        The file that gets the tokens when all devices are ready.
        El archivo que recibe los tokens cuando todos los dispositivos están listos.

        Have them join accounts of relaying, of so many devices each (1 to 64).
        Hace que se unan a cuentas del relé, de tantos dispositivos cada una (de 1 a 64).

        The app's topic.
        El topic de la aplicación.

        The app's team.
        El equipo de la aplicación.

        The port of the device channel, with --server.
        El puerto del canal de dispositivos, con --server.

        The environment of the device tokens, with --server: sandbox or production.
        El entorno de los tokens de dispositivo, con --server: sandbox o production.
        """)
}
