extension CommandSection {
    /// The help of keys, service accounts, teams, environments and webhooks.
    static let keyHelp = CommandSection(
        """
        Make, list and revoke keys by which new devices enrol.
        Crea, enumera y revoca las claves con que se dan de alta los dispositivos nuevos.

        They count beside the one that the server is configured with. A device shows its key once, when it enrols;
        Valen además de la que tiene el servidor en su configuración. Un dispositivo presenta su clave una sola vez, \
        cuando se da de alta;

        what becomes of the key later is nothing to it.
        lo que sea después de la clave no le afecta.

        Make a key and print it. It is shown this once: the register has only its hash.
        Crea una clave y la escribe. Solo se muestra esta vez: el registro guarda solo su hash.

        The key's id: 1 to 64 letters, digits, - and _.
        El identificador de la clave: de 1 a 64 letras, cifras, - y _.

        The most devices that may enrol with the key; without it any number.
        Cuántos dispositivos pueden darse de alta con la clave como máximo; sin ella, los que sean.

        For how many hours it counts; without it for ever.
        Cuántas horas vale; sin ella, para siempre.

        List the keys with their remaining quotas.
        Enumera las claves con los cupos que les quedan.

        Revoke a key for good. Devices that have enrolled by it stay.
        Revoca una clave para siempre. Los dispositivos que se dieron de alta con ella siguen.

        The key's id, as `aldaba enrolment-key list` tells it.
        El identificador de la clave, como lo dice `aldaba enrolment-key list`.

        Show the environments of device tokens and certificates.
        Muestra los entornos de tokens de dispositivo y certificados.

        A server has one, by its setting `environment`; `aldaba up` has sandbox.
        Un servidor tiene uno, por su ajuste `environment`; `aldaba up` tiene sandbox.

        List the environments.
        Enumera los entornos.

        Show an environment.
        Muestra un entorno.

        sandbox or production.
        sandbox o production.

        Import a key that was made elsewhere, such as Apple's: AuthKey_KEYID.p8.
        Importa una clave que se creó en otra parte, como la de Apple: AuthKey_KEYID.p8.

        Its public half goes into the server's register, so that what signs with it for APNs is let in here \
        unchanged. Its private half is copied to the data folder's keys, unless --public-only is given.
        Su mitad pública va al registro del servidor, de modo que lo que firma con ella para APNs se admite aquí sin \
        cambios. Su mitad privada se copia a las claves de la carpeta de datos, salvo con --public-only.

        The file; its name tells the key's id.
        El archivo; su nombre dice el identificador de la clave.

        The team that the key signs for: ten characters A-Z0-9.
        El equipo para el que firma la clave: diez caracteres A-Z0-9.

        Leave the private half where it is: `send` and `key token` cannot sign with the key then.
        Deja la mitad privada donde está: `send` y `key token` no pueden firmar entonces con la clave.

        Make, import, list and revoke provider keys, and sign provider tokens with them.
        Crea, importa, enumera y revoca claves de proveedor, y firma con ellas tokens de proveedor.

        Make a key: its private half as AuthKey_KEYID.p8, its public half in the server's register.
        Crea una clave: su mitad privada como AuthKey_KEYID.p8, su mitad pública en el registro del servidor.

        List the keys in the server's register.
        Enumera las claves del registro del servidor.

        Show a key of the server's register.
        Muestra una clave del registro del servidor.

        Copy a key's private half, AuthKey_KEYID.p8, out of the data folder.
        Copia la mitad privada de una clave, AuthKey_KEYID.p8, fuera de la carpeta de datos.

        The folder that gets the file.
        La carpeta que recibe el archivo.

        Revoke a key for good: the server refuses its tokens from the next request on.
        Revoca una clave para siempre: el servidor rechaza sus tokens desde la siguiente petición.

        Connections that were opened with it stay open, and get 403 InvalidProviderToken.
        Las conexiones que se abrieron con ella siguen abiertas, y reciben 403 InvalidProviderToken.

        Print a provider token, good for one hour.
        Escribe un token de proveedor, que vale una hora.

        For the header `authorization: bearer TOKEN` of the provider API.
        Para la cabecera `authorization: bearer TOKEN` de la API de proveedores.

        Make, list and revoke service accounts, with which FCM's libraries send.
        Crea, enumera y revoca cuentas de servicio, con las que envían las bibliotecas de FCM.

        Make a service account: a JSON file for FCM's libraries, its public key in the server's register.
        Crea una cuenta de servicio: un archivo JSON para las bibliotecas de FCM, y su clave pública en el registro \
        del servidor.

        The team is the project; its id is the team's in lower case.
        El equipo es el proyecto; su identificador es el del equipo en minúsculas.

        The team that it sends for: ten characters A-Z0-9.
        El equipo para el que envía: diez caracteres A-Z0-9.

        The server's address, https://host:port, as providers reach its control-port (default: that of the server \
        that runs on the data folder).
        La dirección del servidor, https://host:port, con la que los proveedores llegan a su control-port (por \
        omisión: la del servidor en marcha sobre la carpeta de datos).

        The file (default: service-account-KEY.json in the folder of keys).
        El archivo (por omisión: service-account-KEY.json en la carpeta de las claves).

        List the service accounts in the server's register, also those that were revoked.
        Enumera las cuentas de servicio del registro del servidor, también las revocadas.

        Only those of one team.
        Solo las de un equipo.

        Revoke a service account for good: the server refuses it from the next request on.
        Revoca una cuenta de servicio para siempre: el servidor la rechaza desde la siguiente petición.

        The access tokens that it was given are refused too.
        Los tokens de acceso que se le dieron se rechazan también.

        The account's e-mail, or its key's id.
        El correo de la cuenta, o el identificador de su clave.

        Print a server key for FCM's legacy HTTP API.
        Escribe una clave de servidor para la API HTTP antigua de FCM.

        The server offers that API with the setting legacy-fcm. The key is valid until its service account is revoked.
        El servidor ofrece esa API con el ajuste legacy-fcm. La clave vale hasta que se revoca su cuenta de servicio.

        The account's e-mail, or its key's id (default: the only account of the team).
        El correo de la cuenta, o el identificador de su clave (por omisión: la única cuenta del equipo).

        The team whose account it is, where ACCOUNT is left out.
        El equipo del que es la cuenta, si se omite ACCOUNT.

        Print the addresses at which Matrix, Mattermost and Rocket.Chat send to the team's apps.
        Escribe las direcciones a las que Matrix, Mattermost y Rocket.Chat envían a las aplicaciones del equipo.

        Each address has a key of the service account in it, and is valid until the account is revoked. Whoever has an \
        address may send to the devices of the team's apps whose tokens they know.
        Cada dirección lleva una clave de la cuenta de servicio y vale hasta que se revoca la cuenta. Quien tiene una \
        dirección puede enviar a los dispositivos de las aplicaciones del equipo cuyos tokens conoce.

        The key's id; without it the data folder's oldest key, or the id in the name of --key.
        El identificador de la clave; sin él, la clave más antigua de la carpeta de datos, o el del nombre de --key.

        The team; without it the key's own.
        El equipo; sin él, el de la clave.

        A key file AuthKey_KEYID.p8 from elsewhere; needs --team.
        Un archivo de clave AuthKey_KEYID.p8 de otra parte; necesita --team.

        Add and list the teams of a server.
        Añade y enumera los equipos de un servidor.

        Add a team to the register.
        Añade un equipo al registro.

        The team's name.
        El nombre del equipo.

        The team's id: ten characters A-Z0-9; without it one is made.
        El identificador del equipo: diez caracteres A-Z0-9; sin él, se crea uno.

        List the teams that were added or own anything.
        Enumera los equipos que se añadieron o poseen algo.

        Show a team with its apps, keys and certificates.
        Muestra un equipo con sus aplicaciones, claves y certificados.

        The team's id: ten characters A-Z0-9.
        El identificador del equipo: diez caracteres A-Z0-9.

        Set the webhook for messages from an app to its provider.
        Pone el webhook para los mensajes de una aplicación a su proveedor.

        Send an app's messages to an address, signed.
        Envía los mensajes de una aplicación a una dirección, firmados.

        Prints the secret that signs them, once; setting the webhook again makes another. A running server follows \
        within a second or two. What waits already is sent too.
        Escribe una sola vez el secreto que los firma; al volver a poner el webhook se crea otro. Un servidor en \
        marcha lo sigue en uno o dos segundos. Lo que ya espera se envía también.

        The address for the messages: https://host/path.
        La dirección de los mensajes: https://host/path.

        Show an app's webhook, without its secret.
        Muestra el webhook de una aplicación, sin su secreto.

        Remove an app's webhook; messages are queued for a reader of the stream.
        Quita el webhook de una aplicación; los mensajes esperan a un lector del flujo.
        """)
}
