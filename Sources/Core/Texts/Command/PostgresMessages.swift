extension CommandSection {
    /// Messages on a server whose data is in PostgreSQL.
    static let postgresMessages = CommandSection(
        """
        the data of {folder} is in PostgreSQL; set postgres as before, or name another data folder
        los datos de {folder} están en PostgreSQL; ajuste postgres como antes, o indique otra carpeta de datos

        {folder} has its data in {file}; name another data folder for PostgreSQL
        {folder} tiene sus datos en {file}; indique otra carpeta de datos para PostgreSQL

        the data of {folder} is in PostgreSQL; copy that with pg_dump, and the folder as it is
        los datos de {folder} están en PostgreSQL; cópielos con pg_dump, y la carpeta tal cual

        another server uses this database as node {node}; stop it, or give this one another database
        otro servidor usa esta base de datos como nodo {node}; deténgalo, o dé a este otra base de datos

        PostgreSQL {version} is too old; version 15 or later is needed
        PostgreSQL {version} es demasiado antiguo; hace falta la versión 15 o posterior

        synchronous_commit is off, so nothing would be durable; set it to on in postgresql.conf
        synchronous_commit está en off, así que nada sería duradero; póngalo en on en postgresql.conf

        PostgreSQL {version}, synchronous standbys: {names}
        PostgreSQL {version}, réplicas síncronas: {names}

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
