extension CatalogueSection {
    /// The meaning of each error code of FCM, and the advice for it.
    static let messageRefusal = CatalogueSection(
        english: """
            why.failed.INVALID_ARGUMENT = It was refused, because the message has an impossible field.
            advice.failed.INVALID_ARGUMENT = Read the note of this state: it names the field and what is expected there.
            why.failed.UNREGISTERED = It was refused, because the registration token is no longer active or was not made here.
            advice.failed.UNREGISTERED = Remove the token from your database; the app gets a new one at its next start.
            why.failed.SENDER_ID_MISMATCH = It was refused, because the registration token belongs to another project.
            advice.failed.SENDER_ID_MISMATCH = Send with a service account of the app's team: `aldaba service-account list`.
            why.failed.QUOTA_EXCEEDED = It was refused, because more messages came than a project or a device may get.
            advice.failed.QUOTA_EXCEEDED = Wait for the seconds of Retry-After, and send more slowly.
            why.failed.UNAVAILABLE = It was refused, because the server could not accept it then.
            advice.failed.UNAVAILABLE = Send again after the seconds of Retry-After.
            why.failed.INTERNAL = It was refused, because the server failed.
            advice.failed.INTERNAL = Read the log of the server, and send again later.
            why.failed.THIRD_PARTY_AUTH_ERROR = It was refused, because the app may not receive notifications: it lacks the capability push.
            advice.failed.THIRD_PARTY_AUTH_ERROR = Add the capability: `aldaba app enable TOPIC push`.
            why.failed.UNAUTHENTICATED = It was refused, because the access token is missing or not valid.
            advice.failed.UNAUTHENTICATED = Send with a service account of this server: `aldaba service-account list`.
            why.failed.PERMISSION_DENIED = It was refused, because the credential does not allow it.
            advice.failed.PERMISSION_DENIED = Compare the project of the address with that of the service account: `aldaba service-account list`.
            why.failed.NOT_FOUND = It was refused, because what it names does not exist.
            advice.failed.NOT_FOUND = Read the note of this state: it says what was not found.
            why.failed.RESOURCE_EXHAUSTED = It was refused, because it asks for too much.
            advice.failed.RESOURCE_EXHAUSTED = Wait for the seconds of Retry-After, and send more slowly.
            """,
        spanish: """
            why.failed.INVALID_ARGUMENT = Se rechazó, porque el mensaje tiene un campo imposible.
            advice.failed.INVALID_ARGUMENT = Lea la nota de este estado: nombra el campo y lo que se espera en él.
            why.failed.UNREGISTERED = Se rechazó, porque el token de registro ya no está activo o no se creó aquí.
            advice.failed.UNREGISTERED = Borre el token de su base de datos; la aplicación recibe otro en su próximo inicio.
            why.failed.SENDER_ID_MISMATCH = Se rechazó, porque el token de registro pertenece a otro proyecto.
            advice.failed.SENDER_ID_MISMATCH = Envíe con una cuenta de servicio del equipo de la aplicación: `aldaba service-account list`.
            why.failed.QUOTA_EXCEEDED = Se rechazó, porque llegaron más mensajes de los que un proyecto o un dispositivo puede recibir.
            advice.failed.QUOTA_EXCEEDED = Espere los segundos de Retry-After, y envíe más despacio.
            why.failed.UNAVAILABLE = Se rechazó, porque el servidor no podía aceptarla en ese momento.
            advice.failed.UNAVAILABLE = Vuelva a enviar tras los segundos de Retry-After.
            why.failed.INTERNAL = Se rechazó, porque el servidor falló.
            advice.failed.INTERNAL = Lea el registro del servidor, y vuelva a enviar más tarde.
            why.failed.THIRD_PARTY_AUTH_ERROR = Se rechazó, porque la aplicación no puede recibir notificaciones: le falta la capacidad push.
            advice.failed.THIRD_PARTY_AUTH_ERROR = Añada la capacidad: `aldaba app enable TOPIC push`.
            why.failed.UNAUTHENTICATED = Se rechazó, porque el token de acceso falta o no es válido.
            advice.failed.UNAUTHENTICATED = Envíe con una cuenta de servicio de este servidor: `aldaba service-account list`.
            why.failed.PERMISSION_DENIED = Se rechazó, porque la credencial no lo permite.
            advice.failed.PERMISSION_DENIED = Compare el proyecto de la dirección con el de la cuenta de servicio: `aldaba service-account list`.
            why.failed.NOT_FOUND = Se rechazó, porque lo que nombra no existe.
            advice.failed.NOT_FOUND = Lea la nota de este estado: dice qué no se encontró.
            why.failed.RESOURCE_EXHAUSTED = Se rechazó, porque pide demasiado.
            advice.failed.RESOURCE_EXHAUSTED = Espere los segundos de Retry-After, y envíe más despacio.
            """)
}
