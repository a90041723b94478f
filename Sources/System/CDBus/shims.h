#ifndef ALDABA_CDBUS_H
#define ALDABA_CDBUS_H
#include <dbus/dbus.h>

/// The type codes of D-Bus, which the headers define as casts of characters that Swift does not see.
static const int aldaba_dbus_byte = DBUS_TYPE_BYTE;
static const int aldaba_dbus_boolean = DBUS_TYPE_BOOLEAN;
static const int aldaba_dbus_int32 = DBUS_TYPE_INT32;
static const int aldaba_dbus_int64 = DBUS_TYPE_INT64;
static const int aldaba_dbus_uint64 = DBUS_TYPE_UINT64;
static const int aldaba_dbus_uint16 = DBUS_TYPE_UINT16;
static const int aldaba_dbus_uint32 = DBUS_TYPE_UINT32;
static const int aldaba_dbus_double = DBUS_TYPE_DOUBLE;
static const int aldaba_dbus_string = DBUS_TYPE_STRING;
static const int aldaba_dbus_path = DBUS_TYPE_OBJECT_PATH;
static const int aldaba_dbus_structure = DBUS_TYPE_STRUCT;
static const int aldaba_dbus_array = DBUS_TYPE_ARRAY;
static const int aldaba_dbus_variant = DBUS_TYPE_VARIANT;
static const int aldaba_dbus_dictionary_entry = DBUS_TYPE_DICT_ENTRY;

/// An error ready to be filled in.
static inline DBusError aldaba_dbus_error(void) {
    DBusError error;
    dbus_error_init(&error);
    return error;
}

static inline dbus_bool_t aldaba_dbus_watch_added(DBusWatch *watch, void *place) {
    if (dbus_watch_get_flags(watch) & DBUS_WATCH_WRITABLE) *(DBusWatch **)place = watch;
    return TRUE;
}

static inline void aldaba_dbus_watch_removed(DBusWatch *watch, void *place) {
    if (*(DBusWatch **)place == watch) *(DBusWatch **)place = NULL;
}

/// Has libdbus keep its wish to write in a place, which must outlive the connection: 0 when there is no memory for that.
static inline dbus_bool_t aldaba_dbus_watch_writing(DBusConnection *connection, DBusWatch **place) {
    return dbus_connection_set_watch_functions(
        connection, aldaba_dbus_watch_added, aldaba_dbus_watch_removed, NULL, place, NULL);
}
#endif
