extension CommandSection {
    /// The help of `relay`.
    static let relayHelp = CommandSection(
        """
        Send a file to another device. An interrupted transfer is resumed.
        Envía un archivo a otro dispositivo. Una transferencia interrumpida se reanuda.

        How many seconds it may take, 86400 at most; what is interrupted goes on when the device is back.
        Cuántos segundos puede tardar, 86400 como máximo; lo interrumpido continúa cuando vuelve el dispositivo.

        Show the state of a command by its id; without one, list the last commands.
        Muestra el estado de una orden por su identificador; sin él, enumera las últimas órdenes.

        The id, as `aldaba relay life` and `aldaba relay log` print it.
        El identificador, como lo escriben `aldaba relay life` y `aldaba relay log`.

        Cancel a running command.
        Anula una orden en curso.

        `aldaba relay life` lists the ids. What the other device has done already stays done.
        `aldaba relay life` enumera los identificadores. Lo que el otro dispositivo ya hizo queda hecho.

        The command's id.
        El identificador de la orden.

        List the media players of another device; `--do pause --player NAME` and others order one.
        Enumera los reproductores de otro dispositivo; `--do pause --player NAME` y otros manejan uno.

        list, play, pause or stop.
        list, play, pause o stop.

        The player's name, as it is listed.
        El nombre del reproductor, como aparece en la lista.

        Continue playback on another device; it pauses here once it plays there.
        Sigue la reproducción en otro dispositivo; aquí se pausa cuando suena allí.

        The player here; without it the one that plays.
        El reproductor de aquí; sin él, el que suena.

        The player there; without it one that opens such addresses.
        El reproductor de allí; sin él, uno que abra esas direcciones.

        Print or set the clipboard of another device.
        Escribe o cambia el portapapeles de otro dispositivo.

        The text to put there.
        El texto que se pone allí.

        List or fetch the photos that another device shares.
        Enumera o recibe las fotos que comparte otro dispositivo.

        The name of the photo that is to be sent; it is put where files of other devices are.
        El nombre de la foto que se ha de enviar; se pone donde están los archivos de otros dispositivos.

        The name of the photo of which a small picture is wanted, a PNG that --output takes.
        El nombre de la foto de la que se quiere una miniatura, un PNG que recibe --output.

        The file into which the small picture is written.
        El archivo en que se escribe la miniatura.

        The page, of a hundred photos each, from 0.
        La página, de cien fotos cada una, desde 0.

        Run a listed program on another device, and print its output.
        Ejecuta en otro dispositivo un programa de su lista, y escribe su salida.

        The name under which it is listed.
        El nombre con que está en la lista.

        Pair another device: compare the six digits on both screens.
        Empareja otro dispositivo: compare las seis cifras de las dos pantallas.

        Without a word, on a device that is one of yours: it prints a word. With it, on the new device.
        Sin código, en un dispositivo que ya es suyo: escribe un código. Con él, en el dispositivo nuevo.

        The word that the other device printed.
        El código que escribió el otro dispositivo.

        Remove a device from your account: the others get a new key, and absent ones must be paired again.
        Saca un dispositivo de su cuenta: los demás reciben una clave nueva, y los ausentes se deben emparejar de \
        nuevo.

        The device's id, or its name where no other has it.
        El identificador del dispositivo, o su nombre si no lo tiene otro.

        Print the log of commands from and to other devices as JSON objects, the oldest first.
        Escribe el registro de órdenes de otros dispositivos y para ellos como objetos JSON, las más antiguas primero.

        What was asked from here has `asker`, the app; both devices note the same `id`.
        Lo que se pidió desde aquí tiene `asker`, la aplicación; los dos dispositivos anotan el mismo `id`.

        Set what other devices may fetch and run here.
        Dice qué pueden recibir y ejecutar aquí otros dispositivos.

        Print what other devices may fetch and run here, as JSON.
        Escribe en JSON qué pueden recibir y ejecutar aquí otros dispositivos.

        Set the folder for files from other devices.
        Pone la carpeta de los archivos de otros dispositivos.

        The folder.
        La carpeta.

        Share the photos of a folder; without a folder, stop sharing.
        Comparte las fotos de una carpeta; sin carpeta, deja de compartir.

        Let other devices run a program by a name; without a program, stop.
        Permite que otros dispositivos ejecuten un programa por un nombre; sin programa, deja de permitirlo.

        Arguments that begin with - follow a --: aldaba relay share program free -- df -h /
        Los argumentos que empiezan por - van después de --: aldaba relay share program free -- df -h /

        The name, 1 to 64 bytes.
        El nombre, de 1 a 64 bytes.

        The program, by its path or its name in PATH, and its arguments.
        El programa, por su ruta o su nombre en PATH, y sus argumentos.

        Find your other devices, open addresses there, and call their apps.
        Encuentra sus otros dispositivos, abre direcciones allí y llama a sus aplicaciones.

        on a device that is yours already
        en un dispositivo que ya es suyo

        List your other devices and their apps.
        Enumera sus otros dispositivos y sus aplicaciones.

        Print your other devices as they connect and disconnect, until Ctrl-C.
        Escribe sus otros dispositivos según se conectan y desconectan, hasta Ctrl-C.

        Open an address on another device.
        Abre una dirección en otro dispositivo.

        The address, such as https://example.org/.
        La dirección, como https://example.org/.

        The bundle id of the app that is to open it; without it the device chooses.
        El bundle id de la aplicación que debe abrirla; sin él, elige el dispositivo.

        An https page that is opened there if the address cannot be.
        Una página https que se abre allí si no se puede abrir la dirección.

        The seconds to wait for the device's answer, 1 to 540.
        Los segundos que se espera la respuesta del dispositivo, de 1 a 540.

        Call an app service on another device, and print its response and the round trip.
        Llama a un servicio de una aplicación de otro dispositivo, y escribe su respuesta y el tiempo de ida y vuelta.

        The service's name, or APP/SERVICE as `relay devices` lists it; every device has `ping`.
        El nombre del servicio, o APP/SERVICE como lo enumera `relay devices`; todo dispositivo tiene `ping`.

        The message, a JSON object; - reads it from standard input. Without it a ping.
        El mensaje, un objeto JSON; - lo lee de la entrada estándar. Sin él, un ping.

        The seconds to wait for the answer, 1 to 540.
        Los segundos que se espera la respuesta, de 1 a 540.

        The call's id, a UUID, under which it is carried out once and `relay life` tells of it.
        El identificador de la llamada, un UUID, con el que se hace una sola vez y por el que `relay life` informa \
        de ella.

        Ask so many times, a million at most, and tell how long the answers took.
        Pregunta tantas veces, un millón como máximo, y dice cuánto tardaron las respuestas.

        With --count, how many questions are under way at a time, 64 at most.
        Con --count, cuántas preguntas hay en curso a la vez, 64 como máximo.

        Have the server keep it for a device that is away, for five minutes at most.
        Hace que el servidor la guarde para un dispositivo ausente, cinco minutos como máximo.

        Show this device's id, name and account.
        Muestra el identificador, el nombre y la cuenta de este dispositivo.
        """)
}
