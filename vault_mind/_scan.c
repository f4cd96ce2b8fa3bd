/* Folders listed as `listing.scanned` lists them, in C: of 100,000 files each costs a microsecond less.

   Optional: without a compiler at installation, or on a system without openat and fstatat, Python does it. */

#define _GNU_SOURCE
#define _FILE_OFFSET_BITS 64
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __APPLE__
#define MODIFIED(status) ((status)->st_mtimespec)
#define CHANGED(status) ((status)->st_ctimespec)
#else
#define MODIFIED(status) ((status)->st_mtim)
#define CHANGED(status) ((status)->st_ctim)
#endif

typedef struct {
    char *bytes;
    size_t size, room;
} Grown;

typedef struct {
    Grown marks, names, inner; /* int64 each; names of memories and of folders, each with a NUL behind it */
    int sure;                  /* whether nothing needs a closer look */
    int full;                  /* whether memory ran out */
} Listing;

static int add(Grown *to, const void *bytes, size_t size)
{
    if (to->size + size > to->room) {
        size_t room = 2 * (to->size + size) + 4096;
        char *grown = realloc(to->bytes, room);
        if (!grown)
            return -1;
        to->bytes = grown;
        to->room = room;
    }
    memcpy(to->bytes + to->size, bytes, size);
    to->size += size;
    return 0;
}

/* Python's hash of an integer: its remainder by the prime 2^61 - 1, with the sign of the integer (pyhash.c). */
static uint64_t hash_of(__int128 number)
{
    const __int128 prime = ((__int128)1 << 61) - 1;
    int64_t hash = (int64_t)(number % prime);
    return (uint64_t)(hash == -1 ? -2 : hash);
}

/* Python's hash of a tuple of integers: xxHash, as tupleobject.c has it for 64 bits. */
static int64_t tuple_hash(const __int128 *numbers, size_t count)
{
    uint64_t hash = 2870177450012600261ULL;
    for (size_t at = 0; at < count; at++) {
        hash += hash_of(numbers[at]) * 14029467366897019727ULL;
        hash = (hash << 31) | (hash >> 33);
        hash *= 11400714785074694791ULL;
    }
    hash += count ^ (2870177450012600261ULL ^ 3527539ULL);
    return hash == UINT64_MAX ? 1546275796 : (int64_t)hash;
}

static __int128 nanoseconds(struct timespec when)
{
    return (__int128)when.tv_sec * 1000000000 + when.tv_nsec;
}

static int64_t mark_of(const struct stat *status)
{
    const __int128 told[] = {
        nanoseconds(MODIFIED(status)), nanoseconds(CHANGED(status)), status->st_size, status->st_ino};
    return tuple_hash(told, 4);
}

static int is_ascii(const char *name)
{
    for (; *name; name++)
        if (*name & 0x80)
            return 0;
    return 1;
}

static int ends_as_memories_do(const char *name, size_t size, int in_any_case)
{
    if (size < 3)
        return 0;
    const char *end = name + size - 3;
    return end[0] == '.' && (end[1] == 'm' || (in_any_case && end[1] == 'M')) &&
           (end[2] == 'd' || (in_any_case && end[2] == 'D'));
}

/* Adds one entry of the folder that is open as `handle`. */
static void look_at(int handle, const struct dirent *entry, Listing *listing)
{
    const char *name = entry->d_name;
    size_t size = strlen(name);
    struct stat status;
    int kind = entry->d_type, known = 0;

    if (name[0] == '.')
        return;
    if (kind == DT_UNKNOWN) { /* some file systems do not tell */
        if (fstatat(handle, name, &status, AT_SYMLINK_NOFOLLOW)) {
            listing->sure = 0;
            return;
        }
        known = 1;
        kind = S_ISREG(status.st_mode) ? DT_REG : S_ISDIR(status.st_mode) ? DT_DIR : S_ISLNK(status.st_mode) ? DT_LNK : DT_FIFO;
    }
    if (kind == DT_REG && ends_as_memories_do(name, size, 0) && is_ascii(name)) {
        if (!known && fstatat(handle, name, &status, AT_SYMLINK_NOFOLLOW)) {
            listing->sure = 0;
            return;
        }
        int64_t mark = mark_of(&status);
        listing->full |= add(&listing->marks, &mark, sizeof mark) || add(&listing->names, name, size + 1);
        return;
    }
    if (kind == DT_DIR)
        listing->full |= add(&listing->inner, name, size + 1);
    if (kind == DT_LNK || !is_ascii(name) || ends_as_memories_do(name, size, 1))
        listing->sure = 0;
}

static void look_through(const char *folder, Listing *listing)
{
    int handle = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *entries = handle < 0 ? NULL : fdopendir(handle);
    if (!entries) {
        if (handle >= 0)
            close(handle);
        listing->sure = 0;
        return;
    }
    struct dirent *entry;
    while (errno = 0, (entry = readdir(entries)))
        look_at(handle, entry, listing);
    if (errno)
        listing->sure = 0;
    closedir(entries);
}

/* `listing.packed` of what was found, or None where something needs a closer look. */
static PyObject *packed(const Listing *listing)
{
    if (!listing->sure)
        return Py_NewRef(Py_None);
    int64_t count = (int64_t)(listing->marks.size / sizeof count);
    size_t names = listing->names.size ? listing->names.size - 1 : 0;
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(sizeof count + listing->marks.size + names));
    if (!bytes)
        return NULL;
    char *at = PyBytes_AsString(bytes);
    memcpy(at, &count, sizeof count);
    if (count) {
        memcpy(at + sizeof count, listing->marks.bytes, listing->marks.size);
        memcpy(at + sizeof count + listing->marks.size, listing->names.bytes, names);
    }
    return bytes;
}

static PyObject *folders(const Grown *names)
{
    PyObject *list = PyList_New(0);
    for (size_t at = 0; list && at < names->size; at += strlen(names->bytes + at) + 1) {
        PyObject *name = PyUnicode_DecodeFSDefault(names->bytes + at);
        if (!name || PyList_Append(list, name))
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *scanned(PyObject *module, PyObject *folder)
{
    (void)module;
    PyObject *path;
    if (!PyUnicode_FSConverter(folder, &path))
        return NULL;
    const char *named = PyBytes_AsString(path);
    Listing listing = {.sure = 1};
    Py_BEGIN_ALLOW_THREADS
    look_through(named, &listing);
    Py_END_ALLOW_THREADS
    Py_DECREF(path);
    PyObject *result = NULL;
    if (listing.full) {
        PyErr_NoMemory();
    } else {
        PyObject *bytes = packed(&listing), *inner = folders(&listing.inner);
        result = bytes && inner ? PyTuple_Pack(2, bytes, inner) : NULL;
        Py_XDECREF(bytes);
        Py_XDECREF(inner);
    }
    free(listing.marks.bytes);
    free(listing.names.bytes);
    free(listing.inner.bytes);
    return result;
}

static PyObject *mark(PyObject *module, PyObject *status)
{
    (void)module;
    long long modified, changed, size;
    unsigned long long number;
    if (!PyArg_ParseTuple(status, "LLLK", &modified, &changed, &size, &number))
        return NULL;
    const __int128 told[] = {modified, changed, size, number};
    return PyLong_FromLongLong(tuple_hash(told, 4));
}

static PyMethodDef functions[] = {
    {"scanned", scanned, METH_O, "As listing.scanned does it."},
    {"mark", mark, METH_O, "hash((mtime_ns, ctime_ns, size, inode)), to see that Python agrees."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_scan", NULL, 0, functions, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__scan(void)
{
    return PyModule_Create(&definition);
}
